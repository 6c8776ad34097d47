/* SPDX-License-Identifier: BSD-3-Clause */
/* The child's side of a branch. The agent's own stdout and stderr are pipes into this file, which is why output.c and
 * all that prints need not know where they are. */
#include "launch/tree/parent_link.h"

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
    struct mur_parent_link_output *output = owner;
    char data[MUR_PARENT_LINK_CREDIT];
    ssize_t size = read(output->pipe.fd, data, output->credit < sizeof data ? output->credit : sizeof data);

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        mur_loop_unwatch(output->parent_link->loop, &output->pipe);
        close(output->pipe.fd);
        output->pipe.fd = -1;
        return;
    }
    output->credit -= (uint32_t)size;
    if (!output->credit)
        mur_loop_unwatch(output->parent_link->loop, &output->pipe);
    mur_branch_send_parts(&output->parent_link->branch, MUR_BRANCH_OUTPUT, &output->channel, 1, data, (size_t)size);
}

static void output_taken(struct mur_parent_link *parent_link, const char *data, size_t bytes)
{
    struct mur_parent_link_output *output = &parent_link->outputs[bytes && data[0] == 1];
    uint32_t more;

    if (bytes != 1 + sizeof more)
        return;
    memcpy(&more, data + 1, sizeof more);
    output->credit += more < MUR_PARENT_LINK_CREDIT - output->credit ? more : MUR_PARENT_LINK_CREDIT - output->credit;
    if (output->pipe.fd >= 0 && output->credit)
        mur_loop_watch(parent_link->loop, &output->pipe, EPOLLIN);
}

/* ---- input ---- */

static void tell_taken(struct mur_parent_link *parent_link)
{
    const char wants_more = parent_link->input.fd >= 0;

    mur_branch_send(&parent_link->branch, MUR_BRANCH_INPUT_TAKEN, &wants_more, 1);
}

static void close_input(struct mur_parent_link *parent_link)
{
    mur_loop_unwatch(parent_link->loop, &parent_link->input);
    close(parent_link->input.fd);
    parent_link->input.fd = -1;
}

static void feed(void *owner)
{
    struct mur_parent_link *parent_link = owner;

    while (parent_link->input_start < parent_link->input_end) {
        ssize_t written = write(parent_link->input.fd, parent_link->input_data + parent_link->input_start,
                                parent_link->input_end - parent_link->input_start);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            mur_loop_watch(parent_link->loop, &parent_link->input, EPOLLOUT);
            return;
        }
        if (written < 0) { /* nobody reads any more */
            close_input(parent_link);
            tell_taken(parent_link);
            return;
        }
        parent_link->input_start += (size_t)written;
    }
    mur_loop_unwatch(parent_link->loop, &parent_link->input);
    tell_taken(parent_link);
}

static void take_input(struct mur_parent_link *parent_link, const char *data, size_t bytes)
{
    if (parent_link->input.fd < 0)
        return;
    if (!bytes) {
        close_input(parent_link);
        return;
    }
    parent_link->input_data = mur_alloc_again(parent_link->input_data, bytes, 1);
    memcpy(parent_link->input_data, data, bytes);
    parent_link->input_start = 0;
    parent_link->input_end = bytes;
    feed(parent_link);
}

/* ---- messages ---- */

