/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of a branch: a buffer each way, before they are sealed and after they are opened. */
#include "launch/tree/branch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/alloc.h"

enum { PINGS_A_TIMEOUT = 5, PING_MS = 1000, READ_BYTES = 64 << 10 };

struct header {
    uint32_t kind;
    uint32_t bytes;
};

int64_t mur_host_timeout(void)
{
    const char *text = getenv("MUR_HOST_TIMEOUT");
    long seconds = text ? strtol(text, NULL, 10) : 0;

    return 1000 * (seconds > 0 && seconds < 1000000 ? seconds : 30);
}

static void lose(struct mur_branch *branch, int error)
{
    mur_branch_detach(branch);
    branch->broken(branch->owner, error);
}

/* ---- out ---- */

static void want_room(struct mur_branch *branch, bool wants_room)
{
    if (branch->wants_room == wants_room && branch->watch.is_active)
        return;
    branch->wants_room = wants_room;
    mur_loop_unwatch(branch->loop, &branch->watch);
    mur_loop_watch(branch->loop, &branch->watch, EPOLLIN | (wants_room ? (uint32_t)EPOLLOUT : 0));
}

static bool flush(struct mur_branch *branch)
{
    while (branch->watch.fd >= 0) {
        size_t skip = branch->out_start + (size_t)(branch->sent - branch->acked);

        branch->sent += mur_seal_put(&branch->seal, branch->out + skip, branch->out_end - skip);
        if (mur_seal_is_flushed(&branch->seal))
            break;
        if (mur_seal_flush(&branch->seal, branch->watch.fd))
            continue;
        if (errno == EAGAIN) {
            want_room(branch, true);
            return true;
        }
        lose(branch, errno);
        return false;
    }
    if (branch->watch.fd >= 0)
        want_room(branch, false);
    return true;
}

static void append(struct mur_branch *branch, const void *data, size_t bytes)
{
    if (branch->out_start == branch->out_end)
        branch->out_start = branch->out_end = 0;
    if (branch->out_start && branch->out_space - branch->out_end < bytes) {
        memmove(branch->out, branch->out + branch->out_start, branch->out_end - branch->out_start);
        branch->out_end -= branch->out_start;
        branch->out_start = 0;
    }
    if (branch->out_space - branch->out_end < bytes) {
        branch->out_space = 2 * (branch->out_end + bytes);
        branch->out = mur_alloc_again(branch->out, branch->out_space, 1);
    }
    if (bytes)
        memcpy(branch->out + branch->out_end, data, bytes);
    branch->out_end += bytes;
    branch->queued += bytes;
}

void mur_branch_send_parts(struct mur_branch *branch, uint32_t kind, const void *first, size_t first_bytes,
                           const void *second, size_t second_bytes)
{
    struct header header = {.kind = kind, .bytes = (uint32_t)(first_bytes + second_bytes)};

    append(branch, &header, sizeof header);
    append(branch, first, first_bytes);
    append(branch, second, second_bytes);
    if (kind != MUR_BRANCH_ACK)
        branch->news = branch->queued;
    branch->said_at = mur_loop_now();
    if (!branch->wants_room)
        flush(branch);
}

void mur_branch_send(struct mur_branch *branch, uint32_t kind, const void *data, size_t bytes)
{
    mur_branch_send_parts(branch, kind, data, bytes, NULL, 0);
}

static bool take_ack(struct mur_branch *branch, uint64_t position)
{
    if (position < branch->acked || position > branch->sent)
        return false;
    branch->out_start += (size_t)(position - branch->acked);
    branch->acked = position;
    return true;
}

/* ---- in ---- */

/* Hands over the whole messages in the buffer. Returns whether any of them is to be acknowledged. */
static bool take_messages(struct mur_branch *branch, bool *is_sane)
{
    size_t at = 0;
    bool has_news = false;
    struct header header;

    *is_sane = true;
    while (!branch->is_paused && branch->in_bytes - at >= sizeof header) {
        const char *data = branch->in + at + sizeof header;
        uint64_t position;

        memcpy(&header, branch->in + at, sizeof header);
        if (header.bytes > MUR_BRANCH_MESSAGE_MAX) {
            *is_sane = false;
            break;
        }
        if (branch->in_bytes - at - sizeof header < header.bytes)
            break;
        at += sizeof header + header.bytes;
        if (header.kind == MUR_BRANCH_ACK) {
            memcpy(&position, data, header.bytes == sizeof position ? sizeof position : 0);
            *is_sane = header.bytes == sizeof position && take_ack(branch, position);
            if (!*is_sane)
                break;
        } else {
            has_news = true;
            if (header.kind != MUR_BRANCH_PING)
                branch->message(branch->owner, header.kind, data, header.bytes);
        }
    }
    memmove(branch->in, branch->in + at, branch->in_bytes - at);
    branch->in_bytes -= at;
    return has_news;
}

