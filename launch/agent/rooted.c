/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are a root process's children, and not the agent's: the root process starts them with what the agent has
 * opened, and tells how they end. When the root process itself is gone, so are they. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/agent/inside.h"
#include "launch/agent/root_process.h"
#include "launch/alloc.h"
#include "launch/hosts/placement.h"
#include "launch/checkpoint/root.h"

static uint64_t inode_of(int fd)
{
    struct stat status = {0};

    fstat(fd, &status);
    return status.st_ino;
}

/* ---- what connects them ---- */

bool mur_agent_open_line(struct mur_agent *agent, int *end, struct mur_tree_frame *failure)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) < 0) {
        mur_frame_set_failure(failure, "cannot open a socket for the ranks' root process: %s", strerror(errno));
        return false;
    }
    agent->root.line.fd = ends[0];
    agent->root.line_inode = inode_of(ends[1]);
    if (!agent->root.inodes)
        agent->root.inodes = mur_alloc((size_t)agent->count, sizeof *agent->root.inodes);
    *end = ends[1];
    return true;
}

/* `in` is the rank's standard input; -1: it reads nothing. */
bool mur_agent_open_channels(struct mur_agent *agent, int local, struct mur_channels *channels, int *in,
                             struct mur_tree_frame *failure)
{
    struct mur_rank_inodes *inodes = &agent->root.inodes[local];
    int number;

    mur_placement_find(agent->job, agent->node, local, &number);
    if (!mur_channels_open(channels, agent->job, number, failure))
        return false;
    *in = mur_input_take(&agent->input, number);
    if (*in >= 0)
        *in = fcntl(*in, F_DUPFD_CLOEXEC, 3); /* the input's own end goes with the next rank's */
    *inodes = (struct mur_rank_inodes){.in = *in >= 0 ? inode_of(*in) : 0,
                                       .out = inode_of(channels->out[1]),
                                       .err = inode_of(channels->err[1]),
                                       .control = inode_of(channels->control[1]),
                                       .pmi = inode_of(channels->pmi[1])};
    return true;
}

void mur_agent_close_rank_ends(struct mur_agent *agent, struct mur_channels *channels, const int *in)
{
    for (int i = 0; i < agent->count; i++) {
        if (channels[i].out[1] <= 0)
            continue; /* it has none */
        mur_channels_close_rank(&channels[i]);
        if (in[i] >= 0)
            close(in[i]);
    }
}

/* ---- what the root process tells ---- */

static void take(struct mur_agent *agent, const struct mur_root_message *message, pid_t pid)
{
    struct mur_agent_rank *rank =
        message->index >= 0 && message->index < agent->count ? &agent->ranks[message->index] : NULL;

    if (message->kind == MUR_ROOT_RUNS && rank && agent->root.phase == MUR_RESTORING)
        mur_agent_rank_is_back(agent, message->index, pid);
    else if (message->kind == MUR_ROOT_TOLD && agent->root.phase == MUR_RESTORING)
        mur_agent_all_are_back(agent);
    else if (message->kind == MUR_ROOT_STOPPED && rank)
        mur_agent_note_stop(rank, message->status);
    else if (message->kind == MUR_ROOT_ENDED && rank && rank->pid)
        mur_agent_end_rank(rank, message->status);
}

static void read_line(struct mur_agent *agent)
{
    struct mur_root_message message;
    pid_t pid;

    while (agent->root.line.fd >= 0 && mur_root_receive(agent->root.line.fd, &message, &pid, false))
        take(agent, &message, pid);
}

static void line_ready(void *owner)
{
    struct mur_agent *agent = owner;

    errno = EAGAIN;
    read_line(agent);
    if (errno != EAGAIN)
        mur_loop_unwatch(agent->loop, &agent->root.line); /* its end is seen by that of number 1 */
    if (agent->running == 0)
        mur_agent_finish(agent);
}

void mur_agent_watch_line(struct mur_agent *agent)
{
    agent->root.line.ready = line_ready;
    agent->root.line.owner = agent;
    mur_loop_watch(agent->loop, &agent->root.line, EPOLLIN);
}

