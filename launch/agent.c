/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's life: start all ranks, then turn the loop until every rank has ended, every descendant is dead and all
 * output is out; then say so and leave.
 *
 * What it decides itself is only what its own end demands. Whether a failure ends the job is mpiexec's decision, which
 * comes back as MUR_FRAME_END: a signal to all ranks now, SIGKILL after a grace. When mpiexec is gone, SIGKILL at once.
 * The control sockets are read before an exit is judged, so what a rank said before it died is known. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "boot/job.h"
#include "boot/pmi/mapping.h"
#include "boot/spawn.h"
#include "cgroup.h"
#include "descendants.h"
#include "frame.h"
#include "input.h"
#include "jobs.h"
#include "kvs.h"
#include "names.h"
#include "output.h"
#include "pmi/ranks.h"
#include "say.h"
#include "spawn.h"
#include "tree/tree.h"
#include "tree/uplink.h"

#define KILL_AGAIN_MS 20                /* between passes over what is left of the descendants */
#define VALUES_MAX    ((size_t)1 << 30) /* bytes of what ranks leave for each other */
#define KILL_LIMIT_MS 3000              /* a process that SIGKILL does not end by then hangs in the kernel: leave it */

struct agent;

struct rank {
    struct agent *agent;
    int number;
    pid_t pid;      /* 0: not started, or ended */
    bool is_in_mpi; /* INIT was heard, FINALIZED not yet */
    bool has_aborted;
    struct mur_watch control;
    struct mur_stream out;
    struct mur_stream err;
    char *spawn; /* what it has told so far of a job to be spawned */
    size_t spawn_bytes;
};

struct agent {
    const struct mur_jobspec *job;
    struct mur_loop *loop;
    struct mur_watch head;     /* mpiexec's own agent */
    struct mur_uplink *uplink; /* the others */
    struct mur_tree tree;      /* the agents below */
    int node;                  /* the number of this host; -1: no rank runs here */
    struct mur_watch children; /* a signalfd for SIGCHLD */
    struct mur_output output;
    struct mur_input input;
    struct mur_kvs *kvs;
    struct mur_pmi_ranks pmi;
    struct mur_kvs *names;   /* of services; mpiexec's own agent keeps those of all */
    struct mur_jobs jobs;    /* that ranks have spawned; mpiexec's own agent has those of all */
    struct mur_watch parent; /* of a spawned job: to the agent that has started this mpiexec, and keeps the names */
    struct rank *ranks;      /* of this node */
    int count;
    int running;          /* of them and of the spawned jobs, not yet ended */
    bool is_open;         /* all that is to be started has been */
    bool is_ending;       /* MUR_FRAME_END came */
    bool is_killing;      /* everything gets SIGKILL */
    bool has_descendants; /* waitpid still knows children */
    bool is_orphan;       /* mpiexec, or the agent above, is dead */
    int ended;            /* for MUR_FRAME_DONE */
    int killed;
    int64_t oom_kills; /* of the control group when the job started */
    int64_t kill_since;
    int32_t drain_ms;
    struct mur_timer kill_timer;
    struct mur_timer drain_timer;
};

/* ---- ending ---- */

static void signal_ranks(struct agent *agent, int signal)
{
    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].pid)
            kill(-agent->ranks[i].pid, signal);
    mur_jobs_signal(&agent->jobs, signal);
}

/* What serves the other hosts is not part of what ranks here have left behind, until those are done. */
static void kill_descendants(struct agent *agent)
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
static void kill_all(void *owner)
{
    struct agent *agent = owner;

    if (!agent->is_killing) {
        agent->is_killing = true;
        agent->killed = agent->running;
        agent->kill_since = mur_loop_now();
        signal_ranks(agent, SIGKILL);
        if (agent->drain_ms != MUR_FRAME_KEEP_OUTPUT)
            mur_timer_set(&agent->drain_timer, agent->drain_ms);
    } else if (agent->has_descendants) {
        kill_descendants(agent);
    }
    if (mur_loop_now() - agent->kill_since > KILL_LIMIT_MS && mur_tree_is_done(&agent->tree)) {
        mur_say("a process of the job on %s does not react to SIGKILL and is left behind", agent->job->host);
        agent->running = 0;
        agent->has_descendants = false;
    }
    if (agent->has_descendants)
        mur_timer_set(&agent->kill_timer, KILL_AGAIN_MS);
}

