/* SPDX-License-Identifier: BSD-3-Clause */
/* The parent's side of the tree. A child's output comes in messages, goes through a pipe each for stdout and stderr,
 * and is read from there by output.c like that of a rank, so all its rules hold. A child may send so much as its pipe
 * surely holds, and is told when more may come. */
#include "launch/tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/tree/parent_link.h"

enum {
    ENDING_MS = 5000, /* how long an agent may be silent when the job is to end */
    TICK_MS = 250,
    LEAVE_MS = 1000, /* for the command that has started an agent to end after it */
    PIPE_BYTES = 4 * MUR_PARENT_LINK_CREDIT,
    SSH_TROUBLE = 255, /* exit code of ssh for what went wrong with itself */
};

/* ---- places ---- */

int mur_place_count(const struct mur_jobspec *job)
{
    return job->hosts.count + (job->local_node < 0);
}

int mur_place_node(const struct mur_jobspec *job, int place)
{
    if (place == 0)
        return job->local_node;
    return place - 1 + (job->local_node >= 0 && place - 1 >= job->local_node);
}

int mur_node_place(const struct mur_jobspec *job, int node)
{
    if (node == job->local_node)
        return 0;
    return node + 1 - (job->local_node >= 0 && node > job->local_node);
}

/* ---- the end of a child ---- */

static void close_pipes(struct mur_child *child)
{
    for (int i = 0; i < 2; i++) {
        if (child->pipes[i] >= 0)
            close(child->pipes[i]);
        child->pipes[i] = -1;
    }
}

