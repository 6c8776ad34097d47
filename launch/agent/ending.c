/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the agent's processes. Whether a failure ends the job is mpiexec's decision, which comes as MUR_FRAME_END:
 * a signal to all ranks now, SIGKILL after a grace. When mpiexec is gone, SIGKILL at once. After the last rank, all
 * that ranks have left behind is killed.
 *
 * The grace is time that a rank could use: while it waits for a core, on a machine that has too much to do, the grace
 * does not run. Whom SIGKILL ended is told by how it was reaped, so who was about to end anyway does not count. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/descendants.h"
#include "launch/say.h"

enum {
    KILL_AGAIN_MS = 20,   /* between passes over what is left of the descendants */
    KILL_LIMIT_MS = 3000, /* a process that SIGKILL does not end by then hangs in the kernel: leave it */
    GRACE_MORE_MS = 5000, /* the most that waiting for a core adds to the grace */
};

/* How long a rank has waited for a core so far; 0 where the kernel does not tell. */
static int64_t core_wait_ms(const struct mur_agent_rank *rank)
{
    int64_t waited = 0; /* ns */
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)rank->pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*d %" SCNd64, &waited) != 1)
        waited = 0;
    fclose(file);
    return waited / 1000000;
}

/* How long ranks have waited for a core since this was asked last: that of them which has waited longest. */
static int64_t new_core_wait_ms(struct mur_agent *agent)
{
    int64_t longest = 0;

    for (int i = 0; i < agent->count; i++) {
        struct mur_agent_rank *rank = &agent->ranks[i];
        int64_t before = rank->core_wait_ms;

        if (!rank->pid)
            continue;
        rank->core_wait_ms = core_wait_ms(rank);
        if (rank->core_wait_ms - before > longest)
            longest = rank->core_wait_ms - before;
    }
    return longest;
}

/* What stops a rank. SIGTSTP by itself stops nobody who leads a session; a rank that does something else with it gets
 * it. */
static int stop_signal(pid_t pid)
{
    uint64_t blocked = 0, ignored = 0, caught = 0, tstp = UINT64_C(1) << (SIGTSTP - 1);
    char path[40], line[128];
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "SigBlk: %" SCNx64, &blocked);
        sscanf(line, "SigIgn: %" SCNx64, &ignored);
        sscanf(line, "SigCgt: %" SCNx64, &caught);
    }
    if (status)
        fclose(status);
    return (blocked | ignored | caught) & tstp ? SIGTSTP : SIGSTOP;
}

static void signal_ranks(struct mur_agent *agent, int signal)
{
    for (int i = 0; i < agent->count; i++) {
        pid_t pid = agent->ranks[i].pid;
        int what = pid && signal == SIGTSTP ? stop_signal(pid) : signal;

        if (pid && kill(-pid, what) < 0)
            kill(pid, what); /* it has no group of its own */
    }
    mur_jobs_signal(&agent->jobs, signal);
}

/* What serves the other hosts is not part of what ranks here have left behind, until those are done. */
static void kill_descendants(struct mur_agent *agent)
{
    struct mur_pids keep = {0};

    if (!mur_tree_is_done(&agent->tree) && !agent->is_orphan) {
        keep.items = mur_alloc((size_t)agent->tree.child_count, sizeof *keep.items);
        mur_tree_starters(&agent->tree, keep.items, &keep.count);
    }
    mur_descendants_kill(&keep);
    free(keep.items);
}

/* Kills ranks, or what they left behind. Repeats by its timer, since a pass may miss what is forked meanwhile. */
void mur_agent_kill_all(void *owner)
{
    struct mur_agent *agent = owner;

    if (!agent->is_killing) {
        agent->is_killing = true;
        agent->kill_since = mur_loop_now();
        signal_ranks(agent, SIGKILL);
        if (agent->drain_ms != MUR_FRAME_KEEP_OUTPUT)
            mur_timer_set(&agent->drain_timer, agent->drain_ms);
    } else if (agent->has_descendants) {
        kill_descendants(agent);
    }
    if (mur_loop_now() - agent->kill_since > KILL_LIMIT_MS && mur_tree_is_done(&agent->tree)) {
        mur_say("a process of the job on %s does not react to SIGKILL and is left behind", agent->job->host);
        agent->killed += agent->running;
        agent->running = 0;
        agent->has_descendants = false;
        mur_loop_unwatch(agent->loop, &agent->children); /* they may yet end, but have been counted */
    }
    if (agent->has_descendants)
        mur_timer_set(&agent->kill_timer, KILL_AGAIN_MS);
}