static void drop_output(void *owner)
{
    struct agent *agent = owner;

    if (agent->running == 0 && !agent->has_descendants)
        mur_output_drop(&agent->output);
    else
        mur_timer_set(&agent->drain_timer, KILL_AGAIN_MS);
}

/* The first END counts the ranks; a later one can only be more urgent. */
static void end_job(struct agent *agent, const struct mur_frame *frame)
{
    if (!agent->is_ending) {
        agent->is_ending = true;
        for (int i = 0; i < agent->count; i++)
            agent->ended += agent->ranks[i].pid && agent->ranks[i].number != frame->rank;
    }
    agent->drain_ms = frame->drain_ms;
    mur_tree_pass(&agent->tree, frame);
    if (frame->signal && !agent->is_killing) {
        signal_ranks(agent, frame->signal);
        signal_ranks(agent, SIGCONT); /* a stopped rank would not see it */
    }
    if (agent->is_killing || (agent->running == 0 && !agent->has_descendants)) {
        if (frame->drain_ms != MUR_FRAME_KEEP_OUTPUT)
            mur_timer_set(&agent->drain_timer, frame->drain_ms);
    } else if (frame->grace_ms == 0) {
        kill_all(agent);
    } else if (!agent->kill_timer.deadline || agent->kill_timer.deadline > mur_loop_now() + frame->grace_ms) {
        mur_timer_set(&agent->kill_timer, frame->grace_ms);
    }
}

/* All ranks have ended: nothing else of the job may live on, and what is in the pipes is all there will be. */
static void finish_processes(struct agent *agent)
{
    if (!mur_tree_is_done(&agent->tree))
        return; /* comes again when it is */
    if (agent->has_descendants) {
        if (!agent->is_killing)
            kill_all(agent); /* no rank is left to be counted as killed; what follows is the descendants' turn */
        kill_all(agent);
        return;
    }
    mur_timer_clear(&agent->kill_timer);
    if (agent->is_ending && agent->drain_ms != MUR_FRAME_KEEP_OUTPUT && !agent->drain_timer.deadline)
        mur_timer_set(&agent->drain_timer, agent->drain_ms);
    if (!agent->output.is_draining)
        mur_output_drain(&agent->output);
}

static void lose_head(struct agent *agent)
{
    struct mur_frame end = {.kind = MUR_FRAME_END, .rank = -1};

    mur_loop_unwatch(agent->loop, &agent->head);
    agent->is_orphan = true;
    agent->is_ending = true;
    agent->drain_ms = 0;
    mur_tree_pass(&agent->tree, &end);
    if (!agent->is_killing)
        kill_all(agent);
    mur_timer_set(&agent->drain_timer, 0);
}

static void take_frame(struct agent *agent, const struct mur_frame *frame)
{
    if (frame->kind == MUR_FRAME_SIGNAL) {
        signal_ranks(agent, frame->signal);
        mur_tree_pass(&agent->tree, frame);
    } else if (frame->kind == MUR_FRAME_END) {
        end_job(agent, frame);
    }
}

static void head_ready(void *owner)
{
    struct agent *agent = owner;
    struct mur_frame frame;

    if (mur_frame_receive(agent->head.fd, &frame))
        take_frame(agent, &frame);
    else
        lose_head(agent);
}

/* ---- failures ---- */

static void report(struct agent *agent, const struct mur_frame *frame)
{
    if (agent->is_orphan)
        return;
    if (agent->uplink)
        mur_uplink_frame(agent->uplink, frame);
    else if (!mur_frame_send(agent->head.fd, frame))
        lose_head(agent);
}

