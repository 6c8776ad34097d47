/* SPDX-License-Identifier: BSD-3-Clause */
/* The incoming stream of a link: reading, and delivering frames.
 *
 * All links read into one buffer, from which small frames are delivered where they lie. The rest of a large frame goes
 * where it belongs: to the place that its kind's placer names, or to memory of its size. A frame that has come in part
 * waits in the link. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/settings.h"
#include "boot/process.h"
#include "transport/tcp/sealed.h"
#include "transport/tcp/tcp.h"

enum {
    BUFFER = 256 << 10,
    AHEAD = 2 << 10, /* bytes read to the buffer where large frames are expected: the rest need not pass through it */
    LARGE = 32 << 10,
    LARGE_READS = 8,
    PLACE_MIN = 4 << 10, /* data of frames below this is gathered in the link */
    FRAME_LIMIT = MUR_TCP_STRAIGHT_MAX,
};

/* Before the buffer is room for the part of a record that belongs to a place. */
static char memory[MUR_SEALED_MAX + 8 + BUFFER] __attribute__((aligned(64)));
static char *const buffer = memory + MUR_SEALED_MAX;

/* The other end has proved that it belongs to the job, so this is a mistake of the library's: nothing can be believed
 * any more. */
static __attribute__((noreturn, cold)) void cannot_go_on(const struct mur_link *link, const char *what, const char *why)
{
    char text[400], who[64];

    snprintf(text, sizeof text, "rank %d on %s received %s from %s on %s; %s", mur_process.rank, mur_process.host, what,
             mur_foreign_peer_text(link->peer, who), link->host, why);
    mur_boot_abort(1, text);
}

static __attribute__((noreturn, cold)) void cannot_be(const struct mur_link *link, const char *what)
{
    cannot_go_on(link, what, "are the versions of Murmur the same?");
}

static void take_own(struct mur_link *link, const struct mur_frame *frame, const void *data)
{
    uint64_t value;

    memcpy(&value, data, sizeof value);
    if (!mur_out_acked(link, value))
        cannot_be(link, "an acknowledgement of what it never sent");
    if (frame->kind == MUR_TCP_ACK)
        return;
    link->has_heard_bye = true;
    link->owes_bye = link->peer->foreign && !link->has_said_bye;
    link->wants_ack = true; /* the peer waits for that, or for our BYE */
}

static inline void check(const struct mur_link *link, const struct mur_frame *frame)
{
    if (__builtin_expect(frame->kind >= MUR_TCP_ACK, 0)) {
        if (frame->kind > MUR_TCP_BYE || frame->bytes != sizeof(uint64_t))
            cannot_be(link, "a frame of an unknown kind");
    } else if (__builtin_expect(frame->kind >= MUR_FRAME_KINDS_MAX || !mur_engine.handlers[frame->kind] ||
                                    frame->bytes > FRAME_LIMIT,
                                0)) {
        cannot_be(link, "a frame that cannot be");
    }
}

static inline void deliver(struct mur_link *link, struct mur_frame *frame, const void *data, bool is_placed)
{
    if (__builtin_expect(frame->kind >= MUR_TCP_ACK, 0)) {
        take_own(link, frame, data);
        return;
    }
    if (__builtin_expect(link->has_heard_bye, 0)) /* the peer needs the link again, and so does this side */
        link->has_heard_bye = link->has_said_bye = false;
    if (frame->flags & MUR_TCP_ACK_NOW) {
        link->wants_ack = true;
        frame->flags &= (uint16_t)~MUR_TCP_ACK_NOW;
    }
    if (is_placed)
        mur_deliver_placed(link->peer, frame, data);
    else
        mur_deliver(link->peer, frame, data);
}

/* ---- frames that come in part ---- */

/* The header of a large frame is here, and so much of its data. */
static void begin_place(struct mur_link *link, const struct mur_tcp_header *header, const char *data, size_t have)
{
    const struct mur_frame *frame = &header->frame;
    mur_frame_placer *placer = mur_engine.placers[frame->kind];

    link->header = *header;
    if (frame->bytes >= LARGE)
        link->large = LARGE_READS;
    link->place = placer ? placer(link->peer, frame) : NULL;
    if (!link->place) {
        link->bounce = malloc(frame->bytes);
        if (!link->bounce)
            mur_boot_abort(1, "no memory for a message that arrives over the network");
        link->place = link->bounce;
    }
    memcpy(link->place, data, have);
    link->place += have;
    link->place_left = frame->bytes - have;
}

