/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of CPU and memory by control groups, of version 1 or 2, below the group of mpijob itself. A pod without limits
 * has none; where groups cannot be made, that is said. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/runner/runner.h"

static int write_file(const char *folder, const char *name, const char *text)
{
    char *path = mur_alloc_text("%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC), rc = -1;

    if (fd >= 0) {
        rc = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
        close(fd);
    }
    free(path);
    return rc;
}

/* The folder of this process's group for a controller; NULL if there is none. "" stands for version 2. */
static char *own_group(const char *controller)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1024], *found = NULL;

    while (file && !found && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL, list[256];

        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        snprintf(list, sizeof list, ",%s,", names + 1);
        if (*controller == '\0' && names[1] == '\0') {
            found = mur_alloc_text("/sys/fs/cgroup%s", path);
        } else if (*controller) {
            char *wanted = mur_alloc_text(",%s,", controller);

            if (strstr(list, wanted))
                found = mur_alloc_text("/sys/fs/cgroup/%s%s", controller, path);
            free(wanted);
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* A new group below this process's own; NULL, with errno, if that does not work. */
static char *make_group(const char *controller, const char *pod)
{
    char *own = own_group(controller), *group;

    errno = ENOENT;
    if (!own)
        return NULL;
    if (!*controller && write_file(own, "cgroup.subtree_control", "+cpu +memory") < 0) {
        free(own);
        return NULL;
    }
    group = mur_alloc_text("%s/mpijob-%d-%s", own, (int)getpid(), pod);
    free(own);
    if (mkdir(group, 0755) == 0 || errno == EEXIST)
        return group;
    free(group);
    return NULL;
}

static int limit_cpu(const char *group, bool is_v2, double cpus)
{
    char text[64];

    snprintf(text, sizeof text, is_v2 ? "%lld 100000" : "%lld",
             (long long)(cpus * 100000) < 1000 ? 1000LL : (long long)(cpus * 100000));
    return write_file(group, is_v2 ? "cpu.max" : "cpu.cfs_quota_us", text);
}

static int limit_memory(const char *group, bool is_v2, double bytes)
{
    char text[64];

    snprintf(text, sizeof text, "%lld", (long long)bytes);
    if (write_file(group, is_v2 ? "memory.max" : "memory.limit_in_bytes", text) < 0)
        return -1;
    if (is_v2)
        write_file(group, "memory.swap.max", "0"); /* a pod has no swap; fails where the machine has none */
    return 0;
}

/* The kernel may need a moment to see that the processes are gone. */
static void remove_group(char *group)
{
    for (int i = 0; group && i < 100 && rmdir(group) < 0 && errno == EBUSY; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    free(group);
}

/* A run that is killed cannot remove its groups: the next one of the job finds them in this file. */
static void note_group(const struct mur_runner *runner, const char *group)
{
    char *path = mur_alloc_text("%s/groups", runner->folder);
    FILE *file = group ? fopen(path, "ae") : NULL;

    if (file) {
        fprintf(file, "%s\n", group);
        fclose(file);
    }
    free(path);
}

void mur_groups_clean(const struct mur_runner *runner)
{
    char *path = mur_alloc_text("%s/groups", runner->folder), line[4096];
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        remove_group(mur_alloc_text("%s", line));
    }
    if (file)
        fclose(file);
    free(path);
}

void mur_groups_make(const struct mur_runner *runner, struct mur_pod *pod, struct mur_limits limits)
{
    bool is_v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0, is_well = true;

    if (is_v2 && (limits.cpus > 0 || limits.memory > 0)) {
        pod->group_memory = make_group("", pod->name);
        pod->group_cpu = pod->group_memory ? mur_alloc_text("%s", pod->group_memory) : NULL;
    } else {
        if (limits.memory > 0)
            pod->group_memory = make_group("memory", pod->name);
        if (limits.cpus > 0)
            pod->group_cpu = make_group("cpu", pod->name);
    }
    note_group(runner, pod->group_memory);
    note_group(runner, pod->group_cpu);
    if (limits.memory > 0)
        is_well = pod->group_memory && limit_memory(pod->group_memory, is_v2, limits.memory) == 0;
    if (limits.cpus > 0 && is_well)
        is_well = pod->group_cpu && limit_cpu(pod->group_cpu, is_v2, limits.cpus) == 0;
    if (!is_well)
        mur_say("pod %s: its limits of cpu and memory do not limit it, since no control group can be made: %s",
                pod->name, strerror(errno));
}

void mur_groups_enter(const struct mur_pod *pod, pid_t pid)
{
    char text[32];

    snprintf(text, sizeof text, "%d", (int)pid);
    if (pod->group_memory)
        write_file(pod->group_memory, "cgroup.procs", text);
    if (pod->group_cpu && (!pod->group_memory || strcmp(pod->group_cpu, pod->group_memory) != 0))
        write_file(pod->group_cpu, "cgroup.procs", text);
}

bool mur_groups_ran_out(const struct mur_pod *pod)
{
    static const char *const names[] = {"memory.events", "memory.oom_control"};
    long long kills = 0;

    for (int i = 0; pod->group_memory && i < 2; i++) {
        char *path = mur_alloc_text("%s/%s", pod->group_memory, names[i]), line[128];
        FILE *file = fopen(path, "re");

        while (file && fgets(line, sizeof line, file))
            sscanf(line, "oom_kill %lld", &kills);
        if (file)
            fclose(file);
        free(path);
    }
    return kills > 0;
}

void mur_groups_remove(struct mur_pod *pod)
{
    remove_group(pod->group_memory);
    remove_group(pod->group_cpu);
    pod->group_memory = pod->group_cpu = NULL;
}
