/* SPDX-License-Identifier: BSD-3-Clause */
/* Callers on the socket of a run (agent/protocol.h): agents that enter pods, and commands of mpijob. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/agent/protocol.h"
#include "mpijob/runner/runner.h"

enum { MOST_WORDS = 4096 };

enum { CALLER = 3, CHILDREN = 4 }; /* descriptors of the process that enters a pod */

void mur_visits_listen(struct mur_runner *runner)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *path = mur_alloc_text("%s/socket", runner->door);

    runner->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (strlen(path) >= sizeof address.sun_path)
        mur_quit(MUR_EXIT_TROUBLE,
                 "the path %s is too long for a socket: use a folder with a shorter one: see XDG_RUNTIME_DIR, --data",
                 path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path);
    if (runner->listener < 0 || bind(runner->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(runner->listener, 64) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot listen at %s: %s", path, strerror(errno));
    chmod(path, 0666); /* see mur_visits_accept */
    free(path);
}

static bool is_same_space(pid_t a, pid_t b)
{
    char path_a[64], path_b[64];
    struct stat status_a, status_b;

    snprintf(path_a, sizeof path_a, "/proc/%d/ns/pid", (int)a);
    snprintf(path_b, sizeof path_b, "/proc/%d/ns/pid", (int)b);
    return stat(path_a, &status_a) == 0 && stat(path_b, &status_b) == 0 && status_a.st_ino == status_b.st_ino &&
           status_a.st_dev == status_b.st_dev;
}

/* Processes of pods may be of any user, as runAsUser says. */
static bool is_in_a_pod(const struct mur_runner *runner, pid_t pid)
{
    for (const struct mur_pod *pod = runner->pods; pod && runner->isolates; pod = pod->next)
        if (pod->pid > 0 && is_same_space(pid, pod->pid))
            return true;
    return false;
}

/* The socket is there for all users; who may call is this user, and whoever is in a pod of this run. */
void mur_visits_accept(struct mur_runner *runner)
{
    struct mur_pod_visit *visit;
    int fd = accept4(runner->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct ucred caller;
    socklen_t length = sizeof caller;

    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &caller, &length) < 0 ||
        (caller.uid != geteuid() && !is_in_a_pod(runner, caller.pid))) {
        close(fd);
        return;
    }
    visit = mur_alloc(1, sizeof *visit);
    visit->fd = fd;
    visit->is_guest = caller.uid != geteuid();
    visit->fds[0] = visit->fds[1] = visit->fds[2] = -1;
    visit->next = runner->visits;
    runner->visits = visit;
}

static void close_input(struct mur_pod_visit *visit)
{
    for (int i = 0; i < 3; i++) {
        if (visit->fds[i] >= 0)
            close(visit->fds[i]);
        visit->fds[i] = -1;
    }
}

static void leave(struct mur_runner *runner, struct mur_pod_visit *visit)
{
    struct mur_pod_visit **at = &runner->visits;

    while (*at != visit)
        at = &(*at)->next;
    *at = visit->next;
    close_input(visit);
    close(visit->fd);
    free(visit->words);
    free(visit);
}

static void answer(struct mur_runner *runner, struct mur_pod_visit *visit, int status)
{
    struct mur_ask_answer answer = {status};

    close_input(visit);
    if (send(visit->fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        errno = 0; /* the caller has gone, and needs no answer */
    leave(runner, visit);
}

static int read_header(struct mur_pod_visit *visit)
{
    struct mur_ask_header header;
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct iovec part = {&header, sizeof header};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    struct cmsghdr *rights;

    if (recvmsg(visit->fd, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof header)
        return -1;
    rights = CMSG_FIRSTHDR(&message);
    if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof visit->fds))
        return -1;
    memcpy(visit->fds, CMSG_DATA(rights), sizeof visit->fds);
    if (header.magic != MUR_ASK_MAGIC || header.length == 0 || header.length > MUR_ASK_LONGEST)
        return -1;
    visit->length = header.length;
    visit->words = mur_alloc(header.length + 1, 1);
    return 0;
}

static int join_namespaces(const struct mur_pod *pod, bool has_network)
{
    static const struct {
        const char *name;
        int flag;
    } spaces[] = {{"net", CLONE_NEWNET},
                  {"uts", CLONE_NEWUTS},
                  {"ipc", CLONE_NEWIPC},
                  {"pid", CLONE_NEWPID},
                  {"mnt", CLONE_NEWNS}};
    int fds[5];
    char path[64];

    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pod->pid, spaces[i].name);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0)
            return -1;
    }
    for (int i = has_network ? 0 : 1; i < 5; i++)
        if (setns(fds[i], spaces[i].flag) < 0)
            return -1;
    return 0;
}

