/* SPDX-License-Identifier: BSD-3-Clause */
/* Orphans among the agent's descendants become its children, or, when it is dead, those of the nearest subreaper above:
 * the guard. It leads a session, so that what is sent to mpiexec's process group does not reach it. Of mpiexec's
 * session it must not be: the system would hang up the group of a stopped mpiexec when the agent ends, were the agent
 * its tie to a parent there (setpgid(2), orphaned process groups). */
#include "launch/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/descendants.h"
#include "launch/exits.h"
#include "launch/say.h"

enum { LEFTOVER_MS = 3000 };

/* The agent's ways out and in are the agent's: an end that stays open here would not be seen as closed. */
static void close_all(void)
{
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
    for (int fd = 3, most = (int)sysconf(_SC_OPEN_MAX); fd < most; fd++)
        close(fd);
}

/* Until the agent has started, a signal may end it; later it blocks them. */
static void pass(pid_t agent, int signal)
{
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
        kill(agent, signal);
}

static int wait_for(pid_t agent, const sigset_t *all)
{
    int status;
    pid_t pid;

    for (;;) {
        int signal = sigwaitinfo(all, NULL);

        if (signal != SIGCHLD) {
            pass(agent, signal);
            continue;
        }
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (pid == agent)
                return status;
    }
}

static _Noreturn void end_like(int status)
{
    sigset_t all;

    if (WIFSIGNALED(status)) {
        sigfillset(&all);
        signal(WTERMSIG(status), SIG_DFL);
        prctl(PR_SET_DUMPABLE, 0); /* the core is the agent's */
        raise(WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &all, NULL);
    }
    _exit(WEXITSTATUS(status));
}

void mur_guard_split(int tell_fd)
{
    sigset_t all, before;
    pid_t agent;
    int status;

    mur_descendants_adopt();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    signal(SIGCHLD, SIG_DFL);
    agent = fork();
    if (agent < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot fork the agent: %s; is the limit of processes (ulimit -u) reached?",
                 strerror(errno));
    if (agent == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return;
    }
    prctl(PR_SET_NAME, "mur-guard");
    if (setsid() < 0)
        setpgid(0, 0); /* it is a leader already: it was started so on another host */
    if (tell_fd >= 0 && write(tell_fd, &agent, sizeof agent) != sizeof agent)
        kill(agent, SIGKILL);
    close_all();
    status = wait_for(agent, &all);
    mur_descendants_end(NULL, LEFTOVER_MS);
    end_like(status);
}
