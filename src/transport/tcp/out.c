/* SPDX-License-Identifier: BSD-3-Clause */
/* The outgoing stream of a link: frames are appended to segments, segments are written to the socket, and stay until
 * the peer acknowledges them.
 *
 * When to write: the first frame after a pause goes at once, since nobody knows whether more will come. Those that
 * follow within a few microseconds wait for each other until progress is made, a blocking send asks, or a good deal has
 * gathered: a system call costs as much as hundreds of small frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/copy.h"
#include "boot/process.h"
#include "transport/tcp/sealed.h"
#include "transport/tcp/tcp.h"

enum {
    PAUSE = 5000,      /* nanoseconds: who has not sent for so long sends at once */
    GATHER = 16 << 10, /* bytes that are kept back at most */
    VECTORS = 32,      /* segments in one write */
    SPARE_SEGMENTS = 16,
    WRITE_FIRST = 16 << 10, /* frames from this size on are written before they are copied */
};

static struct mur_out_segment *spare;
static int spare_count;

/* ---- segments ---- */

static void append_segment(struct mur_link *link, struct mur_out_segment *segment)
{
    segment->next = NULL;
    segment->start = link->queued;
    if (link->last)
        link->last->next = segment;
    else
        link->first = segment;
    link->last = segment;
    if (!link->next)
        link->next = segment;
}

static struct mur_out_segment *new_segment(struct mur_link *link, size_t space)
{
    struct mur_out_segment *segment = NULL;

    if (space <= MUR_TCP_SEGMENT && spare) {
        segment = spare;
        spare = segment->next;
        spare_count--;
    } else {
        space = space < MUR_TCP_SEGMENT ? MUR_TCP_SEGMENT : space;
        segment = malloc(sizeof *segment + space);
        if (!segment)
            mur_boot_abort(1, "no memory for messages that wait to be sent over the network");
        segment->space = space;
    }
    segment->bytes = 0;
    segment->data = segment->own;
    segment->sent = NULL;
    append_segment(link, segment);
    return segment;
}

static void free_segment(struct mur_out_segment *segment)
{
    if (segment->space == MUR_TCP_SEGMENT && spare_count < SPARE_SEGMENTS) {
        segment->next = spare;
        spare = segment;
        spare_count++;
    } else {
        free(segment);
    }
}

/* Memory for `bytes` bytes in one piece at the end of the stream; counts them as queued. */
static char *reserve(struct mur_link *link, size_t bytes)
{
    struct mur_out_segment *segment = link->last;
    char *place;

    if (!segment || segment->space < segment->bytes + bytes) /* one that is not ours has no space */
        segment = new_segment(link, bytes);
    if (!link->next)
        link->next = segment;
    place = segment->own + segment->bytes;
    segment->bytes += bytes;
    link->queued += bytes;
    return place;
}

/* The header, and zeros for what pads the data. */
static inline char *put_header(char *place, const struct mur_frame *frame)
{
    struct mur_tcp_header header = {.frame = *frame};

    memcpy(place, &header, sizeof header);
    if (frame->bytes % 8)
        memset(place + sizeof header + mur_tcp_padded(frame->bytes) - 8, 0, 8);
    return place + sizeof header;
}

/* ---- writing ---- */

static void want_room(struct mur_link *link, bool is_full)
{
    uint32_t events = EPOLLIN | (is_full ? EPOLLOUT : 0);

    link->is_full = is_full;
    if (link->watched == events)
        return;
    link->watched = events;
    mur_tcp_watch(link->fd, events, MUR_TCP_LINK, link, false);
}

/* Up to a segment that will be spliced. Sets *more if there is one. */
static int gather(const struct mur_link *link, struct iovec *vectors, int *more)
{
    const struct mur_out_segment *segment = link->next;
    size_t skip = segment ? (size_t)(link->sent - segment->start) : 0;
    int count = 0;

    for (; segment && count < VECTORS; segment = segment->next, skip = 0) {
        if (count && mur_splice_serves(link, segment)) {
            *more = MSG_MORE;
            break;
        }
        if (segment->bytes > skip)
            vectors[count++] = (struct iovec){(char *)segment->data + skip, segment->bytes - skip};
    }
    return count;
}

static void advance(struct mur_link *link, size_t bytes)
{
    link->sent += bytes;
    while (link->next && link->next->start + link->next->bytes <= link->sent)
        link->next = link->next->next;
}

/* One write; most have one segment to write from, for which there is a cheaper call. */
static ssize_t write_some(const struct mur_link *link)
{
    const struct mur_out_segment *segment = link->next;
    struct iovec vectors[VECTORS];
    struct msghdr message = {.msg_iov = vectors};
    int more = 0;

    if (!segment->next) {
        size_t skip = (size_t)(link->sent - segment->start);

        return send(link->fd, segment->data + skip, segment->bytes - skip, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    message.msg_iovlen = (size_t)gather(link, vectors, &more);
    return sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | more);
}

static ssize_t write_next(struct mur_link *link)
{
    ssize_t written = MUR_SPLICE_REFUSED;

    if (link->seal)
        return mur_sealed_write(link);
    if (mur_splice_serves(link, link->next))
        written = mur_splice_write(link);
    return written == MUR_SPLICE_REFUSED ? write_some(link) : written;
}

void mur_out_write(struct mur_link *link)
{
    if (link->state != MUR_LINK_UP)
        return;
    while (link->sent < link->queued || mur_sealed_is_pending(link)) {
        ssize_t written = write_next(link);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            want_room(link, true);
            return;
        }
        if (written < 0) {
            mur_link_broken(link, errno);
            return;
        }
        advance(link, (size_t)written);
    }
    link->last_send = mur_clock_ns(); /* after the call, which may take longer than a pause */
    want_room(link, false);
}

