/* SPDX-License-Identifier: BSD-3-Clause */
/* The child's side of a branch. The agent's own stdout and stderr are pipes into this file, which is why output.c and
 * all that prints need not know where they are. */
#include "launch/tree/uplink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launch/alloc.h"

enum { TICK_MS = 250, RETRY_MS = 100, REFUSED_MS = 3000 };

/* ---- output ---- */

static void output_ready(void *owner)
{
    struct mur_uplink_output *output = owner;
    char data[MUR_UPLINK_CREDIT];
    ssize_t size = read(output->pipe.fd, data, output->credit < sizeof data ? output->credit : sizeof data);

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        mur_loop_unwatch(output->uplink->loop, &output->pipe);
        close(output->pipe.fd);
        output->pipe.fd = -1;
        return;
    }
    output->credit -= (uint32_t)size;
    if (!output->credit)
        mur_loop_unwatch(output->uplink->loop, &output->pipe);
    mur_branch_send_parts(&output->uplink->branch, MUR_BRANCH_OUTPUT, &output->channel, 1, data, (size_t)size);
}

static void output_taken(struct mur_uplink *uplink, const char *data, size_t bytes)
{
    struct mur_uplink_output *output = &uplink->outputs[bytes && data[0] == 1];
    uint32_t more;

    if (bytes != 1 + sizeof more)
        return;
    memcpy(&more, data + 1, sizeof more);
    output->credit += more < MUR_UPLINK_CREDIT - output->credit ? more : MUR_UPLINK_CREDIT - output->credit;
    if (output->pipe.fd >= 0 && output->credit)
        mur_loop_watch(uplink->loop, &output->pipe, EPOLLIN);
}

/* ---- input ---- */

static void tell_taken(struct mur_uplink *uplink)
{
    const char wants_more = uplink->input.fd >= 0;

    mur_branch_send(&uplink->branch, MUR_BRANCH_INPUT_TAKEN, &wants_more, 1);
}

static void close_input(struct mur_uplink *uplink)
{
    mur_loop_unwatch(uplink->loop, &uplink->input);
    close(uplink->input.fd);
    uplink->input.fd = -1;
}

static void feed(void *owner)
{
    struct mur_uplink *uplink = owner;

    while (uplink->input_start < uplink->input_end) {
        ssize_t written =
            write(uplink->input.fd, uplink->input_data + uplink->input_start, uplink->input_end - uplink->input_start);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            mur_loop_watch(uplink->loop, &uplink->input, EPOLLOUT);
            return;
        }
        if (written < 0) { /* nobody reads any more */
            close_input(uplink);
            tell_taken(uplink);
            return;
        }
        uplink->input_start += (size_t)written;
    }
    mur_loop_unwatch(uplink->loop, &uplink->input);
    tell_taken(uplink);
}

static void take_input(struct mur_uplink *uplink, const char *data, size_t bytes)
{
    if (uplink->input.fd < 0)
        return;
    if (!bytes) {
        close_input(uplink);
        return;
    }
    uplink->input_data = mur_alloc_again(uplink->input_data, bytes, 1);
    memcpy(uplink->input_data, data, bytes);
    uplink->input_start = 0;
    uplink->input_end = bytes;
    feed(uplink);
}

/* ---- messages ---- */

static void message(void *owner, uint32_t kind, const char *data, size_t bytes)
{
    struct mur_uplink *uplink = owner;
    struct mur_tree_frame frame;
    char *text;

    switch (kind) {
    case MUR_BRANCH_SPEC:
        if (uplink->spec)
            uplink->spec(uplink->owner, data, bytes);
        break;
    case MUR_BRANCH_FRAME:
        if (uplink->frame && mur_frame_unpack(&frame, data, bytes))
            uplink->frame(uplink->owner, &frame);
        break;
    case MUR_BRANCH_BARRIER:
        if (uplink->barrier)
            uplink->barrier(uplink->owner);
        break;
    case MUR_BRANCH_VALUE:
    case MUR_BRANCH_NO_VALUE:
        text = mur_alloc(bytes + 2, 1);
        memcpy(text, data, bytes);
        if (uplink->value)
            uplink->value(uplink->owner, text, kind == MUR_BRANCH_VALUE ? text + strlen(text) + 1 : NULL);
        free(text);
        break;
    case MUR_BRANCH_OUTPUT_TAKEN:
        output_taken(uplink, data, bytes);
        break;
    case MUR_BRANCH_INPUT:
        take_input(uplink, data, bytes);
        break;
    default:
        break;
    }
}

/* ---- the connection ---- */

static void call_next(struct mur_uplink *uplink)
{
    mur_call_start(&uplink->call, &uplink->addresses[uplink->calling], uplink->branch.received);
}

/* One round of all addresses. */
static void call_parent(struct mur_uplink *uplink)
{
    uplink->calling = 0;
    uplink->fault = 0;
    uplink->faults_length = 0;
    uplink->faults[0] = 0;
    call_next(uplink);
}

static void broken(void *owner, int error)
{
    struct mur_uplink *uplink = owner;

    (void)error;
    if (!uplink->cut_since)
        uplink->cut_since = mur_loop_now();
    mur_timer_set(&uplink->timer, 0);
}

static void give_up(struct mur_uplink *uplink)
{
    mur_branch_detach(&uplink->branch);
    mur_timer_clear(&uplink->timer);
    uplink->has_given_up = true;
    if (uplink->is_opening)
        return;
    if (uplink->lost)
        uplink->lost(uplink->owner);
    else
        _exit(1); /* before it has started anything */
}

