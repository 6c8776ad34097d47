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

/* Of pods that an earlier runner has left: their user namespace, without which they could not be entered. */
static bool join_user(pid_t pid)
{
    char *path = mur_alloc_text("/proc/%d/ns/user", (int)pid);
    struct stat own, other;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool joins = fd >= 0 && fstat(fd, &other) == 0 && stat("/proc/self/ns/user", &own) == 0 &&
                 (own.st_ino == other.st_ino || setns(fd, CLONE_NEWUSER) == 0);

    if (fd >= 0)
        close(fd);
    free(path);
    return joins;
}

/* Once in a process: what holds for the first runner holds for others. */
static bool enter_user_namespace(const struct mur_runner *runner)
{
    static bool is_mapped;

    if (is_mapped)
        return true;
    if (runner->bridge > 0 && geteuid() != 0)
        return is_mapped = join_user(runner->bridge);
    return !try_namespaces(false) && try_namespaces(true) && (is_mapped = map_user());
}

static void choose_isolation(struct mur_runner *runner, bool is_wanted)
{
    if (runner->survives)
        mur_network_find(runner);
    runner->is_mapped = is_wanted && enter_user_namespace(runner);
    runner->isolates = runner->is_mapped || (is_wanted && try_namespaces(false));
    if (!runner->isolates)
        mur_say("pods are groups of processes, which share this machine's network and files: namespaces %s",
                is_wanted ? "are not permitted here" : "are not wanted");
    else if (!runner->bridge && mur_network_start(runner) < 0)
        mur_say("pods share this machine's network: a bridge cannot be made (is iproute2 there?)");
}

static int copy_file(const char *from, const char *to)
{
    char part[65536];
    char *fresh = mur_alloc_text("%s.new", to); /* the old one may run in a pod */
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    ssize_t got = -1;

    while (in >= 0 && out >= 0 && (got = read(in, part, sizeof part)) > 0)
        if (write(out, part, (size_t)got) != got) {
            got = -1;
            break;
        }
    close(in);
    close(out);
    if (got == 0 && rename(fresh, to) < 0)
        got = -1;
    free(fresh);
    return got == 0 ? 0 : -1;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0711) < 0 && errno != EEXIST)
        mur_quit(MUR_EXIT_TROUBLE, "cannot make the folder %s: %s", path, strerror(errno));
}

/* The addresses that an earlier runner has given, by the lines that it has written. */
static bool read_hosts(struct mur_runner *runner, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[4096], name[256];
    int high, low, count = 0;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "10.244.%d.%d %255s", &high, &low, name) != 3 || high * 250 + low - 2 != count)
            continue;
        runner->hostnames = mur_alloc_again(runner->hostnames, (size_t)count + 1, sizeof *runner->hostnames);
        runner->hostnames[count++] = mur_alloc_text("%s", name);
    }
    if (file)
        fclose(file);
    runner->addresses = count;
    return file != NULL;
}

static void write_hosts(struct mur_runner *runner)
{
    char *path = mur_alloc_text("%s/hosts", runner->folder);
    FILE *file;

    if (runner->survives && read_hosts(runner, path)) {
        free(path);
        return;
    }
    file = fopen(path, "we");

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

void mur_folder_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Pods that still run are ended at once. What pods that survive have left, such as their logs, stays. */
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
    mur_network_end(runner);
    mur_groups_clean(runner);
    if (!runner->survives)
        mur_folder_remove(runner->folder);
}