static void keep_back(struct mur_link *link)
{
    if (link->is_unsent)
        return;
    link->is_unsent = true;
    link->next_unsent = mur_tcp.unsent;
    mur_tcp.unsent = link;
    mur_engine.has_unsent = true;
}

void mur_out_flush_all(void)
{
    struct mur_link *link;

    while ((link = mur_tcp.unsent)) {
        mur_tcp.unsent = link->next_unsent;
        link->is_unsent = false;
        if (!link->is_full)
            mur_out_write(link);
    }
    mur_engine.has_unsent = false;
}

/* After a frame has been appended. */
static void write_or_wait(struct mur_link *link)
{
    if (link->state != MUR_LINK_UP) {
        if (!link->is_given_up)
            mur_engine.has_early = true;
        return;
    }
    if (link->is_full)
        return;
    if (link->queued - link->sent >= GATHER || mur_clock_ns() - link->last_send > PAUSE)
        mur_out_write(link);
    else
        keep_back(link);
}

/* ---- sending ---- */

/* At least one frame is always taken, whatever its size. */
static inline bool has_room(const struct mur_link *link, size_t bytes)
{
    return link->queued - link->acked + bytes <= MUR_TCP_WINDOW || link->queued == link->acked;
}

/* Gives the socket a frame straight from the user's memory, when nothing waits before it, and then copies it to where
 * it is kept: the peer is at work meanwhile. */
static bool write_then_copy(struct mur_link *link, const struct mur_frame *frame, const void *data)
{
    struct mur_tcp_header header = {.frame = *frame};
    static const char zeros[8];
    size_t pad = mur_tcp_padded(frame->bytes) - frame->bytes;
    struct iovec vectors[3] = {
        {&header, sizeof header}, {(void *)(uintptr_t)data, frame->bytes}, {(void *)(uintptr_t)zeros, pad}};
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = 3};
    ssize_t written = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (written < 0)
        return false; /* what it is shows when the queue is written */
    memcpy(put_header(reserve(link, sizeof header + mur_tcp_padded(frame->bytes)), frame), data, frame->bytes);
    advance(link, (size_t)written);
    link->last_send = mur_clock_ns();
    if (link->sent < link->queued)
        want_room(link, true);
    return true;
}

bool mur_out_send(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_link *link = mur_link_of(peer);
    size_t bytes = sizeof(struct mur_tcp_header) + mur_tcp_padded(frame->bytes);

    if (__builtin_expect(!has_room(link, bytes), 0))
        return false;
    if (frame->bytes >= WRITE_FIRST && link->state == MUR_LINK_UP && link->sent == link->queued && !link->is_full &&
        !link->seal && write_then_copy(link, frame, data))
        return true;
    mur_copy(put_header(reserve(link, bytes), frame), data, frame->bytes);
    write_or_wait(link);
    return true;
}

bool mur_out_send_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument)
{
    struct mur_link *link = mur_link_of(peer);
    size_t bytes = sizeof(struct mur_tcp_header) + mur_tcp_padded(frame->bytes);

    if (!has_room(link, bytes))
        return false;
    pack(argument, put_header(reserve(link, bytes), frame), frame->bytes);
    write_or_wait(link);
    return true;
}

bool mur_out_send_straight(struct mur_peer *peer, const struct mur_frame *frame, const void *data,
                           mur_sent_function *sent, void *argument)
{
    struct mur_link *link = mur_link_of(peer);
    size_t pad = mur_tcp_padded(frame->bytes) - frame->bytes;
    struct mur_frame marked = *frame;
    struct mur_tcp_header header;
    struct mur_out_segment *segment;

    if (!has_room(link, sizeof(struct mur_tcp_header) + mur_tcp_padded(frame->bytes)))
        return false;
    segment = malloc(sizeof *segment);
    if (!segment)
        mur_boot_abort(1, "no memory for a message that is sent over the network");
    marked.flags |= MUR_TCP_ACK_NOW;
    header = (struct mur_tcp_header){.frame = marked};
    memcpy(reserve(link, sizeof header), &header, sizeof header);
    *segment = (struct mur_out_segment){.bytes = frame->bytes, .data = data, .sent = sent, .argument = argument};
    append_segment(link, segment);
    link->queued += frame->bytes;
    if (pad)
        memset(reserve(link, pad), 0, pad);
    write_or_wait(link);
    return true;
}

void mur_out_own(struct mur_link *link, uint16_t kind, uint64_t value)
{
    struct mur_frame frame = {.kind = kind, .bytes = sizeof value};

    memcpy(put_header(reserve(link, sizeof(struct mur_tcp_header) + sizeof value), &frame), &value, sizeof value);
    if (!link->is_full)
        mur_out_write(link);
}

/* ---- acknowledged, or to be sent again ---- */

void mur_out_arrived(struct mur_link *link, uint64_t position)
{
    if (position <= link->acked)
        return; /* older than what the peer said when it joined anew */
    link->acked = position;
    while (link->first && link->first->start + link->first->bytes <= position) {
        struct mur_out_segment *segment = link->first;

        link->first = segment->next;
        if (!link->first)
            link->last = NULL;
        if (link->next == segment)
            link->next = segment->next;
        if (segment->sent)
            segment->sent(segment->argument);
        free_segment(segment);
    }
}

bool mur_out_acked(struct mur_link *link, uint64_t position)
{
    if (position > link->sent)
        return false;
    mur_out_arrived(link, position);
    return true;
}

void mur_out_rewind(struct mur_link *link)
{
    mur_splice_drop(link);
    link->sent = link->acked;
    link->next = link->first;
    while (link->next && link->next->start + link->next->bytes <= link->sent)
        link->next = link->next->next;
    link->is_full = false;
}