static void take_all(struct mur_branch *branch)
{
    bool is_sane;

    if (take_messages(branch, &is_sane) && branch->watch.fd >= 0)
        mur_branch_send(branch, MUR_BRANCH_ACK, &branch->received, sizeof branch->received);
    if (!is_sane)
        lose(branch, EPROTO);
}

void mur_branch_resume(struct mur_branch *branch)
{
    branch->is_paused = false;
    take_all(branch);
}

/* Opens the records that have come. False: not all of them are as they were sent. */
static bool open_records(struct mur_branch *branch)
{
    ssize_t bytes;

    for (;;) {
        if (branch->in_space - branch->in_bytes < MUR_SEAL_CHUNK) {
            branch->in_space = 2 * branch->in_bytes + READ_BYTES;
            branch->in = mur_alloc_again(branch->in, branch->in_space, 1);
        }
        bytes = mur_seal_take(&branch->seal, branch->in + branch->in_bytes);
        if (bytes <= 0)
            return bytes == 0;
        branch->heard_at = mur_loop_now();
        branch->is_barren = false;
        branch->in_bytes += (size_t)bytes;
        branch->received += (uint64_t)bytes;
    }
}

static void read_some(struct mur_branch *branch)
{
    ssize_t got = mur_seal_fill(&branch->seal, branch->watch.fd);
    bool is_sound;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        lose(branch, got < 0 ? errno : 0);
        return;
    }
    is_sound = open_records(branch);
    take_all(branch);
    if (!is_sound && branch->watch.fd >= 0)
        lose(branch, EBADMSG);
}

static void ready(void *owner)
{
    struct mur_branch *branch = owner;

    if (branch->wants_room && !flush(branch))
        return;
    if (branch->watch.fd >= 0)
        read_some(branch);
}

/* ---- life ---- */

void mur_branch_open(struct mur_branch *branch, struct mur_loop *loop)
{
    branch->loop = loop;
    branch->watch = (struct mur_watch){.fd = -1, .ready = ready, .owner = branch};
    branch->heard_at = branch->said_at = mur_loop_now();
}

bool mur_branch_attach(struct mur_branch *branch, int fd, uint64_t peer_received, const struct mur_handshake *greeting,
                       bool is_caller)
{
    mur_branch_detach(branch);
    if (peer_received < branch->acked || peer_received > branch->queued) {
        close(fd);
        return false;
    }
    branch->sent = branch->sent > peer_received ? branch->sent : peer_received;
    take_ack(branch, peer_received);
    branch->sent = branch->acked;
    branch->watch.fd = fd;
    branch->wants_room = false;
    if (!branch->is_barren) /* a connection by which nothing comes is no sign of life */
        branch->heard_at = mur_loop_now();
    branch->is_barren = true;
    mur_seal_start_greeted(&branch->seal, greeting, is_caller);
    mur_loop_watch(branch->loop, &branch->watch, EPOLLIN);
    mur_branch_send(branch, MUR_BRANCH_PING, NULL, 0);
    return true;
}

void mur_branch_detach(struct mur_branch *branch)
{
    if (branch->watch.fd < 0)
        return;
    mur_loop_unwatch(branch->loop, &branch->watch);
    close(branch->watch.fd);
    branch->watch.fd = -1;
    branch->wants_room = false;
}

void mur_branch_tick(struct mur_branch *branch)
{
    int64_t pause = mur_host_timeout() / PINGS_A_TIMEOUT;

    if (mur_loop_now() - branch->said_at > (pause < PING_MS ? pause : PING_MS) && branch->watch.fd >= 0)
        mur_branch_send(branch, MUR_BRANCH_PING, NULL, 0);
}

int64_t mur_branch_silence(const struct mur_branch *branch)
{
    return mur_loop_now() - branch->heard_at;
}