static void output_failed(void *owner, const char *name, int error)
{
    struct agent *agent = owner;
    struct mur_frame frame = {.kind = MUR_FRAME_FAILURE, .rank = -1, .code = MUR_EXIT_TROUBLE};

    frame.cause = error == EPIPE ? MUR_CAUSE_PIPE : MUR_CAUSE_OUTPUT;
    mur_frame_set_text(&frame, "cannot write %s%s%s: %s", name ? "'" : "the output of the ranks", name ? name : "",
                       name ? "'" : "", strerror(error));
    report(agent, &frame);
}

/* Judges how a rank ended. */
static void report_exit(struct rank *rank, pid_t pid, int status)
{
    struct agent *agent = rank->agent;
    struct mur_frame frame = {.kind = MUR_FRAME_FAILURE, .rank = rank->number, .pid = pid};

    if (WIFSIGNALED(status)) {
        frame.cause = MUR_CAUSE_SIGNAL;
        frame.signal = WTERMSIG(status);
        frame.has_core = WCOREDUMP(status) != 0;
        frame.has_oom = frame.signal == SIGKILL && mur_cgroup_oom_kills() > agent->oom_kills;
    } else {
        frame.code = WEXITSTATUS(status);
        if (rank->is_in_mpi)
            frame.cause = MUR_CAUSE_UNFINALIZED;
        else if (frame.code)
            frame.cause = MUR_CAUSE_EXIT;
    }
    if (frame.cause != MUR_CAUSE_NONE && !agent->is_ending && !rank->has_aborted)
        report(agent, &frame);
    if (agent->job->shows_exits) {
        frame.kind = MUR_FRAME_EXITED;
        report(agent, &frame);
    }
}

/* A rank's socket that is full of answers it does not read is the rank's affair; one that has died gets none. */
static void answer_rank(void *owner, const char *key, const char *value)
{
    struct rank *rank = owner;
    struct mur_control_message message = {.kind = MUR_CONTROL_VALUE};
    size_t name = strlen(key) + 1, bytes = value ? strlen(value) : 0;

    if (!value || name + bytes > sizeof message.text || rank->control.fd < 0)
        return;
    memcpy(message.text, key, name);
    memcpy(message.text + name, value, bytes);
    message.length = (uint32_t)(name + bytes);
    send(rank->control.fd, &message, offsetof(struct mur_control_message, text) + message.length, MSG_NOSIGNAL);
}

/* Says it to the agent that has started this mpiexec. */
static void tell_parent(struct agent *agent, uint32_t kind, const char *text, size_t bytes)
{
    struct mur_control_message message = {.kind = kind, .length = (uint32_t)bytes};

    if (bytes > sizeof message.text)
        return;
    memcpy(message.text, text, bytes);
    send(agent->parent.fd, &message, offsetof(struct mur_control_message, text) + bytes, MSG_NOSIGNAL);
}

static void start_job(struct agent *agent, const char *name, const char *value)
{
    char *text = mur_alloc_text("%s", value), *answer = mur_alloc_text("%s%s", MUR_JOB_ANSWER, name);
    size_t bytes = mur_jobs_decode(text);

    if (!agent->is_ending && mur_jobs_start(&agent->jobs, answer, text, bytes)) {
        agent->running++;
        agent->has_descendants = true;
    } else {
        mur_kvs_put(agent->kvs, answer, "failed");
    }
    free(text);
    free(answer);
}

/* Questions about names end at the agent of the first job; what is to be spawned, at mpiexec's own. */
static void act(struct agent *agent, const char *key, const char *value)
{
    if (mur_jobs_is_question(key))
        start_job(agent, key + strlen(MUR_JOB_QUESTION), value);
    else if (agent->parent.fd >= 0)
        tell_parent(agent, MUR_CONTROL_PUT, key, (size_t)(value - key) + strlen(value));
    else
        mur_names_act(agent->names, agent->kvs, key, value);
}

