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

enum { TICK_MS = 250, RETRY_MS = 100, PATIENCE_MS = 2000, REFUSED_MS = 3000 };

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
    struct mur_frame frame;
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

/* One round of all addresses. Sets *fault to what the first said: ECONNREFUSED, nobody listens there any more; EPROTO,
 * somebody does who does not go on after our hello. */
static bool call(struct mur_uplink *uplink, int *fault, char *text, size_t room)
{
    size_t used = 0;

    *fault = 0;
    for (int i = 0; i < uplink->address_count; i++) {
        uint64_t peer_received;
        char address[64];
        int fd = mur_door_call(&uplink->addresses[i], uplink->secret, uplink->place, uplink->parent,
                               uplink->branch.received, &peer_received, PATIENCE_MS);

        if (fd >= 0) {
            struct mur_address first = uplink->addresses[0];

            uplink->addresses[0] = uplink->addresses[i]; /* the one to try first, if it must be tried again */
            uplink->addresses[i] = first;
            return mur_branch_attach(&uplink->branch, fd, peer_received);
        }
        if (i == 0)
            *fault = errno;
        if (used < room)
            used += (size_t)snprintf(text + used, room - used, "%s%s: %s", i ? ", " : "",
                                     mur_address_text(&uplink->addresses[i], address), strerror(errno));
    }
    return false;
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
    if (uplink->lost)
        uplink->lost(uplink->owner);
    else
        _exit(1); /* before it has started anything */
}

static void tick(void *owner)
{
    struct mur_uplink *uplink = owner;
    char text[1024];
    int fault;

    if (!uplink->cut_since && mur_branch_silence(&uplink->branch) > mur_host_timeout()) {
        give_up(uplink);
        return;
    }
    if (!uplink->cut_since) {
        mur_branch_tick(&uplink->branch);
        if (!uplink->cut_since)
            mur_timer_set(&uplink->timer, TICK_MS);
        return;
    }
    if (call(uplink, &fault, text, sizeof text)) {
        uplink->cut_since = 0;
        mur_timer_set(&uplink->timer, TICK_MS);
    } else if (fault == ECONNREFUSED || mur_loop_now() - uplink->cut_since > mur_host_timeout()) {
        give_up(uplink); /* refused by an address that has answered before: the parent has ended */
    } else {
        mur_timer_set(&uplink->timer, RETRY_MS);
    }
}

bool mur_uplink_open(struct mur_uplink *uplink, struct mur_loop *loop, char *text, size_t bytes)
{
    int64_t start = mur_loop_now();
    int fault;

    uplink->loop = loop;
    uplink->branch.message = message;
    uplink->branch.broken = broken;
    uplink->branch.owner = uplink;
    uplink->input.fd = -1;
    uplink->outputs[0].pipe.fd = uplink->outputs[1].pipe.fd = -1;
    mur_branch_open(&uplink->branch, loop);
    while (!call(uplink, &fault, text, bytes)) {
        /* The parent listens before it starts this agent: refused, it is no more, or another version's. */
        if (mur_loop_now() - start > (fault == ECONNREFUSED || fault == EPROTO ? REFUSED_MS : mur_host_timeout()))
            return false;
        usleep(RETRY_MS * 1000);
    }
    uplink->timer = (struct mur_timer){.fire = tick, .owner = uplink};
    mur_loop_add_timer(loop, &uplink->timer);
    mur_timer_set(&uplink->timer, TICK_MS);
    return true;
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

void mur_uplink_frame(struct mur_uplink *uplink, const struct mur_frame *frame)
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