static void end_place(struct mur_link *link)
{
    struct mur_frame frame = link->header.frame;
    char *data = link->place - frame.bytes, *bounce = link->bounce;

    link->pad = (unsigned)(mur_tcp_padded(frame.bytes) - frame.bytes);
    link->place = link->bounce = NULL;
    deliver(link, &frame, data, true);
    free(bounce);
}

static void keep_partial(struct mur_link *link, const char *data, size_t bytes)
{
    if (!link->partial) {
        link->partial = malloc(sizeof(struct mur_tcp_header) + PLACE_MIN + 8);
        if (!link->partial)
            mur_boot_abort(1, "no memory for a message that arrives over the network");
    }
    memcpy(link->partial, data, bytes);
    link->partial_bytes = bytes;
}

/* Delivers the frames in [at, end), `at` being aligned; keeps what is left. */
static int parse(struct mur_link *link, char *at, const char *end)
{
    int frames = 0;

    while (end - at >= (ptrdiff_t)sizeof(struct mur_tcp_header)) { /* the last may lack its padding: at > end */
        struct mur_tcp_header *header = (struct mur_tcp_header *)at;
        size_t have = (size_t)(end - at) - sizeof *header;

        check(link, &header->frame);
        if (have < header->frame.bytes) {
            if (header->frame.bytes < PLACE_MIN)
                break;
            begin_place(link, header, at + sizeof *header, have);
            return frames;
        }
        if (header->frame.bytes >= LARGE)
            link->large = LARGE_READS;
        at += sizeof *header + mur_tcp_padded(header->frame.bytes);
        deliver(link, &header->frame, header + 1, false);
        frames++;
    }
    if (at > end)
        link->pad = (unsigned)(at - end);
    if (at < end)
        keep_partial(link, at, (size_t)(end - at));
    return frames;
}

/* ---- reading ---- */

/* Where to read to: the place under way, if there is one, and the buffer behind what is kept. *skip are bytes of the
 * buffer's start that pad a frame: what follows them is aligned. */
static int prepare(struct mur_link *link, struct iovec vectors[2], char **start)
{
    int count = 0;
    size_t kept = link->partial_bytes, pad;

    if (link->place) {
        vectors[count++] = (struct iovec){link->place, link->place_left};
        pad = mur_tcp_padded(link->header.frame.bytes) - link->header.frame.bytes;
    } else {
        pad = link->pad;
    }
    *start = buffer + 8 - pad;
    if (kept) { /* there is neither a place nor a pad then */
        memcpy(*start, link->partial, kept);
        link->partial_bytes = 0;
    }
    vectors[count++] = (struct iovec){*start + kept, link->large ? AHEAD : BUFFER - kept};
    link->large -= link->large && !link->place;
    return count;
}

/* `got` bytes have been read to where prepare has said. */
static int take(struct mur_link *link, size_t got, char *start, size_t kept)
{
    int frames = 0;
    char *end;

    link->received += got;
    if (link->place) {
        size_t placed = got < link->place_left ? got : link->place_left;

        link->place += placed;
        link->place_left -= placed;
        got -= placed;
        if (link->place_left)
            return 0;
        end_place(link);
        frames++;
    }
    end = start + kept + got;
    if (link->pad) {
        unsigned skipped = got < link->pad ? (unsigned)got : link->pad;

        link->pad -= skipped;
        start += skipped;
        if (link->pad)
            return frames;
    }
    return frames + parse(link, start, end);
}

static void acknowledge(struct mur_link *link)
{
    if (link->fd < 0 || (link->has_heard_bye && link->has_said_bye) ||
        (!link->wants_ack &&
         (link->has_heard_bye || link->has_said_bye || link->received - link->told < MUR_TCP_ACK_EVERY)))
        return;
    link->wants_ack = false;
    link->told = link->received;
    if (link->has_heard_bye)
        link->quiet_start = link->queued;
    mur_out_own(link, MUR_TCP_ACK, link->received);
    if (link->has_heard_bye)
        link->quiet_end = link->queued;
}

