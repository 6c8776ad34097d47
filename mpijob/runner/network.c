/* SPDX-License-Identifier: BSD-3-Clause */
/* The pods' network: a bridge in a namespace that a process holds, and a pair of virtual interfaces for each pod. The
 * namespaces, and with them all interfaces, are gone when the processes are. The program `ip` makes them. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/runner/runner.h"

/* Lines for `ip -batch`, run in the network of a process. */
static int run_script(pid_t pid, const char *script)
{
    int pipe_fds[2], status = -1;
    pid_t child;
    char path[64];
    ssize_t length = (ssize_t)strlen(script);

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return -1;
    if (write(pipe_fds[1], script, (size_t)length) != length) /* a few lines: they fit into the pipe */
        length = -1;
    close(pipe_fds[1]);
    child = length > 0 ? fork() : -1;
    if (child == 0) {
        int space;

        snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
        space = open(path, O_RDONLY | O_CLOEXEC);
        if (space < 0 || setns(space, CLONE_NEWNET) < 0)
            _exit(126);
        dup2(pipe_fds[0], STDIN_FILENO);
        execlp("ip", "ip", "-batch", "-", (char *)NULL);
        _exit(127);
    }
    close(pipe_fds[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* The process that holds the bridge's namespace ends when the pipe to it closes, or, where pods survive, when it is
 * killed. */
static _Noreturn void hold(int end, int ready, bool survives)
{
    bool is_made = unshare(CLONE_NEWNET) == 0;
    sigset_t none;
    char byte;

    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(end, 3);
    dup2(ready, 4);
    if (is_made && write(4, "y", 1) != 1)
        _exit(1);
    close_range(survives ? 3 : 4, ~0u, 0);
    while (survives)
        pause();
    while (read(3, &byte, 1) < 0)
        ;
    _exit(0);
}

static char *holder_path(const struct mur_runner *runner)
{
    return mur_alloc_text("%s/network", runner->folder);
}

void mur_network_find(struct mur_runner *runner)
{
    char *path = holder_path(runner);
    int descriptor;

    runner->bridge = mur_process_read(path, &descriptor);
    runner->bridge_hold = -1;
    if (descriptor >= 0)
        close(descriptor);
    free(path);
}

void mur_network_end(struct mur_runner *runner)
{
    char *path = holder_path(runner);

    if (runner->bridge > 0) {
        if (runner->bridge_hold >= 0)
            close(runner->bridge_hold);
        else
            kill(runner->bridge, SIGKILL);
        waitpid(runner->bridge, NULL, 0);
        runner->bridge = 0;
    }
    unlink(path);
    free(path);
}

/* A holder that nobody knows of would stay for good: what it is, is written down before it is of use. */
static int keep_holder(struct mur_runner *runner)
{
    char *path = holder_path(runner);
    int rc = mur_process_write(path, runner->bridge);

    close(runner->bridge_hold);
    runner->bridge_hold = -1;
    free(path);
    return rc;
}

int mur_network_start(struct mur_runner *runner)
{
    int end[2], ready[2];
    char byte = 0;
    bool is_ready;

    if (pipe2(end, O_CLOEXEC) < 0 || pipe2(ready, O_CLOEXEC) < 0)
        return -1;
    runner->bridge = fork();
    if (runner->bridge == 0)
        hold(end[0], ready[1], runner->survives);
    close(end[0]);
    close(ready[1]);
    runner->bridge_hold = end[1];
    is_ready = runner->bridge > 0 && read(ready[0], &byte, 1) == 1 && (!runner->survives || keep_holder(runner) == 0);
    close(ready[0]);
    if (is_ready &&
        run_script(runner->bridge, "link set lo up\nlink add br0 type bridge\naddr add 10.244.0.1/16 dev br0\n"
                                   "link set br0 up\n") == 0)
        return 0;
    mur_network_end(runner);
    return -1;
}

int mur_network_join(struct mur_runner *runner, const struct mur_pod *pod)
{
    char *outside = mur_alloc_text("link add v%d type veth peer name eth0 netns %d\nlink set v%d master br0 up\n",
                                   (int)pod->pid, (int)pod->pid, (int)pod->pid);
    char *inside = mur_alloc_text("link set lo up\naddr add 10.244.%d.%d/16 dev eth0\nlink set eth0 up\n"
                                  "route add default via 10.244.0.1\n",
                                  pod->address / 250, pod->address % 250 + 2);
    int rc = run_script(runner->bridge, outside);

    if (rc == 0)
        rc = run_script(pod->pid, inside);
    free(outside);
    free(inside);
    return rc;
}