static void message(void *owner, uint32_t kind, const char *data, size_t bytes)
{
    struct mur_parent_link *parent_link = owner;
    struct mur_tree_frame frame;
    char *text;

    switch (kind) {
    case MUR_BRANCH_SPEC:
        if (parent_link->spec)
            parent_link->spec(parent_link->owner, data, bytes);
        break;
    case MUR_BRANCH_FRAME:
        if (parent_link->frame && mur_frame_unpack(&frame, data, bytes))
            parent_link->frame(parent_link->owner, &frame);
        break;
    case MUR_BRANCH_BARRIER:
        if (parent_link->barrier)
            parent_link->barrier(parent_link->owner);
        break;
    case MUR_BRANCH_VALUE:
    case MUR_BRANCH_NO_VALUE:
        text = mur_alloc(bytes + 2, 1);
        memcpy(text, data, bytes);
        if (parent_link->value)
            parent_link->value(parent_link->owner, text, kind == MUR_BRANCH_VALUE ? text + strlen(text) + 1 : NULL);
        free(text);
        break;
    case MUR_BRANCH_OUTPUT_TAKEN:
        output_taken(parent_link, data, bytes);
        break;
    case MUR_BRANCH_INPUT:
        take_input(parent_link, data, bytes);
        break;
    default:
        break;
    }
}

/* ---- the connection ---- */

static void call_next(struct mur_parent_link *parent_link)
{
    mur_call_start(&parent_link->call, &parent_link->addresses[parent_link->calling], parent_link->branch.received);
}

/* One round of all addresses. */
static void call_parent(struct mur_parent_link *parent_link)
{
    parent_link->calling = 0;
    parent_link->fault = 0;
    parent_link->faults_length = 0;
    parent_link->faults[0] = 0;
    call_next(parent_link);
}

static void broken(void *owner, int error)
{
    struct mur_parent_link *parent_link = owner;

    (void)error;
    if (!parent_link->cut_since)
        parent_link->cut_since = mur_loop_now();
    mur_timer_set(&parent_link->timer, 0);
}

static void give_up(struct mur_parent_link *parent_link)
{
    mur_branch_detach(&parent_link->branch);
    mur_timer_clear(&parent_link->timer);
    parent_link->has_given_up = true;
    if (parent_link->is_opening)
        return;
    if (parent_link->lost)
        parent_link->lost(parent_link->owner);
    else
        _exit(1); /* before it has started anything */
}

/* How long to go on calling. The parent listens before it starts this agent: if it refuses, it is no more, or another
 * version's; and later, when one of its addresses has answered before, it has ended. */
static int64_t patience(const struct mur_parent_link *parent_link)
{
    if (parent_link->is_opening)
        return parent_link->fault == ECONNREFUSED || parent_link->fault == EPROTO ? REFUSED_MS : mur_host_timeout();
    return parent_link->fault == ECONNREFUSED ? -1 : mur_host_timeout();
}

static void round_failed(struct mur_parent_link *parent_link)
{
    if (mur_loop_now() - parent_link->cut_since > patience(parent_link))
        give_up(parent_link);
    else
        mur_timer_set(&parent_link->timer, RETRY_MS);
}

static void note_fault(struct mur_parent_link *parent_link, int error)
{
    size_t room = sizeof parent_link->faults - parent_link->faults_length;
    char address[64];
    int length;

    if (parent_link->calling == 0)
        parent_link->fault = error;
    length =
        snprintf(parent_link->faults + parent_link->faults_length, room, "%s%s: %s", parent_link->calling ? ", " : "",
                 mur_address_text(&parent_link->addresses[parent_link->calling], address), strerror(error));
    parent_link->faults_length += (size_t)length < room ? (size_t)length : room - 1;
}

static void call_over(void *owner, int fd, int error, uint64_t peer_received)
{
    struct mur_parent_link *parent_link = owner;
    struct mur_address first = parent_link->addresses[0];

    if (fd < 0) {
        note_fault(parent_link, error);
        if (++parent_link->calling < parent_link->address_count)
            call_next(parent_link);
        else
            round_failed(parent_link);
        return;
    }
    parent_link->addresses[0] =
        parent_link->addresses[parent_link->calling]; /* the one to try first, if it must be tried again */
    parent_link->addresses[parent_link->calling] = first;
    if (!mur_branch_attach(&parent_link->branch, fd, peer_received, &parent_link->call.handshake, true)) {
        round_failed(parent_link);
        return;
    }
    parent_link->cut_since = 0;
    parent_link->is_opening = false;
    mur_timer_set(&parent_link->timer, TICK_MS);
}