/* Number 1 ends after all others of its namespace, by whatever has killed the root process or itself. */
static void end_tree(struct mur_agent *agent)
{
    read_line(agent);
    agent->root.init = 0;
    for (int i = 0; i < agent->count; i++)
        if (agent->ranks[i].pid)
            mur_agent_end_rank(&agent->ranks[i], SIGKILL);
    if (agent->root.phase == MUR_RESTORING && agent->root.saver_line.fd < 0)
        mur_agent_all_are_back(agent); /* and have ended before their root process told of them */
}

bool mur_agent_end_tree_process(struct mur_agent *agent, pid_t pid)
{
    struct mur_agent_tree_root *root = &agent->root;

    if (root->saver && pid == root->saver) {
        root->saver = 0; /* its line tells how */
        return true;
    }
    if (!root->init || pid != root->init)
        return false;
    end_tree(agent);
    return true;
}

/* ---- starting ---- */

static void begin(void *owner)
{
    char number[16], *words[] = {"mpiexec", "-root-process", number, NULL};

    snprintf(number, sizeof number, "%d", *(const int *)owner);
    mur_root_execute(words);
}

/* Opens all that ranks get, and tells the root process about it. */
static bool prepare(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_root_process *what,
                    struct mur_tree_frame *failure)
{
    what->node = agent->node;
    what->count = agent->count;
    what->files = spawner->files;
    what->pmi_port = mur_agent_pmi_port(agent);
    snprintf(what->host, sizeof what->host, "%s", agent->job->host);
    if (!mur_agent_make_memory(agent, &what->node_fd, failure) || !mur_agent_open_line(agent, &what->line, failure))
        return false;
    what->channels = mur_alloc((size_t)agent->count, sizeof *what->channels);
    what->in = mur_alloc((size_t)agent->count, sizeof *what->in);
    for (int i = 0; i < agent->count; i++)
        if (!mur_agent_open_channels(agent, i, &what->channels[i], &what->in[i], failure))
            return false;
    return true;
}

static bool take_started(struct mur_agent *agent, const struct mur_channels *channels, struct mur_tree_frame *failure)
{
    struct mur_root_message message;
    pid_t pid;

    while (mur_root_receive(agent->root.line.fd, &message, &pid, true)) {
        struct mur_agent_rank *rank = &agent->ranks[message.index];
        struct mur_spawned spawned;

        if (message.kind == MUR_ROOT_FAILED) {
            *failure = message.failure;
            return false;
        }
        if (message.kind == MUR_ROOT_TOLD)
            return true;
        if (message.kind != MUR_ROOT_RUNS)
            continue;
        mur_channels_keep(&channels[message.index], &spawned);
        spawned.pid = pid;
        rank->agent = agent;
        spawned.appnum = mur_placement_find(agent->job, agent->node, message.index, &rank->number);
        mur_agent_connect_rank(rank, &spawned);
    }
    mur_frame_set_failure(failure,
                          "cannot start the ranks' root process on %s: the namespace that it runs in cannot be set up",
                          agent->job->host);
    return false;
}

static bool start_namespace(struct mur_agent *agent, struct mur_root_process *what, struct mur_tree_frame *failure)
{
    int job = mur_root_process_write(what, agent->job);

    agent->root.init = job < 0 ? -1 : mur_namespace_start(begin, &job);
    if (job >= 0)
        close(job);
    if (agent->root.init > 0)
        return true;
    mur_frame_set_failure(failure,
                          "snapshots need a namespace of process numbers for the ranks, which the system refuses on "
                          "%s: %s; the user must be root, or have CAP_SYS_ADMIN",
                          agent->job->host, strerror(errno));
    agent->root.init = 0;
    return false;
}

bool mur_agent_start_rooted(struct mur_agent *agent, struct mur_spawner *spawner, struct mur_tree_frame *failure)
{
    struct mur_root_process what = {0};
    bool is_good;

    if (!prepare(agent, spawner, &what, failure) || !start_namespace(agent, &what, failure))
        return false;
    agent->has_descendants = true;
    close(what.line);
    mur_agent_close_rank_ends(agent, what.channels, what.in);
    is_good = take_started(agent, what.channels, failure);
    mur_agent_watch_line(agent);
    free(what.channels);
    free(what.in);
    if (is_good)
        mur_agent_tell_machine(agent);
    return is_good;
}