static void report(struct mur_child *child, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The child is lost: so is the job, with this exit code, if it is not at its end anyway. */
static void report(struct mur_child *child, int code, const char *format, ...)
{
    struct mur_tree_frame frame;
    char text[sizeof frame.text];
    va_list args;

    child->state = MUR_CHILD_GONE;
    mur_branch_detach(&child->branch);
    close_pipes(child);
    if (child->starter)
        kill(child->starter, SIGTERM);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mur_frame_set_failure(&frame, "%s", text);
    frame.code = code;
    child->tree->calls->frame(child->tree->owner, &frame);
    child->tree->calls->changed(child->tree->owner);
}

static void describe_status(int status, char *text, size_t bytes)
{
    if (WIFSIGNALED(status))
        snprintf(text, bytes, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(text, bytes, "ended with code %d", WEXITSTATUS(status));
}

/* The command that was to start the agent is over, and no agent has called. */
static void start_failed(struct mur_child *child)
{
    const char *name = mur_start_name(child->tree->job);
    int code = WIFEXITED(child->starter_status) ? WEXITSTATUS(child->starter_status) : 0;
    char how[64];

    describe_status(child->starter_status, how, sizeof how);
    if (mur_start_is_by_daemon(child->tree->job))
        report(child, MUR_EXIT_TROUBLE,
               "cannot start an agent on host %s by its daemon (smpd); the message above says why, and `smpd -status "
               "%s` tells whether it answers",
               child->host->name, child->host->name);
    else if (code == MUR_EXIT_NOT_FOUND)
        report(child, MUR_EXIT_TROUBLE,
               "cannot start an agent on host %s: %s %s; is Murmur installed there at the same place as here, and is "
               "'%s' itself there?",
               child->host->name, name, how, name);
    else
        report(child, MUR_EXIT_TROUBLE,
               "cannot start an agent on host %s: %s %s; its message above may say why. `%s %s true` must work without "
               "a password or question",
               child->host->name, name, how, name, child->host->name);
}

static void lose(struct mur_child *child)
{
    char how[64];

    if (child->state == MUR_CHILD_STARTING) {
        report(child, MUR_EXIT_TROUBLE,
               "the agent on host %s has not called back within %d s; can that host reach this one (%s) over the "
               "network? Addresses can be chosen by MUR_TCP_INCLUDE and MUR_TCP_EXCLUDE",
               child->host->name, MUR_START_MS / 1000, child->tree->job->host);
        return;
    }
    if (!child->starter) {
        describe_status(child->starter_status, how, sizeof how);
        report(child, MUR_EXIT_LOST, "the agent on host %s is lost (%s %s); all ranks there were ended with it",
               child->host->name, mur_start_name(child->tree->job), how);
    } else if (child->is_altered) {
        report(child, MUR_EXIT_LOST,
               "what host %s says comes altered, by every connection for %lld s: something on the way changes it; the "
               "job ends",
               child->host->name, (long long)(mur_branch_silence(&child->branch) / 1000));
    } else {
        report(child, MUR_EXIT_LOST,
               "host %s has not been heard from for %lld s: the job ends (MUR_HOST_TIMEOUT sets the limit)",
               child->host->name, (long long)(mur_branch_silence(&child->branch) / 1000));
    }
}

/* ---- standard input for ranks below ---- */

static void close_input(struct mur_child *child)
{
    if (child->input.fd < 0)
        return;
    mur_loop_unwatch(child->tree->loop, &child->input);
    close(child->input.fd);
    child->input.fd = -1;
}

/* One piece at a time is on its way. */
static void feed(void *owner)
{
    struct mur_child *child = owner;
    char data[MUR_PARENT_LINK_INPUT];
    ssize_t size = read(child->input.fd, data, sizeof data);

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (child->state <= MUR_CHILD_CUT)
        mur_branch_send(&child->branch, MUR_BRANCH_INPUT, data, size > 0 ? (size_t)size : 0);
    mur_loop_unwatch(child->tree->loop, &child->input);
    child->is_fed = true;
    if (size <= 0)
        close_input(child);
}

static bool has_readers(const struct mur_child *child)
{
    const struct mur_jobspec *job = child->tree->job;
    int place;

    if (job->stdin_rank < 0)
        return job->stdin_rank == MUR_STDIN_ALL;
    place = mur_node_place(job, job->node_of[job->stdin_rank]);
    return place >= child->place && place < child->end;
}

/* ---- messages ---- */

static void take_output(struct mur_child *child, const char *data, size_t bytes)
{
    int channel = bytes && data[0] == 1;

    if (bytes < 2 || child->pipes[channel] < 0)
        return;
    if (write(child->pipes[channel], data + 1, bytes - 1) != (ssize_t)(bytes - 1) && !child->tree->ending.kind)
        mur_say("some output of the ranks on host %s is lost", child->host->name);
}

/* output.c has read so much of a child's pipe. */
static void output_taken(struct mur_stream *stream, int size)
{
    struct mur_child *child = stream->owner;
    const char channel = stream == &child->streams[1];
    const uint32_t bytes = (uint32_t)size;

    if (child->state <= MUR_CHILD_CUT)
        mur_branch_send_parts(&child->branch, MUR_BRANCH_OUTPUT_TAKEN, &channel, 1, &bytes, sizeof bytes);
}

static void take_frame(struct mur_child *child, const char *data, size_t bytes)
{
    struct mur_agent_tree *tree = child->tree;
    struct mur_tree_frame frame;

    if (!mur_frame_unpack(&frame, data, bytes))
        return;
    if (frame.kind != MUR_FRAME_DONE) {
        tree->calls->frame(tree->owner, &frame);
        return;
    }
    tree->ended += frame.ended;
    tree->killed += frame.killed;
    child->state = MUR_CHILD_DONE;
    child->due = mur_loop_now() + LEAVE_MS;
    close_pipes(child);
    tree->calls->changed(tree->owner);
}

static void message(void *owner, uint32_t kind, const char *data, size_t bytes)
{
    struct mur_child *child = owner;
    struct mur_agent_tree *tree = child->tree;
    char *text;

    if (child->state >= MUR_CHILD_DONE)
        return;
    switch (kind) {
    case MUR_BRANCH_FRAME:
        take_frame(child, data, bytes);
        break;
    case MUR_BRANCH_OUTPUT:
        take_output(child, data, bytes);
        break;
    case MUR_BRANCH_BARRIER:
        tree->calls->barrier(tree->owner);
        break;
    case MUR_BRANCH_PUT:
    case MUR_BRANCH_GET:
    case MUR_BRANCH_ASK:
        text = mur_alloc(bytes + 2, 1);
        memcpy(text, data, bytes);
        if (kind == MUR_BRANCH_PUT)
            tree->calls->put(tree->owner, text);
        else if (kind == MUR_BRANCH_GET)
            tree->calls->get(tree->owner, child, text);
        else
            tree->calls->ask(tree->owner, child, text);
        free(text);
        break;
    case MUR_BRANCH_INPUT_TAKEN:
        child->is_fed = false;
        if (bytes && data[0])
            mur_loop_watch(tree->loop, &child->input, EPOLLIN);
        else
            close_input(child);
        break;
    default:
        break;
    }
}

static void broken(void *owner, int error)
{
    struct mur_child *child = owner;

    child->is_altered = error == EBADMSG;
    if (child->state != MUR_CHILD_UP)
        return;
    child->state = MUR_CHILD_CUT;
    child->due = mur_host_timeout() + (child->branch.is_barren ? child->branch.heard_at : mur_loop_now());
    if (!child->starter && !(WIFEXITED(child->starter_status) && WEXITSTATUS(child->starter_status) == SSH_TROUBLE))
        lose(child); /* the agent has ended, not only its connection */
}

/* ---- the door ---- */

static struct mur_child *find(struct mur_agent_tree *tree, int place)
{
    for (int i = 0; i < tree->child_count; i++)
        if (tree->children[i].place == place)
            return &tree->children[i];
    return NULL;
}

static bool knows(void *owner, int place, uint64_t *received)
{
    struct mur_child *child = find(owner, place);

    if (!child || child->state == MUR_CHILD_GONE)
        return false;
    *received = child->branch.received;
    return true;
}

static struct mur_keys_heard *may_fetch(void *owner, int place)
{
    struct mur_child *child = find(owner, place);

    return child && child->state == MUR_CHILD_STARTING && child->keys.is_known ? &child->keys : NULL;
}

static void enters(void *owner, int place, int fd, uint64_t peer_received, const struct mur_handshake *greeting)
{
    struct mur_agent_tree *tree = owner;
    struct mur_child *child = find(tree, place);
    const int32_t range[2] = {child->place, child->end};
    bool is_first = child->state == MUR_CHILD_STARTING;

    if (child->state < MUR_CHILD_DONE)
        child->state = MUR_CHILD_UP;
    if (!mur_branch_attach(&child->branch, fd, peer_received, greeting, false)) {
        report(child, MUR_EXIT_LOST, "the agent on host %s and this one do not agree on what was said",
               child->host->name);
        return;
    }
    if (is_first) {
        if (child->input.fd >= 0)
            mur_loop_watch(tree->loop, &child->input, EPOLLIN);
        mur_branch_send_parts(&child->branch, MUR_BRANCH_SPEC, range, sizeof range, tree->spec.data, tree->spec.bytes);
        if (tree->ending.kind)
            mur_tree_pass(tree, &tree->ending);
    }
}

/* ---- time ---- */

/* A job that is to end does not wait long for an agent that somebody has stopped, or a host that is away. */
static int64_t silence_limit(const struct mur_agent_tree *tree)
{
    int64_t limit = mur_host_timeout();

    return tree->ending.kind && limit > ENDING_MS ? ENDING_MS : limit;
}

static void tick(void *owner)
{
    struct mur_agent_tree *tree = owner;
    int64_t now = mur_loop_now();

    for (int i = 0; i < tree->child_count; i++) {
        struct mur_child *child = &tree->children[i];

        if (child->state == MUR_CHILD_UP) {
            mur_branch_tick(&child->branch);
            if (mur_branch_silence(&child->branch) > silence_limit(tree))
                lose(child);
        } else if (child->state < MUR_CHILD_DONE && now > child->due) {
            lose(child);
        } else if (child->state == MUR_CHILD_DONE && child->starter && now >= child->due) {
            tree->calls->changed(tree->owner);
        }
    }
    mur_wait_tick(tree);
    mur_timer_set(&tree->timer, TICK_MS);
}

/* ---- starting ---- */

static bool open_stream(struct mur_child *child, int i)
{
    int ends[2];

    child->pipes[i] = -1;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
    child->pipes[i] = ends[1];
    child->streams[i] = (struct mur_stream){
        .fd = ends[0], .rank = -1, .copy_fd = -1, .is_relay = true, .consumed = output_taken, .owner = child};
    return true;
}

static bool start_child(struct mur_agent_tree *tree, int place, int end, struct mur_tree_frame *failure)
{
    struct mur_child *child = &tree->children[tree->child_count++];

    child->tree = tree;
    child->place = place;
    child->end = end;
    child->host = &tree->job->hosts.items[mur_place_node(tree->job, place)];
    child->due = mur_loop_now() + MUR_START_MS;
    child->branch.message = message;
    child->branch.broken = broken;
    child->branch.owner = child;
    mur_branch_open(&child->branch, tree->loop);
    if (!open_stream(child, 0) || !open_stream(child, 1)) {
        mur_frame_set_failure(failure, "cannot open a pipe for the output of host %s: %s", child->host->name,
                              strerror(errno));
        child->state = MUR_CHILD_GONE;
        return false;
    }
    mur_output_add_relay(tree->output, &child->streams[0], &child->streams[1]);
    child->input =
        (struct mur_watch){.fd = has_readers(child) ? mur_input_relay(tree->input) : -1, .ready = feed, .owner = child};
    if (mur_start_agent(child, tree->acceptor.port, failure))
        return true;
    child->state = MUR_CHILD_GONE;
    close_pipes(child);
    return false;
}

static bool open_door(struct mur_agent_tree *tree, struct mur_tree_frame *failure)
{
    char complaint[400];

    if (!mur_seal_open(complaint, sizeof complaint)) {
        mur_frame_set_failure(failure, "%s", complaint);
        return false;
    }
    tree->acceptor = (struct mur_acceptor){.secret = tree->job->secret,
                                           .own = tree->place,
                                           .knows = knows,
                                           .enters = enters,
                                           .may_fetch = may_fetch,
                                           .owner = tree};
    if (mur_acceptor_open(&tree->acceptor, tree->loop))
        return true;
    mur_frame_set_failure(failure,
                          "cannot listen for the agents of other hosts: %s; MUR_TCP_PORTS=first:last sets the "
                          "range of ports",
                          strerror(errno));
    return false;
}

bool mur_tree_open(struct mur_agent_tree *tree, struct mur_tree_frame *failure)
{
    int below = tree->end - tree->place - 1;
    int width = tree->job->launcher.width ? tree->job->launcher.width : mur_start_width(tree->job);
    int parts = below < width ? below : width;
    int place = tree->place + 1;

    if (!below)
        return true;
    if (!open_door(tree, failure))
        return false;
    mur_spec_write(&tree->spec, tree->job);
    tree->children = mur_alloc((size_t)parts, sizeof *tree->children);
    tree->timer = (struct mur_timer){.fire = tick, .owner = tree};
    mur_loop_add_timer(tree->loop, &tree->timer);
    mur_timer_set(&tree->timer, TICK_MS);
    tree->wait_until = mur_loop_now() + tree->job->launcher.wait_ms;
    for (int i = 0; i < parts; i++) {
        int size = below / parts + (i < below % parts);

        if (!start_child(tree, place, place + size, failure))
            return false;
        place += size;
    }
    return true;
}

/* ---- what the agent asks for ---- */

void mur_tree_pass(struct mur_agent_tree *tree, const struct mur_tree_frame *frame)
{
    size_t bytes = mur_frame_bytes(frame);

    if (frame->kind == MUR_FRAME_END)
        tree->ending = *frame;
    for (int i = 0; i < tree->child_count; i++) {
        struct mur_child *child = &tree->children[i];

        if (tree->ending.kind && child->state == MUR_CHILD_CUT && child->due > mur_loop_now() + ENDING_MS)
            child->due = mur_loop_now() + ENDING_MS;
        if (child->state == MUR_CHILD_UP || child->state == MUR_CHILD_CUT) {
            mur_branch_send(&child->branch, MUR_BRANCH_FRAME, frame, bytes);
        } else if (child->state == MUR_CHILD_STARTING && frame->kind == MUR_FRAME_END) {
            child->state = MUR_CHILD_GONE; /* it has started no rank, and will find nobody to tell it to */
            close_pipes(child);
            if (child->starter)
                kill(child->starter, SIGTERM);
        }
    }
}

void mur_tree_value(struct mur_child *child, const char *key, const char *value)
{
    if (child->state <= MUR_CHILD_CUT && value)
        mur_branch_send_parts(&child->branch, MUR_BRANCH_VALUE, key, strlen(key) + 1, value, strlen(value));
    else if (child->state <= MUR_CHILD_CUT)
        mur_branch_send(&child->branch, MUR_BRANCH_NO_VALUE, key, strlen(key));
}

void mur_tree_release(struct mur_agent_tree *tree)
{
    for (int i = 0; i < tree->child_count; i++)
        if (tree->children[i].state <= MUR_CHILD_CUT)
            mur_branch_send(&tree->children[i].branch, MUR_BRANCH_BARRIER, NULL, 0);
}

bool mur_tree_reap(struct mur_agent_tree *tree, pid_t pid, int status)
{
    for (int i = 0; i < tree->child_count; i++) {
        struct mur_child *child = &tree->children[i];

        if (child->starter != pid)
            continue;
        child->starter = 0;
        child->starter_status = status;
        mur_start_forget(child);
        if (child->state == MUR_CHILD_STARTING && mur_wait_again(child, status))
            return true;
        if (child->state == MUR_CHILD_STARTING && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
            start_failed(child); /* one that ends well may have left the agent in the background */
        else if (child->state == MUR_CHILD_CUT && !(WIFEXITED(status) && WEXITSTATUS(status) == SSH_TROUBLE))
            lose(child);
        else if (child->state == MUR_CHILD_DONE)
            tree->calls->changed(tree->owner);
        return true;
    }
    return false;
}

/* A command that is killed while it takes leave may complain (srun: "STEP CANCELLED"), so it is waited for a little. */
static bool is_leaving(const struct mur_child *child)
{
    return child->state == MUR_CHILD_DONE && child->starter && mur_loop_now() < child->due;
}

bool mur_tree_is_done(const struct mur_agent_tree *tree)
{
    for (int i = 0; i < tree->child_count; i++)
        if (tree->children[i].state < MUR_CHILD_DONE || is_leaving(&tree->children[i]))
            return false;
    return true;
}

void mur_tree_starters(const struct mur_agent_tree *tree, pid_t *pids, int *count)
{
    *count = 0;
    for (int i = 0; i < tree->child_count; i++)
        if (tree->children[i].starter)
            pids[(*count)++] = tree->children[i].starter;
}
