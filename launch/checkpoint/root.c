/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree that is restored has the process numbers that it had. In a namespace of their own they are free, as long as
 * what runs there beside the tree has others: number 1, and CRIU while it restores, which come before FIRST_PID.
 *
 * The namespace of mounts is there for /proc, which must be that of the namespace of process numbers; mounts made
 * outside appear in it all the same. */
#include "launch/checkpoint/root.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/descendants.h"

struct root {
    int line;
    int count;
    pid_t *pids; /* 0: not running */
};

/* ---- number 1 ---- */

static bool enter_namespace(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "mur-init");
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

pid_t mur_namespace_start(void (*run)(void *owner), void *owner)
{
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);

    if (pid != 0)
        return pid;
    if (!enter_namespace())
        _exit(1);
    run(owner);
    syscall(SYS_close_range, 0U, ~0U, 0U);
    while (wait(NULL) > 0 || errno == EINTR)
        continue;
    _exit(0);
}

/* ---- the root process ---- */

/* With the credentials of another process, which the receiver sees by its own numbers. */
static void tell(const struct root *root, uint32_t kind, int index, int status, pid_t pid)
{
    struct mur_root_message message = {.kind = kind, .index = index, .status = status};
    char room[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8))) = {0};
    struct iovec data = {.iov_base = &message, .iov_len = offsetof(struct mur_root_message, failure)};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
    struct ucred credentials = {.pid = pid, .uid = getuid(), .gid = getgid()};
    struct cmsghdr *part;

    if (pid) {
        header.msg_control = room;
        header.msg_controllen = sizeof room;
        part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_CREDENTIALS;
        part->cmsg_len = CMSG_LEN(sizeof credentials);
        memcpy(CMSG_DATA(part), &credentials, sizeof credentials);
    }
    while (sendmsg(root->line, &header, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

static void tell_failure(const struct root *root, const struct mur_tree_frame *failure)
{
    struct mur_root_message message = {.kind = MUR_ROOT_FAILED, .failure = *failure};

    while (send(root->line, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

static void tell_all(const struct root *root)
{
    for (int i = 0; i < root->count; i++)
        if (root->pids[i])
            tell(root, MUR_ROOT_RUNS, i, 0, root->pids[i]);
    tell(root, MUR_ROOT_TOLD, 0, 0, 0);
}

static void reap(struct root *root)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
        for (int i = 0; i < root->count; i++)
            if (root->pids[i] == pid) {
                if (!WIFSTOPPED(status))
                    root->pids[i] = 0;
                tell(root, WIFSTOPPED(status) ? MUR_ROOT_STOPPED : MUR_ROOT_ENDED, i, status, 0);
            }
}

/* The agent's end of the line may be closed only by the agent's end, which ends this process as well. */
static _Noreturn void tend(struct root *root, int children)
{
    struct pollfd ready[2] = {{.fd = root->line, .events = POLLIN}, {.fd = children, .events = POLLIN}};
    struct mur_root_message message;
    struct signalfd_siginfo drained[8];

    for (;;) {
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            _exit(1);
        while (read(children, drained, sizeof drained) > 0)
            continue;
        reap(root);
        if (recv(root->line, &message, sizeof message, MSG_DONTWAIT) > 0 && message.kind == MUR_ROOT_ASK)
            tell_all(root);
        if (ready[0].revents & POLLHUP)
            _exit(0);
    }
}

/* Nothing is left open but the line, number 3, and what comes at 4. The standard streams lead nowhere. */
static int keep_line(int line)
{
    int null = open("/dev/null", O_RDWR);

    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    dup2(line, 3);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    syscall(SYS_close_range, 4U, ~0U, 0U);
    return 3;
}

_Noreturn void mur_root_run(int line, int count, mur_root_start *start, void *owner)
{
    struct root root = {.line = line, .count = count};
    struct mur_tree_frame failure;
    sigset_t children;

    prctl(PR_SET_NAME, "mur-root");
    mur_descendants_adopt();
    setsid();
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    root.pids = mur_alloc((size_t)count, sizeof *root.pids);
    for (int i = 0; i < count; i++) {
        root.pids[i] = start(owner, i, &failure);
        if (!root.pids[i]) {
            tell_failure(&root, &failure);
            break;
        }
    }
    root.line = keep_line(line);
    tell_all(&root);
    tend(&root, signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
}

static void set_next_pid(int pid)
{
    FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "we");

    if (!file)
        return; /* CRIU will miss more than this */
    fprintf(file, "%d\n", pid - 1);
    fclose(file);
}

void mur_root_execute(char *const words[])
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    path[length > 0 ? length : 0] = '\0';
    set_next_pid(MUR_ROOT_PID);
    if (fork() == 0) {
        execv(path, words); /* by its name, which is found in the namespace of mounts */
        _exit(127);
    }
}

/* ---- the agent's side ---- */

void mur_root_ask(int line)
{
    struct mur_root_message message = {.kind = MUR_ROOT_ASK};

    send(line, &message, offsetof(struct mur_root_message, failure), MSG_NOSIGNAL);
}

bool mur_root_receive(int line, struct mur_root_message *message, pid_t *pid, bool is_patient)
{
    char room[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8)));
    struct iovec data = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *part;
    ssize_t got;

    do
        got = recvmsg(line, &header, MSG_CMSG_CLOEXEC | (is_patient ? 0 : MSG_DONTWAIT));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        errno = 0;
    if (got < (ssize_t)offsetof(struct mur_root_message, failure))
        return false;
    part = CMSG_FIRSTHDR(&header);
    *pid = 0;
    if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
        struct ucred credentials;

        memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
        *pid = credentials.pid;
    }
    return true;
}