/* ---- frames whose rest does not come ---- */

bool mur_in_is_partial(const struct mur_link *link)
{
    return link->place || link->partial_bytes || link->pad || (link->seal && link->seal->in);
}

void mur_in_limit_stall(struct mur_link *link)
{
    if (!mur_in_is_partial(link))
        return;
    link->stall_due = mur_tcp_now() + 1000u * (uint64_t)mur_settings.tcp_timeout;
    mur_tcp_set_timer(link->stall_due);
}

static inline void heard(struct mur_link *link)
{
    link->has_retried = false;
    if (__builtin_expect(mur_in_is_partial(link), 0))
        mur_in_limit_stall(link);
}

/* A peer that computes may well leave us with half a frame, and goes on when it is back. A new connection tells: before
 * it is there the peer must have been in MPI, and it then sends at once all it has. If that is nothing, packets of
 * full size do not arrive, or the header was wrong. */
void mur_in_stalled(struct mur_link *link)
{
    if (link->has_retried)
        cannot_go_on(link, "a frame whose rest never came",
                     "a new connection did not help: either large packets are lost between these hosts (do all "
                     "interfaces and switches on the way have "
                     "the same MTU?), or the versions of Murmur differ");
    link->has_retried = true;
    mur_link_broken(link, ETIMEDOUT);
}

/* After frames have been delivered. */
static void conclude(struct mur_link *link)
{
    link->is_reading = false;
    heard(link);
    acknowledge(link);
    if (link->broken)
        mur_link_broken(link, link->broken);
    mur_link_answer_bye(link);
    mur_link_end_if_said(link);
}

static void failed(struct mur_link *link, ssize_t got)
{
    if (got == 0)
        mur_link_broken(link, 0);
    else if (errno != EAGAIN && errno != EINTR)
        mur_link_broken(link, errno);
}

static int read_plain(struct mur_link *link)
{
    struct iovec vectors[2];
    size_t kept = link->partial_bytes;
    char *start;
    int count = prepare(link, vectors, &start), frames = 0;
    ssize_t got;

    if (count == 1)
        got = recv(link->fd, vectors[0].iov_base, vectors[0].iov_len, MSG_DONTWAIT);
    else
        got = readv(link->fd, vectors, count);
    if (got > 0) {
        link->is_reading = true;
        frames = take(link, (size_t)got, start, kept);
        conclude(link);
        return frames;
    }
    if (kept)
        keep_partial(link, start, kept);
    failed(link, got);
    return 0;
}

/* Opens the next record, of so many bytes, to where the stream's next bytes go: to the place, to the buffer, or, if it
 * begins in the place and ends in the buffer, before that, so that only the place's part is copied. False: it is not as
 * the peer has sent it. */
static bool take_record(struct mur_link *link, size_t bytes, int *frames)
{
    struct iovec vectors[2];
    size_t kept = link->partial_bytes;
    char *start, *to;
    bool is_split = link->place && bytes > link->place_left;

    prepare(link, vectors, &start);
    if (is_split)
        to = start - link->place_left;
    else
        to = link->place ? link->place : start + kept;
    if (!mur_sealed_open(link, to)) {
        if (kept)
            keep_partial(link, start, kept);
        return false;
    }
    if (is_split)
        memcpy(link->place, to, link->place_left);
    link->altered_since = 0;
    *frames += take(link, bytes, start, kept);
    return true;
}

static int read_sealed(struct mur_link *link)
{
    ssize_t got = mur_sealed_fill(link), bytes = MUR_SEALED_NONE;
    int frames = 0, error;
    bool is_sound = true;

    if (got > 0) {
        link->is_reading = true;
        while (is_sound && (bytes = mur_sealed_next(link)) >= 0)
            is_sound = take_record(link, (size_t)bytes, &frames);
    }
    error = errno;
    mur_sealed_settle(link);
    errno = error;
    if (got <= 0) {
        failed(link, got);
    } else if (!is_sound || bytes == MUR_SEALED_ALTERED) {
        link->is_reading = false;
        mur_link_altered(link);
    } else {
        conclude(link);
    }
    return frames;
}

int mur_in_read(struct mur_link *link)
{
    if (link->seal)
        return read_sealed(link);
    return read_plain(link);
}