/* How long to go on calling. The parent listens before it starts this agent: if it refuses, it is no more, or another
 * version's; and later, when one of its addresses has answered before, it has ended. */
static int64_t patience(const struct mur_uplink *uplink)
{
    if (uplink->is_opening)
        return uplink->fault == ECONNREFUSED || uplink->fault == EPROTO ? REFUSED_MS : mur_host_timeout();
    return uplink->fault == ECONNREFUSED ? -1 : mur_host_timeout();
}

static void round_failed(struct mur_uplink *uplink)
{
    if (mur_loop_now() - uplink->cut_since > patience(uplink))
        give_up(uplink);
    else
        mur_timer_set(&uplink->timer, RETRY_MS);
}

static void note_fault(struct mur_uplink *uplink, int error)
{
    size_t room = sizeof uplink->faults - uplink->faults_length;
    char address[64];
    int length;

    if (uplink->calling == 0)
        uplink->fault = error;
    length = snprintf(uplink->faults + uplink->faults_length, room, "%s%s: %s", uplink->calling ? ", " : "",
                      mur_address_text(&uplink->addresses[uplink->calling], address), strerror(error));
    uplink->faults_length += (size_t)length < room ? (size_t)length : room - 1;
}

static void call_over(void *owner, int fd, int error, uint64_t peer_received)
{
    struct mur_uplink *uplink = owner;
    struct mur_address first = uplink->addresses[0];

    if (fd < 0) {
        note_fault(uplink, error);
        if (++uplink->calling < uplink->address_count)
            call_next(uplink);
        else
            round_failed(uplink);
        return;
    }
    uplink->addresses[0] = uplink->addresses[uplink->calling]; /* the one to try first, if it must be tried again */
    uplink->addresses[uplink->calling] = first;
    if (!mur_branch_attach(&uplink->branch, fd, peer_received, &uplink->call.handshake, true)) {
        round_failed(uplink);
        return;
    }
    uplink->cut_since = 0;
    uplink->is_opening = false;
    mur_timer_set(&uplink->timer, TICK_MS);
}

static void tick(void *owner)
{
    struct mur_uplink *uplink = owner;

    /* So long without a word, whether by one connection or by many that broke at once. */
    if ((!uplink->cut_since || uplink->branch.is_barren) && mur_branch_silence(&uplink->branch) > mur_host_timeout()) {
        give_up(uplink);
        return;
    }
    if (uplink->cut_since) {
        call_parent(uplink);
        return;
    }
    mur_branch_tick(&uplink->branch);
    if (!uplink->cut_since)
        mur_timer_set(&uplink->timer, TICK_MS);
}

const char *mur_uplink_open(struct mur_uplink *uplink, struct mur_loop *loop)
{
    uplink->loop = loop;
    uplink->branch.message = message;
    uplink->branch.broken = broken;
    uplink->branch.owner = uplink;
    uplink->input.fd = -1;
    uplink->outputs[0].pipe.fd = uplink->outputs[1].pipe.fd = -1;
    uplink->timer = (struct mur_timer){.fire = tick, .owner = uplink};
    uplink->call = (struct mur_parent_call){
        .secret = uplink->secret, .own = uplink->place, .parent = uplink->parent, .over = call_over, .owner = uplink};
    mur_branch_open(&uplink->branch, loop);
    mur_call_init(&uplink->call, loop);
    mur_loop_add_timer(loop, &uplink->timer);
    uplink->is_opening = true;
    uplink->cut_since = mur_loop_now();
    call_parent(uplink);
    while (uplink->is_opening && !uplink->has_given_up)
        mur_loop_turn(loop);
    return uplink->has_given_up ? uplink->faults : NULL;
}

/* ---- this process's own descriptors ---- */

static bool redirect_output(struct mur_uplink *uplink, int i)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 || dup2(ends[1], i == 0 ? STDOUT_FILENO : STDERR_FILENO) < 0)
        return false;
    close(ends[1]);
    fcntl(i == 0 ? STDOUT_FILENO : STDERR_FILENO, F_SETFL, O_WRONLY); /* what prints may wait */
    uplink->outputs[i] = (struct mur_uplink_output){.uplink = uplink, .channel = (char)i, .credit = MUR_UPLINK_CREDIT};
    uplink->outputs[i].pipe = (struct mur_watch){.fd = ends[0], .ready = output_ready, .owner = &uplink->outputs[i]};
    mur_loop_watch(uplink->loop, &uplink->outputs[i].pipe, EPOLLIN);
    return true;
}

bool mur_uplink_redirect(struct mur_uplink *uplink)
{
    int ends[2];

    if (!redirect_output(uplink, 0) || !redirect_output(uplink, 1) || pipe2(ends, O_CLOEXEC) < 0 ||
        dup2(ends[0], STDIN_FILENO) < 0)
        return false;
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_WRONLY | O_NONBLOCK);
    uplink->input = (struct mur_watch){.fd = ends[1], .ready = feed, .owner = uplink};
    return true;
}

void mur_uplink_frame(struct mur_uplink *uplink, const struct mur_tree_frame *frame)
{
    mur_branch_send(&uplink->branch, MUR_BRANCH_FRAME, frame, mur_frame_bytes(frame));
}

static bool is_drained(const struct mur_uplink_output *output)
{
    int left = 0;

    return output->pipe.fd < 0 || (ioctl(output->pipe.fd, FIONREAD, &left) == 0 && left == 0);
}

bool mur_uplink_is_flushed(const struct mur_uplink *uplink)
{
    return is_drained(&uplink->outputs[0]) && is_drained(&uplink->outputs[1]) && mur_branch_is_flushed(&uplink->branch);
}