static void tick(void *owner)
{
    struct mur_parent_link *parent_link = owner;

    /* So long without a word, whether by one connection or by many that broke at once. */
    if ((!parent_link->cut_since || parent_link->branch.is_barren) &&
        mur_branch_silence(&parent_link->branch) > mur_host_timeout()) {
        give_up(parent_link);
        return;
    }
    if (parent_link->cut_since) {
        call_parent(parent_link);
        return;
    }
    mur_branch_tick(&parent_link->branch);
    if (!parent_link->cut_since)
        mur_timer_set(&parent_link->timer, TICK_MS);
}

const char *mur_parent_link_open(struct mur_parent_link *parent_link, struct mur_loop *loop)
{
    parent_link->loop = loop;
    parent_link->branch.message = message;
    parent_link->branch.broken = broken;
    parent_link->branch.owner = parent_link;
    parent_link->input.fd = -1;
    parent_link->outputs[0].pipe.fd = parent_link->outputs[1].pipe.fd = -1;
    parent_link->timer = (struct mur_timer){.fire = tick, .owner = parent_link};
    parent_link->call = (struct mur_parent_call){.secret = parent_link->secret,
                                                 .own = parent_link->place,
                                                 .parent = parent_link->parent,
                                                 .over = call_over,
                                                 .owner = parent_link};
    mur_branch_open(&parent_link->branch, loop);
    mur_call_init(&parent_link->call, loop);
    mur_loop_add_timer(loop, &parent_link->timer);
    parent_link->is_opening = true;
    parent_link->cut_since = mur_loop_now();
    call_parent(parent_link);
    while (parent_link->is_opening && !parent_link->has_given_up)
        mur_loop_turn(loop);
    return parent_link->has_given_up ? parent_link->faults : NULL;
}

/* ---- this process's own descriptors ---- */

static bool redirect_output(struct mur_parent_link *parent_link, int i)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 || dup2(ends[1], i == 0 ? STDOUT_FILENO : STDERR_FILENO) < 0)
        return false;
    close(ends[1]);
    fcntl(i == 0 ? STDOUT_FILENO : STDERR_FILENO, F_SETFL, O_WRONLY); /* what prints may wait */
    parent_link->outputs[i] = (struct mur_parent_link_output){
        .parent_link = parent_link, .channel = (char)i, .credit = MUR_PARENT_LINK_CREDIT};
    parent_link->outputs[i].pipe =
        (struct mur_watch){.fd = ends[0], .ready = output_ready, .owner = &parent_link->outputs[i]};
    mur_loop_watch(parent_link->loop, &parent_link->outputs[i].pipe, EPOLLIN);
    return true;
}

bool mur_parent_link_redirect(struct mur_parent_link *parent_link)
{
    int ends[2];

    if (!redirect_output(parent_link, 0) || !redirect_output(parent_link, 1) || pipe2(ends, O_CLOEXEC) < 0 ||
        dup2(ends[0], STDIN_FILENO) < 0)
        return false;
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_WRONLY | O_NONBLOCK);
    parent_link->input = (struct mur_watch){.fd = ends[1], .ready = feed, .owner = parent_link};
    return true;
}

void mur_parent_link_frame(struct mur_parent_link *parent_link, const struct mur_tree_frame *frame)
{
    mur_branch_send(&parent_link->branch, MUR_BRANCH_FRAME, frame, mur_frame_bytes(frame));
}

static bool is_drained(const struct mur_parent_link_output *output)
{
    int left = 0;

    return output->pipe.fd < 0 || (ioctl(output->pipe.fd, FIONREAD, &left) == 0 && left == 0);
}

bool mur_parent_link_is_flushed(const struct mur_parent_link *parent_link)
{
    return is_drained(&parent_link->outputs[0]) && is_drained(&parent_link->outputs[1]) &&
           mur_branch_is_flushed(&parent_link->branch);
}