/* `text` is a key, a NUL, and a value. All values are known to mpiexec's own agent; the others keep those that pass. */
static void put_value(void *owner, const char *text)
{
    struct agent *agent = owner;
    const char *value = text + strlen(text) + 1;
    bool is_question = mur_names_is_question(text) || mur_jobs_is_question(text);

    if (is_question && !agent->uplink)
        act(agent, text, value);
    else if (!is_question && !mur_kvs_put(agent->kvs, text, value))
        mur_say("the values that the ranks leave for each other are too many for host %s; one is dropped",
                agent->job->host);
    if (agent->uplink)
        mur_branch_send(&agent->uplink->branch, MUR_BRANCH_PUT, text, (size_t)(value - text) + strlen(value));
}

static void get_value(struct agent *agent, const char *key, mur_kvs_waiter *answer, void *who)
{
    bool is_first = false;

    mur_kvs_wait(agent->kvs, key, answer, who, &is_first);
    if (is_first && agent->uplink)
        mur_branch_send(&agent->uplink->branch, MUR_BRANCH_GET, key, strlen(key));
    else if (is_first && agent->parent.fd >= 0 && mur_names_is_answer(key))
        tell_parent(agent, MUR_CONTROL_GET, key, strlen(key));
}

/* The rank has told all of it. */
static void spawn_job(struct rank *rank, const char *name)
{
    char *value = mur_jobs_encode(rank->spawn ? rank->spawn : "", rank->spawn_bytes);
    char *text = mur_alloc_text("%s%s%c%s", MUR_JOB_QUESTION, name, '\0', value);

    put_value(rank->agent, text);
    free(text);
    free(value);
    free(rank->spawn);
    rank->spawn = NULL;
    rank->spawn_bytes = 0;
}

/* The same for a value that may not be there: mpiexec's own agent knows. */
static void ask_value(void *owner, const char *key, mur_kvs_waiter *answer, void *who)
{
    struct agent *agent = owner;
    const char *value = mur_kvs_get(agent->kvs, key);
    bool is_first = false;

    if (value || !agent->uplink) {
        answer(who, key, value);
        return;
    }
    mur_kvs_wait(agent->kvs, key, answer, who, &is_first);
    if (is_first)
        mur_branch_send(&agent->uplink->branch, MUR_BRANCH_ASK, key, strlen(key));
}

static void abort_job(struct rank *rank, int code, const char *text, size_t bytes)
{
    struct mur_frame frame = {.kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_ABORT, .rank = rank->number};

    rank->has_aborted = true;
    frame.pid = rank->pid;
    frame.code = code;
    frame.length = (uint16_t)(bytes < sizeof frame.text ? bytes : sizeof frame.text);
    memcpy(frame.text, text, frame.length);
    if (!rank->agent->is_ending)
        report(rank->agent, &frame);
}

static void take_message(struct rank *rank, const struct mur_control_message *message)
{
    char text[sizeof message->text + 2] = ""; /* a key and a value both end */

    switch (message->kind) {
    case MUR_CONTROL_INIT:
        rank->is_in_mpi = true;
        break;
    case MUR_CONTROL_FINALIZED:
        rank->is_in_mpi = false;
        break;
    case MUR_CONTROL_ABORT:
        abort_job(rank, message->value, message->text, message->length);
        break;
    case MUR_CONTROL_PUT:
        memcpy(text, message->text, message->length);
        text[message->length] = text[message->length + 1] = '\0';
        put_value(rank->agent, text);
        break;
    case MUR_CONTROL_GET:
        memcpy(text, message->text, message->length);
        text[message->length] = '\0';
        get_value(rank->agent, text, answer_rank, rank);
        break;
    case MUR_CONTROL_SPAWN_TEXT:
        rank->spawn = mur_alloc_again(rank->spawn, rank->spawn_bytes + message->length + 1, 1);
        memcpy(rank->spawn + rank->spawn_bytes, message->text, message->length);
        rank->spawn_bytes += message->length;
        break;
    case MUR_CONTROL_SPAWN:
        memcpy(text, message->text, message->length);
        text[message->length] = '\0';
        spawn_job(rank, text);
        break;
    default: /* a later protocol; nothing it could mean here */
        break;
    }
}