/* Waits on for as long as ranks have lacked a core. */
void mur_agent_end_grace(void *owner)
{
    struct mur_agent *agent = owner;
    int64_t more = agent->is_killing ? 0 : new_core_wait_ms(agent);

    if (more > GRACE_MORE_MS - agent->grace_more_ms)
        more = GRACE_MORE_MS - agent->grace_more_ms;
    agent->grace_more_ms += more;
    if (more)
        mur_timer_set(&agent->kill_timer, more);
    else
        mur_agent_kill_all(agent);
}

void mur_agent_drop_output(void *owner)
{
    struct mur_agent *agent = owner;

    if (agent->running == 0 && !agent->has_descendants)
        mur_output_drop(&agent->output);
    else
        mur_timer_set(&agent->drain_timer, KILL_AGAIN_MS);
}

/* The first END counts the ranks; a later one can only be more urgent. */
static void end_job(struct mur_agent *agent, const struct mur_tree_frame *frame)
{
    if (!agent->is_ending) {
        agent->is_ending = true;
        for (int i = 0; i < agent->count; i++)
            agent->ended += agent->ranks[i].pid && agent->ranks[i].number != frame->rank;
        new_core_wait_ms(agent); /* from now on it counts */
    }
    agent->drain_ms = frame->drain_ms;
    mur_agent_drop_snapshot(agent); /* who stands still could not end */
    mur_tree_pass(&agent->tree, frame);
    if (frame->signal && !agent->is_killing) {
        signal_ranks(agent, frame->signal);
        signal_ranks(agent, SIGCONT); /* a stopped rank would not see it */
    }
    if (agent->is_killing || (agent->running == 0 && !agent->has_descendants)) {
        if (frame->drain_ms != MUR_FRAME_KEEP_OUTPUT)
            mur_timer_set(&agent->drain_timer, frame->drain_ms);
    } else if (frame->grace_ms == 0) {
        mur_agent_kill_all(agent);
    } else if (!agent->kill_timer.deadline || agent->kill_timer.deadline > mur_loop_now() + frame->grace_ms) {
        mur_timer_set(&agent->kill_timer, frame->grace_ms);
    }
}

/* All ranks have ended: nothing else of the job may live on, and what is in the pipes is all there will be. */
void mur_agent_finish(struct mur_agent *agent)
{
    mur_agent_tell_left(agent);
    if (!mur_tree_is_done(&agent->tree))
        return; /* comes again when it is */
    if (agent->has_descendants) {
        if (!agent->is_killing)
            mur_agent_kill_all(
                agent); /* no rank is left to be counted as killed; what follows is the descendants' turn */
        mur_agent_kill_all(agent);
        return;
    }
    mur_timer_clear(&agent->kill_timer);
    if (agent->is_ending && agent->drain_ms != MUR_FRAME_KEEP_OUTPUT && !agent->drain_timer.deadline)
        mur_timer_set(&agent->drain_timer, agent->drain_ms);
    if (!agent->output.is_draining)
        mur_output_drain(&agent->output);
}

void mur_agent_lose_supervisor(struct mur_agent *agent)
{
    struct mur_tree_frame end = {.kind = MUR_FRAME_END, .rank = -1};

    mur_loop_unwatch(agent->loop, &agent->supervisor);
    agent->is_orphan = true;
    agent->is_ending = true;
    agent->drain_ms = 0;
    mur_tree_pass(&agent->tree, &end);
    if (!agent->is_killing)
        mur_agent_kill_all(agent);
    mur_timer_set(&agent->drain_timer, 0);
}

void mur_agent_take_frame(struct mur_agent *agent, const struct mur_tree_frame *frame)
{
    if (frame->kind == MUR_FRAME_SIGNAL) {
        agent->is_suspended = frame->signal == SIGTSTP || (agent->is_suspended && frame->signal != SIGCONT);
        signal_ranks(agent, frame->signal);
        mur_tree_pass(&agent->tree, frame);
    } else if (frame->kind == MUR_FRAME_END) {
        end_job(agent, frame);
    } else if (frame->kind == MUR_FRAME_LOOK) {
        mur_tree_pass(&agent->tree, frame);
        mur_agent_look(agent, frame->code, frame->wants_traffic);
    } else if (frame->kind == MUR_FRAME_SNAPSHOT) {
        mur_tree_pass(&agent->tree, frame);
        mur_agent_begin_snapshot(agent, frame);
    } else if (frame->kind == MUR_FRAME_THAW) {
        mur_tree_pass(&agent->tree, frame);
        mur_agent_thaw(agent, frame);
    }
}

void mur_agent_supervisor_ready(void *owner)
{
    struct mur_agent *agent = owner;
    struct mur_tree_frame frame;

    if (mur_frame_receive(agent->supervisor.fd, &frame))
        mur_agent_take_frame(agent, &frame);
    else
        mur_agent_lose_supervisor(agent);
}
