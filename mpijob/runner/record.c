/* SPDX-License-Identifier: BSD-3-Clause */
/* What a runner whose pods outlive it writes down about them, so that the next runner finds them again.
 *
 * In a pod's folder: `record` says which process it is. A process is known by its number, the time of its start and the
 * boot of the machine, so a number that is used again is not taken for it. `state` is written by that process itself:
 * "s" before it starts the command, "e" and a number when the command has ended. `orders` is a named pipe to it. The
 * record is there before the command starts, and is replaced as a whole, so at no time may a command run that nobody
 * knows of. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/runner/runner.h"

/* The time of a process's start, in ticks since the boot; 0 if it is not there. */
static unsigned long long start_of(pid_t pid)
{
    char path[64], text[1024] = "", *at;
    unsigned long long start = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    at = strrchr(text, ')'); /* behind the name, which may have anything in it, comes the third field */
    if (at && at[1] && at[2] == 'Z')
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        start = strtoull(at, NULL, 10);
    return start;
}

static void read_boot(char boot[64])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file || !fgets(boot, 64, file))
        boot[0] = '\0';
    if (file)
        fclose(file);
    boot[strcspn(boot, "\n")] = '\0';
}

int mur_process_write(const char *path, pid_t pid)
{
    char *fresh = mur_alloc_text("%s.new", path), boot[64];
    FILE *file = fopen(fresh, "we");
    int rc = -1;

    read_boot(boot);
    if (file) {
        fprintf(file, "%d %llu %s\n", (int)pid, start_of(pid), boot);
        rc = fclose(file) == 0 && rename(fresh, path) == 0 ? 0 : -1;
    }
    free(fresh);
    return rc;
}

pid_t mur_process_read(const char *path, int *descriptor)
{
    char own[64], boot[64] = "";
    FILE *file = fopen(path, "re");
    unsigned long long start = 0;
    int pid = 0;

    *descriptor = -1;
    if (!file)
        return 0;
    if (fscanf(file, "%d %llu %63s", &pid, &start, boot) != 3)
        pid = 0;
    fclose(file);
    read_boot(own);
    if (pid <= 0 || strcmp(own, boot) != 0)
        return 0;
    *descriptor = (int)syscall(SYS_pidfd_open, pid, 0); /* first: from here on the number means one process */
    if (*descriptor >= 0 && start_of(pid) == start)
        return pid;
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
    return 0;
}

static char *path_in(const struct mur_pod *pod, const char *name)
{
    return mur_alloc_text("%s/%s", pod->folder, name);
}

/* Each entry ends with a zero byte. */
static void write_environment(const struct mur_pod *pod)
{
    char *path = path_in(pod, "environment");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    for (char **entry = pod->environment; file && *entry; entry++)
        fwrite(*entry, 1, strlen(*entry) + 1, file);
    if (file)
        fclose(file);
    free(path);
}

static void read_environment(struct mur_pod *pod)
{
    char *path = path_in(pod, "environment"), *entry = NULL;
    FILE *file = fopen(path, "re");
    size_t room = 0;
    int count = 0;

    pod->environment = mur_alloc(1, sizeof *pod->environment);
    while (file && getdelim(&entry, &room, '\0', file) > 0) {
        pod->environment = mur_alloc_again(pod->environment, (size_t)count + 2, sizeof *pod->environment);
        pod->environment[count++] = mur_alloc_text("%s", entry);
        pod->environment[count] = NULL;
    }
    if (file)
        fclose(file);
    free(entry);
    free(path);
}

int mur_record_write(const struct mur_pod *pod)
{
    char *path = path_in(pod, "details"), *fresh = path_in(pod, "details.new"), *record = path_in(pod, "record");
    FILE *file = fopen(fresh, "we");
    int rc = -1;

    write_environment(pod);
    if (file) {
        fprintf(file,
                "uid %s\nhostname %s\nrestarts %d\nuser %lld\ngroup %lld\naddress %d\nhost-network %d\nworker %d\n",
                pod->uid, pod->hostname, pod->restarts, pod->user, pod->group, pod->address, pod->uses_host_network,
                pod->is_worker);
        if (pod->directory)
            fprintf(file, "directory %s\n", pod->directory);
        if (pod->group_cpu)
            fprintf(file, "cpu %s\n", pod->group_cpu);
        if (pod->group_memory)
            fprintf(file, "memory %s\n", pod->group_memory);
        rc = fclose(file) == 0 && rename(fresh, path) == 0 && mur_process_write(record, pod->pid) == 0 ? 0 : -1;
    }
    free(path);
    free(fresh);
    free(record);
    return rc;
}

static void take_detail(struct mur_pod *pod, const char *name, const char *value)
{
    const struct {
        const char *name;
        char **text;
        long long *number;
        int *small;
        bool *flag;
    } details[] = {{"uid", &pod->uid, NULL, NULL, NULL},
                   {"hostname", &pod->hostname, NULL, NULL, NULL},
                   {"directory", &pod->directory, NULL, NULL, NULL},
                   {"cpu", &pod->group_cpu, NULL, NULL, NULL},
                   {"memory", &pod->group_memory, NULL, NULL, NULL},
                   {"user", NULL, &pod->user, NULL, NULL},
                   {"group", NULL, &pod->group, NULL, NULL},
                   {"restarts", NULL, NULL, &pod->restarts, NULL},
                   {"address", NULL, NULL, &pod->address, NULL},
                   {"host-network", NULL, NULL, NULL, &pod->uses_host_network},
                   {"worker", NULL, NULL, NULL, &pod->is_worker}};

    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        if (strcmp(details[i].name, name) != 0)
            continue;
        if (details[i].text && !*details[i].text)
            *details[i].text = mur_alloc_text("%s", value);
        if (details[i].number)
            *details[i].number = strtoll(value, NULL, 10);
        if (details[i].small)
            *details[i].small = (int)strtol(value, NULL, 10);
        if (details[i].flag)
            *details[i].flag = *value == '1';
    }
}

bool mur_record_read(struct mur_pod *pod)
{
    char *path = path_in(pod, "details"), *record = path_in(pod, "record"), line[8192];
    FILE *file = fopen(path, "re");

    pod->user = pod->group = -1;
    while (file && fgets(line, sizeof line, file)) {
        char *space = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        if (space) {
            *space = '\0';
            take_detail(pod, line, space + 1);
        }
    }
    if (file) {
        fclose(file);
        read_environment(pod);
        pod->pid = mur_process_read(record, &pod->descriptor);
    }
    free(path);
    free(record);
    return pod->uid && pod->hostname;
}

/* How far the command of a pod has come. */
enum mur_command_state mur_record_state(const struct mur_pod *pod, int *code)
{
    char *path = path_in(pod, "state"), text[64] = "";
    FILE *file = fopen(path, "re");
    const char *end;

    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    free(path);
    end = strchr(text, 'e');
    if (end)
        *code = (int)strtol(end + 1, NULL, 10);
    return end ? MUR_COMMAND_ENDED : text[0] == 's' ? MUR_COMMAND_STARTED : MUR_COMMAND_NOT_STARTED;
}

/* Empty again, for the next start. Returns the descriptor that the pod's process writes to. */
int mur_record_open_state(const struct mur_pod *pod)
{
    char *path = path_in(pod, "state");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    free(path);
    return fd;
}

/* Both directions, so that neither side ever finds it without the other. */
int mur_record_open_orders(const struct mur_pod *pod)
{
    char *path = path_in(pod, "orders");
    int fd;

    mkfifo(path, 0600);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    free(path);
    return fd;
}