_Static_assert(sizeof((struct mur_frame *)0)->text >= sizeof((struct mur_control_message *)0)->text,
               "the text of an abort fits into a frame");

static void read_control(void *owner)
{
    const ssize_t head = offsetof(struct mur_control_message, text);
    struct rank *rank = owner;
    struct mur_control_message message;
    ssize_t size;

    while ((size = recv(rank->control.fd, &message, sizeof message, 0)) != 0) {
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return;
        if (size < 0)
            break;
        if (size >= head && message.length <= size - head) /* else not from our library: ignored */
            take_message(rank, &message);
    }
    mur_loop_unwatch(rank->agent->loop, &rank->control); /* the rank closed it, or ended */
}

static struct rank *find_rank(const struct agent *agent, pid_t pid)
{
    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].pid == pid)
            return &agent->ranks[i];
    return NULL;
}

/* Who has spawned it may still wait for it. How it ended is its own affair. */
static bool end_job_of(struct agent *agent, pid_t pid)
{
    struct mur_child_job *child = mur_jobs_find(&agent->jobs, pid);

    if (!child)
        return false;
    child->pid = 0;
    agent->running--;
    mur_kvs_put(agent->kvs, child->name, "ended");
    return true;
}

static void children_ready(void *owner)
{
    struct agent *agent = owner;
    struct signalfd_siginfo drained[8];
    int status;
    pid_t pid;

    while (read(agent->children.fd, drained, sizeof drained) > 0)
        continue;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct rank *rank = find_rank(agent, pid);

        if (!rank && end_job_of(agent, pid))
            continue;
        if (!rank) {
            mur_tree_reap(&agent->tree, pid, status); /* or an orphan of a rank's */
            continue;
        }
        read_control(rank);
        rank->pid = 0;
        agent->running--;
        report_exit(rank, pid, status);
    }
    agent->has_descendants = pid == 0;
    if (agent->running == 0)
        finish_processes(agent);
}

/* ---- starting ---- */

/* What the ranks find at the start of their memory. */
static bool fill_job(int fd, const struct agent *agent)
{
    const struct mur_jobspec *spec = agent->job;
    size_t bytes = mur_job_bytes(spec->size);
    struct mur_job *job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (job == MAP_FAILED)
        return false;
    memcpy(job->secret, spec->secret, sizeof job->secret);
    job->size = spec->size;
    job->nodes = spec->hosts.count;
    job->node = agent->node;
    job->local_size = agent->count;
    for (int i = 0; i < spec->size; i++)
        job->node_of[i] = spec->node_of[i];
    munmap(job, bytes);
    return true;
}

static bool make_node_memory(struct agent *agent, struct mur_spawner *spawner, struct mur_frame *failure)
{
    uint64_t bytes = mur_node_bytes(agent->job->size, agent->count);

    spawner->node_fd = memfd_create("murmur-node", MFD_CLOEXEC);
    if (spawner->node_fd >= 0 && ftruncate(spawner->node_fd, (off_t)bytes) == 0 && fill_job(spawner->node_fd, agent))
        return true;
    *failure =
        (struct mur_frame){.kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_START, .rank = -1, .code = MUR_EXIT_TROUBLE};
    mur_frame_set_text(failure, "cannot make the ranks' shared memory on %s (memfd of %ju MiB): %s%s", agent->job->host,
                       (uintmax_t)bytes >> 20, strerror(errno),
                       errno == EFBIG ? "; the limit of file sizes (ulimit -f) is below it" : "");
    return false;
}

