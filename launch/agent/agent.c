/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's life: start all ranks, then turn the loop until every rank has ended, every descendant is dead and all
 * output is out; then say so and leave.
 *
 * What it decides itself is only what its own end demands; the rest is mpiexec's. inside.h tells which part does what.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/cgroup.h"
#include "launch/descendants.h"
#include "launch/say.h"

/* ---- failures ---- */

void mur_agent_report(struct mur_agent *agent, const struct mur_tree_frame *frame)
{
    if (agent->is_orphan)
        return;
    if (agent->parent_link)
        mur_parent_link_frame(agent->parent_link, frame);
    else if (!mur_frame_send(agent->supervisor.fd, frame))
        mur_agent_lose_supervisor(agent);
}

static void output_failed(void *owner, const char *name, int error)
{
    struct mur_agent *agent = owner;
    struct mur_tree_frame frame = {.kind = MUR_FRAME_FAILURE, .rank = -1, .code = MUR_EXIT_TROUBLE};

    frame.cause = error == EPIPE ? MUR_CAUSE_PIPE : MUR_CAUSE_OUTPUT;
    mur_frame_set_text(&frame, "cannot write %s%s%s: %s", name ? "'" : "the output of the ranks", name ? name : "",
                       name ? "'" : "", strerror(error));
    mur_agent_report(agent, &frame);
}

/* ---- the tree ---- */

static void frame_from_below(void *owner, const struct mur_tree_frame *frame)
{
    mur_agent_report(owner, frame);
}

static void answer_child(void *owner, const char *key, const char *value)
{
    mur_tree_value(owner, key, value);
}

static void get_from_below(void *owner, struct mur_child *child, const char *key)
{
    mur_agent_get(owner, key, answer_child, child);
}

static void ask_from_below(void *owner, struct mur_child *child, const char *key)
{
    mur_agent_ask(owner, key, answer_child, child);
}

static void barrier_from_below(void *owner)
{
    struct mur_agent *agent = owner;

    mur_pmi_ranks_below(&agent->pmi);
}

static void tree_changed(void *owner)
{
    struct mur_agent *agent = owner;

    if (agent->is_open && agent->running == 0)
        mur_agent_finish(agent);
}

static const struct mur_tree_calls tree_calls = {
    .frame = frame_from_below,
    .put = mur_agent_put,
    .get = get_from_below,
    .ask = ask_from_below,
    .barrier = barrier_from_below,
    .changed = tree_changed,
};

/* ---- the way up ---- */

static void frame_from_above(void *owner, const struct mur_tree_frame *frame)
{
    mur_agent_take_frame(owner, frame);
}

static void value_from_above(void *owner, const char *key, const char *value)
{
    struct mur_agent *agent = owner;

    if (value)
        mur_agent_keep(agent, key, value);
    else
        mur_kvs_settle(agent->kvs, key);
}

static void lost_above(void *owner)
{
    mur_agent_lose_supervisor(owner);
}

/* ---- life ---- */

