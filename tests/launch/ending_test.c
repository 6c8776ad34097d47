/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of an agent's processes: a rank that SIGKILL has not ended in time is left behind. If it ends after all, the
 * agent, which may still wait for output, counts it once. */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/agent/inside.h"
#include "launch/jobspec.h"
#include "unit.h"

enum { LONG_AGO_MS = 1000000 };

static struct mur_loop loop;
static struct mur_jobspec job = {.host = "here"};
static struct mur_agent agent = {.job = &job, .loop = &loop};
static struct mur_agent_rank rank = {.agent = &agent, .program_end.fd = -1};

static void open_agent(int head)
{
    sigset_t children;

    mur_loop_init(&loop);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    agent.children = (struct mur_watch){
        .fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), .ready = mur_agent_children_ready, .owner = &agent};
    mur_loop_watch(&loop, &agent.children, EPOLLIN);
    agent.supervisor.fd = head;
    agent.kill_timer = (struct mur_timer){.fire = mur_agent_end_grace, .owner = &agent};
    agent.drain_timer = (struct mur_timer){.fire = mur_agent_drop_output, .owner = &agent};
    mur_loop_add_timer(&loop, &agent.kill_timer);
    mur_loop_add_timer(&loop, &agent.drain_timer);
    mur_output_open(&agent.output, &loop, &job);
}

static void start_rank(int control)
{
    rank.pid = fork();
    if (rank.pid == 0)
        for (;;)
            pause();
    rank.control.fd = control;
    rank.out.fd = rank.err.fd = -1;
    agent.ranks = &rank;
    agent.count = agent.running = 1;
    agent.has_descendants = true;
}

int main(void)
{
    siginfo_t info;
    pid_t pid;
    int ends[2], control[2];

    unit_start();
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, control) == 0);
    open_agent(ends[0]);
    start_rank(control[0]);
    pid = rank.pid;
    agent.is_ending = agent.is_killing = true;
    agent.kill_since = mur_loop_now() - LONG_AGO_MS;

    mur_agent_kill_all(&agent); /* the last of many passes */
    CHECK(agent.running == 0 && agent.killed == 1 && !agent.has_descendants);
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    mur_timer_set(&agent.drain_timer, 0);
    mur_loop_turn(&loop);
    CHECK(agent.running == 0 && agent.killed == 1 && !agent.has_descendants);
    CHECK(agent.drain_timer.deadline == 0); /* it does not wait any more */
    return unit_end();
}