static void connect_rank(struct rank *rank, const struct mur_spawned *spawned)
{
    struct agent *agent = rank->agent;

    rank->pid = spawned->pid;
    rank->control = (struct mur_watch){.fd = spawned->control_fd, .ready = read_control, .owner = rank};
    mur_loop_watch(agent->loop, &rank->control, EPOLLIN);
    rank->out = (struct mur_stream){.fd = spawned->stdout_fd, .rank = rank->number};
    rank->err = (struct mur_stream){.fd = spawned->stderr_fd, .rank = rank->number};
    mur_output_add(&agent->output, &rank->out, &rank->err);
    mur_pmi_ranks_add(&agent->pmi, (int)(rank - agent->ranks), rank->number, spawned->appnum, spawned->pmi_fd);
    agent->running++;
    agent->has_descendants = true;
    if (agent->job->is_verbose) {
        struct mur_frame frame = {.kind = MUR_FRAME_STARTED, .rank = rank->number, .pid = rank->pid};

        report(agent, &frame);
    }
}

/* Starts all ranks of this node, or as many as it can and returns false. */
static bool start_ranks(struct agent *agent, struct mur_spawner *spawner, struct mur_frame *failure)
{
    const struct mur_jobspec *job = agent->job;
    int number = 0;

    for (int i = 0; i < job->context_count; i++)
        for (int left = job->contexts[i].ranks; left > 0; left--, number++) {
            struct rank *rank;
            struct mur_spawned spawned;

            if (job->node_of[number] != agent->node)
                continue;
            rank = &agent->ranks[job->local_of[number]];
            rank->agent = agent;
            rank->number = number;
            spawner->stdin_fd = mur_input_take(&agent->input, number);
            if (!mur_spawner_start(spawner, number, i, &spawned, failure))
                return false;
            spawned.appnum = i;
            connect_rank(rank, &spawned);
        }
    return true;
}

/* ---- the tree ---- */

static void frame_from_below(void *owner, const struct mur_frame *frame)
{
    report(owner, frame);
}

static void answer_child(void *owner, const char *key, const char *value)
{
    mur_tree_value(owner, key, value);
}

static void get_from_below(void *owner, struct mur_child *child, const char *key)
{
    get_value(owner, key, answer_child, child);
}

static void ask_from_below(void *owner, struct mur_child *child, const char *key)
{
    ask_value(owner, key, answer_child, child);
}

static void barrier_from_below(void *owner)
{
    struct agent *agent = owner;

    mur_pmi_ranks_below(&agent->pmi);
}

static void release_barrier(void *owner)
{
    struct agent *agent = owner;

    mur_tree_release(&agent->tree);
    mur_pmi_ranks_release(&agent->pmi);
}

static void tree_changed(void *owner)
{
    struct agent *agent = owner;

    if (agent->is_open && agent->running == 0)
        finish_processes(agent);
}

static const struct mur_tree_calls tree_calls = {
    .frame = frame_from_below,
    .put = put_value,
    .get = get_from_below,
    .ask = ask_from_below,
    .barrier = barrier_from_below,
    .changed = tree_changed,
};

/* ---- PMI ---- */

static void all_in_barrier(void *owner)
{
    struct agent *agent = owner;

    if (agent->uplink)
        mur_branch_send(&agent->uplink->branch, MUR_BRANCH_BARRIER, NULL, 0);
    else
        release_barrier(agent);
}

static void pmi_active(void *owner, int index, bool is_active)
{
    struct agent *agent = owner;

    agent->ranks[index].is_in_mpi = is_active;
}

static void pmi_abort(void *owner, int index, int code, const char *text)
{
    struct agent *agent = owner;

    abort_job(&agent->ranks[index], code, text, strlen(text));
}

static const struct mur_pmi_ranks_calls pmi_calls = {
    .put = put_value, .get = ask_value, .all_in = all_in_barrier, .is_active = pmi_active, .abort = pmi_abort};

static void open_pmi(struct agent *agent)
{
    static char mapping[1024];
    const struct mur_jobspec *job = agent->job;

    agent->pmi = (struct mur_pmi_ranks){.loop = agent->loop,
                                        .calls = &pmi_calls,
                                        .owner = agent,
                                        .kvs = agent->kvs,
                                        .name = job->id,
                                        .size = job->size,
                                        .universe = job->universe ? job->universe : -1,
                                        .count = agent->count,
                                        .below = agent->tree.child_count};
    if (mur_pmi_mapping_write(job->node_of, job->size, mapping, sizeof mapping))
        agent->pmi.mapping = mapping;
    mur_pmi_ranks_open(&agent->pmi);
}