static void adopt_signals(void)
{
    mur_descendants_adopt();
    prctl(PR_SET_NAME, "mur-agent");
    for (int signal = 1; signal < NSIG; signal++) /* all are blocked; ranks inherit the dispositions */
        if (signal != SIGKILL && signal != SIGSTOP)
            sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void open_head(struct mur_agent *agent, const struct mur_agent_place *place)
{
    agent->parent_link = place->parent_link;
    if (agent->parent_link) {
        agent->parent_link->frame = frame_from_above;
        agent->parent_link->value = value_from_above;
        agent->parent_link->barrier = mur_agent_release_barrier;
        agent->parent_link->lost = lost_above;
        agent->parent_link->owner = agent;
        return;
    }
    agent->supervisor =
        (struct mur_watch){.fd = place->supervisor_fd, .ready = mur_agent_supervisor_ready, .owner = agent};
    mur_loop_watch(agent->loop, &agent->supervisor, EPOLLIN);
}

static void open_agent(struct mur_agent *agent, const struct mur_jobspec *job, const struct mur_agent_place *place)
{
    static struct mur_loop own_loop;
    sigset_t children;

    adopt_signals();
    *agent = (struct mur_agent){.job = job, .oom_kills = mur_cgroup_oom_kills(), .drain_ms = MUR_FRAME_KEEP_OUTPUT};
    agent->node = mur_place_node(job, place->place);
    agent->count = agent->node < 0 ? 0 : job->hosts.items[agent->node].ranks;
    agent->machine_ranks = job->hosts.count == 1 ? agent->count : 0; /* else machine.c finds out */
    agent->root.line.fd = agent->root.saver_line.fd = -1;
    agent->kvs = mur_kvs_create(MUR_AGENT_VALUES_MAX);
    agent->names = mur_kvs_create(MUR_AGENT_VALUES_MAX);
    agent->ranks = mur_alloc((size_t)agent->count, sizeof *agent->ranks);
    agent->loop = place->loop ? place->loop : &own_loop;
    if (!place->loop)
        mur_loop_init(agent->loop);
    open_head(agent, place);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    agent->children = (struct mur_watch){
        .fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), .ready = mur_agent_children_ready, .owner = agent};
    mur_loop_watch(agent->loop, &agent->children, EPOLLIN);
    agent->kill_timer = (struct mur_timer){.fire = mur_agent_end_grace, .owner = agent};
    agent->drain_timer = (struct mur_timer){.fire = mur_agent_drop_output, .owner = agent};
    agent->sight_timer = (struct mur_timer){.fire = mur_agent_look_again, .owner = agent};
    mur_loop_add_timer(agent->loop, &agent->sight_timer);
    mur_loop_add_timer(agent->loop, &agent->kill_timer);
    mur_loop_add_timer(agent->loop, &agent->drain_timer);
    mur_output_open(&agent->output, agent->loop, job);
    agent->output.failed = output_failed;
    agent->output.owner = agent;
    mur_input_open(&agent->input, agent->loop, job);
    mur_agent_open_jobs(agent);
    agent->tree = (struct mur_agent_tree){.loop = agent->loop,
                                          .job = job,
                                          .output = &agent->output,
                                          .input = &agent->input,
                                          .calls = &tree_calls,
                                          .owner = agent,
                                          .place = place->place,
                                          .end = place->end};
}

/* Agents below are started first: their hosts work at the same time as this one. */
static void start(struct mur_agent *agent, const struct rlimit *files)
{
    struct mur_spawner spawner = {.node_fd = -1};
    struct mur_tree_frame frame;

    if (!mur_tree_open(&agent->tree, &frame))
        mur_agent_report(agent, &frame);
    mur_agent_open_pmi(agent);
    agent->jobs.files = *files;
    mur_spawner_prepare(&spawner, agent->job, files);
    if (agent->count && !mur_agent_start_ranks(agent, &spawner, &frame))
        mur_agent_report(agent, &frame);
    mur_agent_look_for_alone(agent);
    mur_input_start(&agent->input);
    agent->is_open = true;
    if (agent->parent_link)
        mur_branch_resume(&agent->parent_link->branch);
}

static bool is_over(const struct mur_agent *agent)
{
    return agent->running == 0 && !agent->has_descendants && mur_tree_is_done(&agent->tree) &&
           mur_output_is_done(&agent->output);
}

/* What was written on the way up must arrive before this end of the way goes. */
static void say_goodbye(struct mur_agent *agent)
{
    struct mur_tree_frame done = {.kind = MUR_FRAME_DONE,
                                  .ended = agent->ended + agent->tree.ended,
                                  .killed = agent->killed + agent->tree.killed};

    if (!agent->parent_link) {
        mur_agent_report(agent, &done);
        return;
    }
    while (!agent->is_orphan && !mur_parent_link_is_flushed(agent->parent_link))
        mur_loop_turn(agent->loop);
    mur_agent_report(agent, &done);
    while (!agent->is_orphan && !mur_parent_link_is_flushed(agent->parent_link))
        mur_loop_turn(agent->loop);
}

void mur_agent_run(const struct mur_jobspec *job, const struct rlimit *files, const struct mur_agent_place *place)
{
    static struct mur_agent agent;

    open_agent(&agent, job, place);
    start(&agent, files);
    while (!is_over(&agent)) {
        mur_loop_turn(agent.loop);
        mur_jobs_sweep(&agent.jobs);
    }
    say_goodbye(&agent);
}