static _Noreturn void run_in_pod(const struct mur_pod *pod, bool has_terminal, char **words)
{
    char *shell[] = {"/bin/sh", "-c", words[0], NULL};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    if (has_terminal) {
        setsid();
        ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    }
    if (chdir(pod->directory ? pod->directory : ".") < 0 && chdir("/") < 0)
        _exit(126);
    if ((pod->group >= 0 && setresgid((gid_t)pod->group, (gid_t)pod->group, (gid_t)pod->group) < 0) ||
        (pod->user >= 0 && setresuid((uid_t)pod->user, (uid_t)pod->user, (uid_t)pod->user) < 0))
        _exit(126);
    environ = pod->environment;
    execvp(words[1] ? words[0] : shell[0], words[1] ? words : shell);
    fprintf(stderr, "%s: cannot start %s: %s\n", pod->name, words[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* To the caller, with the command's end. */
static _Noreturn void tell(int status)
{
    struct mur_ask_answer answer = {status};

    if (send(CALLER, &answer, sizeof answer, MSG_NOSIGNAL) < 0)
        errno = 0; /* the caller has gone, and needs no answer */
    _exit(0);
}

/* Until the command ends, or the caller does. */
static _Noreturn void attend(pid_t command)
{
    struct pollfd polled[] = {{CALLER, POLLIN, 0}, {CHILDREN, POLLIN, 0}};
    int status;

    for (;;) {
        poll(polled, 2, -1);
        if (waitpid(command, &status, WNOHANG) == command)
            tell(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        if (polled[0].revents) {
            kill(-command, SIGKILL);
            kill(command, SIGKILL);
            waitpid(command, &status, 0);
            _exit(0);
        }
    }
}

static void take_descriptors(const struct mur_pod_visit *visit)
{
    int fds[4];

    for (int i = 0; i < 4; i++)
        fds[i] = fcntl(i < 3 ? visit->fds[i] : visit->fd, F_DUPFD, 10);
    for (int i = 0; i < 3; i++)
        dup2(fds[i], i);
    dup3(fds[3], CALLER, O_CLOEXEC);
    fcntl(CALLER, F_SETFL, 0);
}

/* A process of its own serves the visit to its end, also when the runner ends before: it waits beside the pod for the
 * command in it, and answers. */
static _Noreturn void enter(const struct mur_runner *runner, const struct mur_pod_visit *visit,
                            const struct mur_pod *pod, bool has_terminal, char **words)
{
    sigset_t children;
    pid_t command;
    int fd;

    take_descriptors(visit);
    mur_groups_enter(pod, getpid());
    if (runner->isolates && join_namespaces(pod, runner->bridge && !pod->uses_host_network) < 0) {
        fprintf(stderr, "%s: cannot be entered: %s\n", pod->name, strerror(errno));
        tell(255);
    }
    close_range(CHILDREN, ~0u, 0);
    sigfillset(&children);
    sigprocmask(SIG_SETMASK, &children, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd != CHILDREN)
        _exit(255);
    command = fork();
    if (command == 0)
        run_in_pod(pod, has_terminal, words);
    if (command < 0)
        tell(255);
    setpgid(command, command);
    for (int i = 0; i < 3; i++)
        close(i);
    attend(command);
}

/* `pi-worker-0.pi.default.svc` is the pod whose hostname is pi-worker-0. With "shell", words are joined as ssh does;
 * with "terminal", standard input is one. */
static void visit_pod(struct mur_runner *runner, struct mur_pod_visit *visit, int count, char **words)
{
    char *host = mur_alloc_text("%.*s", (int)strcspn(words[1], "."), words[1]), *joined;
    struct mur_pod *pod = mur_runner_find(runner, NULL, host);

    free(host);
    if (!pod || !pod->pid || count < 4) {
        answer(runner, visit, MUR_ASK_NOT_RUNNING);
        return;
    }
    if (strcmp(words[2], "shell") == 0) {
        joined = mur_alloc_text("%s", words[3]);
        for (int i = 4; i < count; i++) {
            char *longer = mur_alloc_text("%s %s", joined, words[i]);

            free(joined);
            joined = longer;
        }
        words[3] = joined; /* lives until the visit has been served by a process of its own */
        words[4] = NULL;
    }
    if (fork() == 0)
        enter(runner, visit, pod, strcmp(words[2], "terminal") == 0, words + 3);
    if (strcmp(words[2], "shell") == 0)
        free(words[3]);
    leave(runner, visit);
}

static void visit_command(struct mur_runner *runner, struct mur_pod_visit *visit, int count, char **words)
{
    FILE *out = fdopen(visit->fds[1], "w");
    int code = MUR_EXIT_TROUBLE;

    if (out) {
        visit->fds[1] = -1;
        code = runner->command(count, words, out);
        fclose(out);
    }
    answer(runner, visit, code);
}

static void serve(struct mur_runner *runner, struct mur_pod_visit *visit)
{
    char **words = mur_alloc(MOST_WORDS + 2, sizeof *words);
    int count = 0;

    for (char *at = visit->words; at < visit->words + visit->length && count < MOST_WORDS; at += strlen(at) + 1)
        words[count++] = at;
    if (strcmp(words[0], "exec") == 0 && count >= 3)
        visit_pod(runner, visit, count, words);
    else if (!visit->is_guest)
        visit_command(runner, visit, count, words);
    else
        answer(runner, visit, MUR_EXIT_TROUBLE);
    free(words);
}

void mur_visit_event(struct mur_runner *runner, struct mur_pod_visit *visit)
{
    ssize_t got;

    if (visit->length == 0) {
        if (read_header(visit) < 0)
            leave(runner, visit);
        return;
    }
    if (visit->got < visit->length) {
        got = recv(visit->fd, visit->words + visit->got, visit->length - visit->got, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0) {
            leave(runner, visit);
            return;
        }
        visit->got += (uint32_t)got;
        if (visit->got == visit->length)
            serve(runner, visit);
        return;
    }
    leave(runner, visit);
}
