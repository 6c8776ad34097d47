/* SPDX-License-Identifier: BSD-3-Clause */
/* Line-wise forwarding of many streams into one sink: the rules are in output.h.
 *
 * The streams of a channel are in an epoll set of their own, which the loop watches as a whole. So closing the gate to
 * all of them, for a sink that is full or an owner that others wait for, is one system call, however many there are. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "say.h"

#define LINE_BYTES       65536 /* a longer line goes out in pieces */
#define BATCH_BYTES      65536 /* the sink is flushed when it holds this much, and at the end of each batch */
#define PARTIAL_DELAY_MS 50
#define OWNER_PAUSE_MS   200
#define OWNER_TOTAL_MS   2000

/* ---- writing ---- */

static void put_labelled(struct mur_channel *channel, struct mur_stream *stream, const char *data, int size)
{
    char label[32];
    int label_size = snprintf(label, sizeof label, "[%d] ", stream->rank);

    if (channel->open && channel->open != stream) { /* its rank went silent in the middle of a line */
        mur_sink_put(&channel->sink, "\n", 1);
        channel->open = NULL;
    }
    while (size > 0) {
        const char *newline = memchr(data, '\n', (size_t)size);
        int length = newline ? (int)(newline - data) + 1 : size;

        if (!channel->open)
            mur_sink_put(&channel->sink, label, (size_t)label_size);
        mur_sink_put(&channel->sink, data, (size_t)length);
        channel->open = newline ? NULL : stream;
        data += length;
        size -= length;
    }
}

static void put(struct mur_stream *stream, const char *data, int size)
{
    if (size <= 0)
        return;
    if (stream->channel->output->is_labelled)
        put_labelled(stream->channel, stream, data, size);
    else
        mur_sink_put(&stream->channel->sink, data, (size_t)size);
}

/* ---- who may be read ---- */

/* Opens the gate to whoever may be read now. Called whenever the sink or the owner has changed. */
static void set_gate(struct mur_channel *channel)
{
    struct mur_loop *loop = channel->output->loop;
    bool has_room = channel->sink.start == channel->sink.end;

    if (!has_room || channel->owner)
        mur_loop_unwatch(loop, &channel->all);
    if (channel->one.is_active && (!has_room || !channel->owner || channel->owner->fd != channel->one.fd))
        mur_loop_unwatch(loop, &channel->one);
    if (!has_room)
        return;
    if (channel->owner) {
        channel->one.fd = channel->owner->fd;
        channel->one.owner = channel->owner;
        mur_loop_watch(loop, &channel->one, EPOLLIN);
    } else if (!LIST_EMPTY(&channel->streams)) {
        mur_loop_watch(loop, &channel->all, EPOLLIN);
    }
}

static void set_timer(struct mur_channel *channel)
{
    const struct mur_stream *oldest = TAILQ_FIRST(&channel->partials);

    channel->timer.deadline = 0;
    if (channel->owner)
        channel->timer.deadline = channel->owner_due;
    else if (oldest)
        channel->timer.deadline = oldest->partial_due;
}

static void own(struct mur_stream *stream)
{
    struct mur_channel *channel = stream->channel;
    int64_t now = mur_loop_now();

    if (channel->owner != stream)
        channel->owned_since = now;
    channel->owner = stream;
    channel->owner_due = now + OWNER_PAUSE_MS;
    if (channel->owner_due > channel->owned_since + OWNER_TOTAL_MS)
        channel->owner_due = channel->owned_since + OWNER_TOTAL_MS;
}

/* ---- reading ---- */

static void clear_partial(struct mur_stream *stream)
{
    if (stream->partial_due)
        TAILQ_REMOVE(&stream->channel->partials, stream, in_partials);
    stream->partial_due = 0;
    stream->partial_size = 0;
}

static void keep_partial(struct mur_stream *stream, const char *data, int size)
{
    if (stream->partial_space - stream->partial_size < size) {
        stream->partial_space = (stream->partial_size + size) * 2;
        stream->partial = mur_alloc_again(stream->partial, (size_t)stream->partial_space, 1);
    }
    memcpy(stream->partial + stream->partial_size, data, (size_t)size);
    stream->partial_size += size;
    if (!stream->partial_due) {
        stream->partial_due = mur_loop_now() + PARTIAL_DELAY_MS;
        TAILQ_INSERT_TAIL(&stream->channel->partials, stream, in_partials);
    }
}

static void show_partial(struct mur_stream *stream)
{
    put(stream, stream->partial, stream->partial_size);
    clear_partial(stream);
}

/* Passes on what a stream has delivered, and keeps the unfinished line at its end. */
static void take(struct mur_stream *stream, const char *data, int size)
{
    struct mur_channel *channel = stream->channel;
    const char *newline = memrchr(data, '\n', (size_t)size);
    int whole = newline ? (int)(newline - data) + 1 : 0;

    if (whole) {
        show_partial(stream);
        put(stream, data, whole);
        if (channel->owner == stream)
            channel->owner = NULL;
    }
    if (channel->owner != stream && stream->partial_size + size - whole < LINE_BYTES) {
        if (size > whole)
            keep_partial(stream, data + whole, size - whole);
        return;
    }
    show_partial(stream); /* a long line, or more of one already begun */
    put(stream, data + whole, size - whole);
    own(stream);
}

static void end_stream(struct mur_stream *stream)
{
    struct mur_channel *channel = stream->channel;

    show_partial(stream);
    if (channel->owner == stream)
        channel->owner = NULL;
    if (channel->one.fd == stream->fd)
        mur_loop_unwatch(channel->output->loop, &channel->one);
    LIST_REMOVE(stream, in_streams);
    close(stream->fd); /* which also takes it out of the epoll sets */
    stream->fd = -1;
    free(stream->partial);
    stream->partial = NULL;
}