/* ---- the way up ---- */

static void frame_from_above(void *owner, const struct mur_frame *frame)
{
    take_frame(owner, frame);
}

static void value_from_above(void *owner, const char *key, const char *value)
{
    struct agent *agent = owner;

    if (value)
        mur_kvs_put(agent->kvs, key, value);
    else
        mur_kvs_settle(agent->kvs, key);
}

static void lost_above(void *owner)
{
    lose_head(owner);
}

/* ---- jobs above and below ---- */

static void answer_job(void *owner, const char *key, const char *value)
{
    struct mur_child_job *child = owner;
    struct mur_control_message message = {.kind = MUR_CONTROL_VALUE};
    size_t name = strlen(key) + 1, bytes = value ? strlen(value) : 0;

    if (!value || name + bytes > sizeof message.text || !child->line.is_active)
        return;
    memcpy(message.text, key, name);
    memcpy(message.text + name, value, bytes);
    message.length = (uint32_t)(name + bytes);
    send(child->line.fd, &message, offsetof(struct mur_control_message, text) + message.length, MSG_NOSIGNAL);
}

/* A spawned job asks for names, and nothing else. */
static void message_from_job(void *owner, struct mur_child_job *child, const void *data, size_t bytes)
{
    const size_t head = offsetof(struct mur_control_message, text);
    struct agent *agent = owner;
    struct mur_control_message message;
    char text[sizeof message.text + 2] = "";

    memcpy(&message, data, bytes < sizeof message ? bytes : sizeof message);
    if (bytes < head || bytes > sizeof message || message.length != bytes - head)
        return;
    memcpy(text, message.text, message.length);
    if (message.kind == MUR_CONTROL_PUT && mur_names_is_question(text))
        put_value(agent, text);
    else if (message.kind == MUR_CONTROL_GET && mur_names_is_answer(text))
        get_value(agent, text, answer_job, child);
}

static void parent_ready(void *owner)
{
    const ssize_t head = offsetof(struct mur_control_message, text);
    struct agent *agent = owner;
    struct mur_control_message message;
    char text[sizeof message.text + 2];
    ssize_t got;

    while ((got = recv(agent->parent.fd, &message, sizeof message, MSG_DONTWAIT)) > 0) {
        if (got < head || message.length != (size_t)(got - head) || message.kind != MUR_CONTROL_VALUE)
            continue;
        memset(text, 0, sizeof text);
        memcpy(text, message.text, message.length);
        mur_kvs_put(agent->kvs, text, text + strlen(text) + 1);
    }
    if (got == 0) { /* the other agent has died; this job goes on without its names */
        mur_loop_unwatch(agent->loop, &agent->parent);
        agent->parent.fd = -1;
    }
}

