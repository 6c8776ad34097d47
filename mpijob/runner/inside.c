/* SPDX-License-Identifier: BSD-3-Clause */
/* The first process of a pod: it arranges the pod, starts the container's command, reaps, and takes orders.
 *
 * In a PID namespace the kernel ends whatever runs in the pod when this process ends. Without one it is the reaper of
 * all that comes from it, and kills them itself. What it says is its exit code, that of the command, and what it writes
 * to STATE, for a runner that is not its parent. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpijob/runner/runner.h"

enum { CONTROL = 3, STATE = 4, ORDERS = 5, SIGNALS = 6, NOT_STARTED = 128 };

static int become_user(const struct mur_pod *pod)
{
    gid_t group = (gid_t)(pod->group >= 0 ? pod->group : pod->user >= 0 ? 0 : (long long)getgid());

    if (pod->user < 0 && pod->group < 0)
        return 0;
    if (setgroups(0, NULL) < 0 && errno != EPERM)
        return -1;
    if (setresgid(group, group, group) < 0)
        return -1;
    return pod->user < 0 ? 0 : setresuid((uid_t)pod->user, (uid_t)pod->user, (uid_t)pod->user);
}

static _Noreturn void run_command(const struct mur_pod *pod)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    if (pod->directory && chdir(pod->directory) < 0) {
        fprintf(stderr, "mpijob: cannot work in %s: %s\n", pod->directory, strerror(errno));
        _exit(NOT_STARTED);
    }
    if (become_user(pod) < 0) {
        fprintf(stderr, "mpijob: cannot become user %lld: %s\n", pod->user, strerror(errno));
        _exit(NOT_STARTED);
    }
    environ = pod->environment;
    execvp(pod->command[0], pod->command);
    fprintf(stderr, "mpijob: cannot start %s: %s\n", pod->command[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Kills what has come from this process, in a loop, since the dying may have started more. */
static void kill_all(void)
{
    char path[64], list[4096];

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int round = 0; round < 1000; round++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = fd < 0 ? 0 : read(fd, list, sizeof list - 1);
        char *at = list;

        if (fd >= 0)
            close(fd);
        if (length <= 0)
            return;
        list[length] = '\0';
        for (long pid; (pid = strtol(at, &at, 10)) > 0;)
            kill((pid_t)pid, SIGKILL);
        while (waitpid(-1, NULL, 0) > 0 && errno != ECHILD)
            ;
    }
}

static void write_state(const char *text)
{
    if (write(STATE, text, strlen(text)) < 0) /* then its end is known by the exit code only */
        errno = 0;
}

static _Noreturn void finish(int code)
{
    char text[16];

    if (getpid() != 1)
        kill_all();
    snprintf(text, sizeof text, "e%d\n", code);
    write_state(text);
    _exit(code);
}

static int reap(pid_t main_process)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == main_process)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return -1;
}

/* 't': ask the command to end. 'k', or the end of the runner: end at once. */
static void serve(pid_t main_process)
{
    struct pollfd polled[] = {{.fd = CONTROL, .events = POLLIN}, {.fd = SIGNALS, .events = POLLIN}};
    struct signalfd_siginfo info;

    for (;;) {
        char order = 'k';
        int code;

        poll(polled, 2, -1);
        if (polled[0].revents) {
            if (read(CONTROL, &order, 1) != 1)
                order = 'k';
            if (order == 't')
                kill(-main_process, SIGTERM);
            else
                finish(137);
        }
        if (polled[1].revents && read(SIGNALS, &info, sizeof info) > 0 && (code = reap(main_process)) >= 0)
            finish(code);
    }
}

static void take_descriptors(const struct mur_inside_ends *ends)
{
    int control = fcntl(ends->control, F_DUPFD, 10), output = fcntl(ends->output, F_DUPFD, 10);
    int state = fcntl(ends->state, F_DUPFD, 10), orders = ends->orders < 0 ? -1 : fcntl(ends->orders, F_DUPFD, 10);
    int null = fcntl(open("/dev/null", O_RDONLY | O_CLOEXEC), F_DUPFD, 10);

    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    dup3(control, CONTROL, O_CLOEXEC);
    dup3(state, STATE, O_CLOEXEC);
    close(ORDERS);
    if (orders >= 0)
        dup3(orders, ORDERS, O_CLOEXEC);
    close_range(SIGNALS, ~0u, 0); /* among them other pods' control, whose end they wait for */
}

/* From the word to start on, a pod that survives hears orders only, whoever is at the other end. */
static void wait_for_start(const struct mur_inside_ends *ends)
{
    char order;

    if (read(CONTROL, &order, 1) != 1 || order != 'g')
        _exit(NOT_STARTED);
    if (ends->orders < 0)
        return;
    fcntl(ORDERS, F_SETFL, 0);
    dup3(ORDERS, CONTROL, O_CLOEXEC);
    close(ORDERS);
}

_Noreturn void mur_inside(const struct mur_runner *runner, const struct mur_pod *pod,
                          const struct mur_inside_ends *ends)
{
    sigset_t children;
    pid_t main_process;
    int fd;

    take_descriptors(ends);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_SETMASK, &children, NULL);
    wait_for_start(ends);
    if (runner->isolates &&
        (sethostname(pod->hostname, strlen(pod->hostname)) < 0 || mur_mounts_make(pod, runner->door) < 0))
        _exit(NOT_STARTED);
    fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd != SIGNALS) {
        dup3(fd, SIGNALS, O_CLOEXEC);
        close(fd);
    }
    write_state("s");
    main_process = fork();
    if (main_process == 0)
        run_command(pod);
    if (main_process < 0)
        _exit(NOT_STARTED);
    serve(main_process);
    _exit(NOT_STARTED);
}