static void read_stream(struct mur_stream *stream)
{
    static char data[65536]; /* what is read is passed on or copied before the next read */
    ssize_t size;

    do
        size = read(stream->fd, data, sizeof data);
    while (size < 0 && errno == EINTR);
    if (size > 0)
        take(stream, data, (int)size);
    else if (size == 0 || errno != EAGAIN || stream->channel->output->is_draining)
        end_stream(stream);
}

/* ---- events ---- */

static void report_failure(struct mur_channel *channel)
{
    int error = channel->sink.error;

    if (error && error != ECANCELED && channel->output->failed) {
        channel->sink.error = ECANCELED; /* told; the sink stays closed */
        channel->output->failed(channel->output->owner, error);
    }
}

static void settle(struct mur_channel *channel)
{
    mur_sink_flush(&channel->sink);
    report_failure(channel);
    set_gate(channel);
    set_timer(channel);
}

static void drain_channel(struct mur_channel *channel)
{
    channel->owner = NULL;
    while (!LIST_EMPTY(&channel->streams)) {
        read_stream(LIST_FIRST(&channel->streams));
        channel->owner = NULL; /* nobody is waited for any more */
        if (channel->sink.end - channel->sink.start >= BATCH_BYTES && !mur_sink_flush(&channel->sink))
            break;
    }
    settle(channel);
}

static void all_ready(void *owner)
{
    struct mur_channel *channel = owner;
    struct epoll_event events[64];
    int count = epoll_wait(channel->all.fd, events, 64, 0);

    for (int i = 0; i < count; i++) {
        read_stream(events[i].data.ptr);
        if (channel->owner)
            break; /* the others must wait; the set will name them again */
        if (channel->sink.end - channel->sink.start >= BATCH_BYTES && !mur_sink_flush(&channel->sink))
            break;
    }
    settle(channel);
}

static void one_ready(void *owner)
{
    struct mur_stream *stream = owner;

    read_stream(stream);
    settle(stream->channel);
}

static void sink_writable(void *owner)
{
    struct mur_channel *channel = owner;

    if (channel->output->is_draining)
        drain_channel(channel);
    else
        settle(channel);
}

/* An owner has paused for too long, or a line has been unfinished for long enough to be shown. */
static void time_passed(void *owner)
{
    struct mur_channel *channel = owner;
    struct mur_stream *oldest;

    if (channel->owner && channel->owner_due <= mur_loop_now())
        channel->owner = NULL;
    oldest = TAILQ_FIRST(&channel->partials);
    if (!channel->owner && oldest && oldest->partial_due <= mur_loop_now()) {
        show_partial(oldest);
        own(oldest);
    }
    settle(channel);
}

/* ---- life ---- */

static bool is_same_file(int a, int b)
{
    struct stat first;
    struct stat second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static void open_channel(struct mur_output *output, int fd)
{
    struct mur_channel *channel = &output->channels[output->channel_count++];
    int set = epoll_create1(EPOLL_CLOEXEC);

    if (set < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot create an epoll descriptor: %s", strerror(errno));
    channel->output = output;
    LIST_INIT(&channel->streams);
    TAILQ_INIT(&channel->partials);
    mur_sink_open(&channel->sink, output->loop, fd);
    channel->sink.writable = sink_writable;
    channel->sink.owner = channel;
    channel->all = (struct mur_watch){.fd = set, .ready = all_ready, .owner = channel};
    channel->one = (struct mur_watch){.fd = -1, .ready = one_ready};
    channel->timer = (struct mur_timer){.fire = time_passed, .owner = channel};
    mur_loop_add_timer(output->loop, &channel->timer);
}

void mur_output_open(struct mur_output *output, struct mur_loop *loop, bool is_labelled)
{
    output->loop = loop;
    output->is_labelled = is_labelled;
    open_channel(output, STDOUT_FILENO);
    if (!is_same_file(STDOUT_FILENO, STDERR_FILENO))
        open_channel(output, STDERR_FILENO);
}

static void add_stream(struct mur_channel *channel, struct mur_stream *stream)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = stream};

    stream->channel = channel;
    LIST_INSERT_HEAD(&channel->streams, stream, in_streams);
    if (epoll_ctl(channel->all.fd, EPOLL_CTL_ADD, stream->fd, &event) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot watch the output of rank %d: %s", stream->rank, strerror(errno));
    set_gate(channel);
}

void mur_output_add(struct mur_output *output, struct mur_stream *stdout_stream, struct mur_stream *stderr_stream)
{
    add_stream(&output->channels[0], stdout_stream);
    add_stream(&output->channels[output->channel_count - 1], stderr_stream);
}

void mur_output_drain(struct mur_output *output)
{
    output->is_draining = true;
    for (int i = 0; i < output->channel_count; i++)
        if (output->channels[i].sink.start == output->channels[i].sink.end)
            drain_channel(&output->channels[i]);
}

void mur_output_drop(struct mur_output *output)
{
    for (int i = 0; i < output->channel_count; i++)
        mur_sink_drop(&output->channels[i].sink);
    mur_output_drain(output);
}

bool mur_output_is_done(const struct mur_output *output)
{
    for (int i = 0; i < output->channel_count; i++) {
        const struct mur_channel *channel = &output->channels[i];

        if (!LIST_EMPTY(&channel->streams) || channel->sink.start != channel->sink.end)
            return false;
    }
    return true;
}
