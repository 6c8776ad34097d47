/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI program that each rank runs, and what mpiexec must know to see that a rank is missing.
 *
 * A rank's program is the process that mpiexec started, or one below it where that is a script. Who is no child of the
 * agent is watched by a pidfd, so that a program that dies in MPI ends the job also while its script goes on. What the
 * program said over the control socket before it died is read first.
 *
 * mpiexec hears of two things (MUR_FRAME_STANDING): the highest number of a program that a rank of this node is in MPI
 * with, and the least number of programs that a rank of this node had begun when it ended. If a rank has ended after
 * fewer programs than another one is in MPI with, that one waits for ever; launch/standing.c decides. Both are
 * told when they change, which is seldom. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/agent/inside.h"
#include "launch/cgroup.h"
#include "launch/pidfd.h"
#include "launch/say.h"

/* ---- standing ---- */

static void tell_standing(struct mur_agent *agent)
{
    struct mur_tree_frame frame = {
        .kind = MUR_FRAME_STANDING, .rank = agent->ranks[0].number, .standing = agent->standing};

    if (!agent->is_ending)
        mur_agent_report(agent, &frame);
}

static void look_for_highest(struct mur_agent *agent)
{
    struct mur_standing *standing = &agent->standing;

    standing->highest = 0;
    agent->highest_count = 0;
    for (int i = 0; i < agent->count; i++) {
        const struct mur_agent_rank *rank = &agent->ranks[i];

        if (!rank->is_in_mpi || rank->programs < standing->highest)
            continue;
        if (rank->programs > standing->highest) {
            standing->highest = rank->programs;
            standing->highest_rank = rank->number;
            agent->highest_count = 0;
        }
        agent->highest_count++;
    }
}

/* ---- the end of a program that is no child ---- */

static void stop_watching(struct mur_agent_rank *rank)
{
    if (rank->program_end.fd < 0)
        return;
    mur_loop_unwatch(rank->agent->loop, &rank->program_end);
    close(rank->program_end.fd);
    rank->program_end.fd = -1;
}

static void report_death(struct mur_agent_rank *rank, int fd)
{
    struct mur_agent *agent = rank->agent;
    struct mur_tree_frame frame = {.kind = MUR_FRAME_FAILURE, .rank = rank->number, .pid = rank->program};
    int status = rank->exit_code << 8;

    frame.cause = MUR_CAUSE_UNFINALIZED;
    if (mur_pidfd_status(fd, rank->program, &status) || rank->is_exiting)
        mur_agent_set_end(agent, &frame, status);
    else
        frame.is_unknown = true;
    rank->program = 0;
    if (!agent->is_ending && !rank->has_aborted)
        mur_agent_report(agent, &frame);
}

/* The event may be of an earlier program, whose descriptor was closed in the same turn of the loop. */
static bool has_ended(const struct mur_agent_rank *rank)
{
    struct pollfd end = {.fd = rank->program_end.fd, .events = POLLIN};

    return end.fd >= 0 && poll(&end, 1, 0) > 0;
}

static void program_ended(void *owner)
{
    struct mur_agent_rank *rank = owner;

    mur_agent_read_control(rank);
    if (!has_ended(rank))
        return;
    report_death(rank, rank->program_end.fd);
    stop_watching(rank);
}

/* A process that is gone already may have said more before: that is read first (mur_agent_check_program). */
static void watch_program(struct mur_agent_rank *rank)
{
    int fd = mur_pidfd_open(rank->program);

    rank->is_program_gone = fd < 0 && errno == ESRCH;
    if (fd < 0)
        return; /* an old kernel: the end of the script will show it */
    rank->program_end = (struct mur_watch){.fd = fd, .ready = program_ended, .owner = rank};
    mur_loop_watch(rank->agent->loop, &rank->program_end, EPOLLIN);
}

void mur_agent_check_program(struct mur_agent_rank *rank)
{
    if (rank->is_program_gone && rank->program)
        report_death(rank, -1);
    rank->is_program_gone = false;
}

/* ---- for the other parts ---- */

void mur_agent_begin_program(struct mur_agent_rank *rank, uint32_t number, pid_t pid)
{
    struct mur_agent *agent = rank->agent;

    mur_agent_end_program(rank);
    rank->is_in_mpi = true;
    rank->is_exiting = false;
    rank->programs = number;
    if (number > agent->standing.highest) {
        agent->standing.highest = number;
        agent->standing.highest_rank = rank->number;
        agent->highest_count = 1;
        tell_standing(agent);
    } else if (number == agent->standing.highest) {
        agent->highest_count++;
    }
    if (pid > 0 && pid != rank->pid) {
        rank->program = pid;
        watch_program(rank);
    }
    mur_agent_drop_memory(agent);
}

void mur_agent_end_program(struct mur_agent_rank *rank)
{
    struct mur_agent *agent = rank->agent;

    if (!rank->is_in_mpi)
        return;
    rank->is_in_mpi = false;
    rank->is_program_gone = false;
    rank->program = 0;
    stop_watching(rank);
    if (rank->programs == agent->standing.highest && --agent->highest_count == 0) {
        look_for_highest(agent);
        tell_standing(agent);
    }
}

void mur_agent_note_left(struct mur_agent_rank *rank, pid_t pid, int code)
{
    struct mur_agent *agent = rank->agent;

    mur_agent_end_program(rank);
    mur_agent_drop_memory(agent);
    if (agent->standing.has_left && agent->standing.left <= rank->programs)
        return;
    agent->standing.has_left = true;
    agent->standing.left = rank->programs;
    agent->standing.left_rank = rank->number;
    agent->standing.left_pid = pid;
    agent->standing.left_code = code;
    tell_standing(agent);
}
