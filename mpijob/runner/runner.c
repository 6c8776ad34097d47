/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner's own start and end: its folder, and what this machine permits. */
#include "mpijob/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"

static void write_map(const char *path, unsigned id)
{
    FILE *file = fopen(path, "we");

    if (!file)
        return;
    fprintf(file, "0 %u 1\n", id);
    fclose(file);
}

/* This user becomes root in a user namespace. */
static bool map_user(void)
{
    unsigned user = geteuid(), group = getegid();
    FILE *file;

    if (unshare(CLONE_NEWUSER) < 0)
        return false;
    file = fopen("/proc/self/setgroups", "we");
    if (file) {
        fputs("deny", file);
        fclose(file);
    }
    write_map("/proc/self/uid_map", user);
    write_map("/proc/self/gid_map", group);
    return geteuid() == 0;
}

/* All that a pod needs is tried in a child. */
static bool try_namespaces(bool in_user_namespace)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (in_user_namespace && !map_user())
            _exit(1);
        if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET) < 0)
            _exit(1);
        child = fork(); /* the first process of the PID namespace */
        if (child == 0)
            _exit(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                  mount("proc", "/proc", "proc", 0, NULL) < 0 || mount("t", "/dev/shm", "tmpfs", 0, NULL) < 0);
        waitpid(child, &status, 0);
        _exit(status != 0);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

static void choose_isolation(struct mur_runner *runner, bool is_wanted)
{
    if (is_wanted && try_namespaces(false))
        runner->isolates = true;
    else if (is_wanted && try_namespaces(true))
        runner->isolates = runner->is_mapped = map_user();
    if (!runner->isolates)
        mur_say("pods are groups of processes, which share this machine's network and files: namespaces %s",
                is_wanted ? "are not permitted here" : "are not wanted");
    else if (mur_network_start(runner) < 0)
        mur_say("pods share this machine's network: a bridge cannot be made (is iproute2 there?)");
}

static int copy_file(const char *from, const char *to)
{
    char part[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    ssize_t got = -1;

    while (in >= 0 && out >= 0 && (got = read(in, part, sizeof part)) > 0)
        if (write(out, part, (size_t)got) != got) {
            got = -1;
            break;
        }
    close(in);
    close(out);
    return got == 0 ? 0 : -1;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0711) < 0 && errno != EEXIST)
        mur_quit(MUR_EXIT_TROUBLE, "cannot make the folder %s: %s", path, strerror(errno));
}

static void write_hosts(const struct mur_runner *runner)
{
    char *path = mur_alloc_text("%s/hosts", runner->folder);
    FILE *file = fopen(path, "we");

    if (!file)
        mur_quit(MUR_EXIT_TROUBLE, "cannot write %s: %s", path, strerror(errno));
    fputs("127.0.0.1 localhost\n::1 localhost ip6-localhost\n", file);
    fclose(file);
    free(path);
}

int mur_runner_start(struct mur_runner *runner, bool wants_namespaces)
{
    static const char *const names[] = {"agent", "sshd"};
    char *source = mur_alloc_text("%s/mpijob-agent", runner->program_folder), *path;

    make_folder(runner->folder);
    runner->door = mur_alloc_text("%s/door", runner->folder);
    make_folder(runner->door);
    path = mur_alloc_text("%s/pods", runner->folder);
    make_folder(path);
    free(path);
    for (int i = 0; i < 2; i++) {
        path = mur_alloc_text("%s/%s", runner->door, names[i]);
        if (copy_file(source, path) < 0)
            mur_quit(MUR_EXIT_TROUBLE, "cannot copy %s to %s: it belongs beside mpijob", source, path);
        free(path);
    }
    free(source);
    runner->agent = mur_alloc_text("%s/agent", runner->door);
    write_hosts(runner);
    choose_isolation(runner, wants_namespaces);
    mur_visits_listen(runner);
    return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

/* Pods that still run are ended at once. */
void mur_runner_end(struct mur_runner *runner)
{
    for (struct mur_pod *pod = runner->pods; pod; pod = pod->next) {
        if (pod->pid > 0) {
            close(pod->control);
            if (waitpid(pod->pid, NULL, 0) < 0)
                errno = 0;
            pod->pid = 0;
        }
        mur_groups_remove(pod);
    }
    if (runner->bridge > 0) {
        close(runner->bridge_hold);
        waitpid(runner->bridge, NULL, 0);
    }
    mur_groups_clean(runner);
    nftw(runner->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