static void open_jobs(struct agent *agent)
{
    const char *line = getenv(MUR_ENV_SPAWN_FD);

    agent->jobs = (struct mur_jobs){
        .job = agent->job, .loop = agent->loop, .output = &agent->output, .message = message_from_job, .owner = agent};
    agent->parent = (struct mur_watch){.fd = -1, .ready = parent_ready, .owner = agent};
    if (!line || agent->uplink)
        return;
    agent->parent.fd = atoi(line);
    fcntl(agent->parent.fd, F_SETFD, FD_CLOEXEC);
    mur_loop_watch(agent->loop, &agent->parent, EPOLLIN);
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

static void open_head(struct agent *agent, const struct mur_agent_place *place)
{
    agent->uplink = place->uplink;
    if (agent->uplink) {
        agent->uplink->frame = frame_from_above;
        agent->uplink->value = value_from_above;
        agent->uplink->barrier = release_barrier;
        agent->uplink->lost = lost_above;
        agent->uplink->owner = agent;
        return;
    }
    agent->head = (struct mur_watch){.fd = place->head_fd, .ready = head_ready, .owner = agent};
    mur_loop_watch(agent->loop, &agent->head, EPOLLIN);
}

static void open_agent(struct agent *agent, const struct mur_jobspec *job, const struct mur_agent_place *place)
{
    static struct mur_loop own_loop;
    sigset_t children;

    adopt_signals();
    *agent = (struct agent){.job = job, .oom_kills = mur_cgroup_oom_kills(), .drain_ms = MUR_FRAME_KEEP_OUTPUT};
    agent->node = mur_place_node(job, place->place);
    agent->count = agent->node < 0 ? 0 : job->hosts.items[agent->node].ranks;
    agent->kvs = mur_kvs_create(VALUES_MAX);
    agent->names = mur_kvs_create(VALUES_MAX);
    agent->ranks = mur_alloc((size_t)agent->count, sizeof *agent->ranks);
    agent->loop = place->loop ? place->loop : &own_loop;
    if (!place->loop)
        mur_loop_init(agent->loop);
    open_head(agent, place);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    agent->children = (struct mur_watch){
        .fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), .ready = children_ready, .owner = agent};
    mur_loop_watch(agent->loop, &agent->children, EPOLLIN);
    agent->kill_timer = (struct mur_timer){.fire = kill_all, .owner = agent};
    agent->drain_timer = (struct mur_timer){.fire = drop_output, .owner = agent};
    mur_loop_add_timer(agent->loop, &agent->kill_timer);
    mur_loop_add_timer(agent->loop, &agent->drain_timer);
    mur_output_open(&agent->output, agent->loop, job);
    agent->output.failed = output_failed;
    agent->output.owner = agent;
    mur_input_open(&agent->input, agent->loop, job);
    open_jobs(agent);
    agent->tree = (struct mur_tree){.loop = agent->loop,
                                    .job = job,
                                    .output = &agent->output,
                                    .input = &agent->input,
                                    .calls = &tree_calls,
                                    .owner = agent,
                                    .place = place->place,
                                    .end = place->end};
}

/* Agents below are started first: their hosts work at the same time as this one. */
static void start(struct agent *agent, const struct rlimit *files)
{
    struct mur_spawner spawner = {.node_fd = -1};
    struct mur_frame frame;

    if (!mur_tree_open(&agent->tree, &frame))
        report(agent, &frame);
    open_pmi(agent);
    agent->jobs.files = *files;
    mur_spawner_prepare(&spawner, agent->job, files);
    if (agent->count && (!make_node_memory(agent, &spawner, &frame) || !start_ranks(agent, &spawner, &frame)))
        report(agent, &frame);
    mur_input_start(&agent->input);
    if (spawner.node_fd >= 0)
        close(spawner.node_fd);
    agent->is_open = true;
    if (agent->uplink)
        mur_branch_resume(&agent->uplink->branch);
}

static bool is_over(const struct agent *agent)
{
    return agent->running == 0 && !agent->has_descendants && mur_tree_is_done(&agent->tree) &&
           mur_output_is_done(&agent->output);
}

/* What was written on the way up must arrive before this end of the way goes. */
static void say_goodbye(struct agent *agent)
{
    struct mur_frame done = {.kind = MUR_FRAME_DONE,
                             .ended = agent->ended + agent->tree.ended,
                             .killed = agent->killed + agent->tree.killed};

    if (!agent->uplink) {
        report(agent, &done);
        return;
    }
    while (!agent->is_orphan && !mur_uplink_is_flushed(agent->uplink))
        mur_loop_turn(agent->loop);
    report(agent, &done);
    while (!agent->is_orphan && !mur_uplink_is_flushed(agent->uplink))
        mur_loop_turn(agent->loop);
}

void mur_agent_run(const struct mur_jobspec *job, const struct rlimit *files, const struct mur_agent_place *place)
{
    static struct agent agent;

    open_agent(&agent, job, place);
    start(&agent, files);
    while (!is_over(&agent)) {
        mur_loop_turn(agent.loop);
        mur_jobs_sweep(&agent.jobs);
    }
    say_goodbye(&agent);
}
