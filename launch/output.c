/* SPDX-License-Identifier: BSD-3-Clause */
/* Line-wise forwarding of many streams into one sink: the rules are in output.h.
 *
 * The streams of a channel are in an epoll set of their own, which the loop watches as a whole. So closing the gate to
 * all of them, for a sink that is full or an owner that others wait for, is one system call, however many there are. */
#include "launch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/label.h"
#include "launch/say.h"

#define LINE_BYTES       65536 /* a longer line goes out in pieces */
#define BATCH_BYTES      65536 /* the sink is flushed when it holds this much, and at the end of each batch */
#define PARTIAL_DELAY_MS 50
#define OWNER_PAUSE_MS   200
#define OWNER_TOTAL_MS   2000

/* ---- writing ---- */

static void put_labelled(struct mur_channel *channel, struct mur_stream *stream, const char *data, int size)
{
    char label[512];
    size_t label_size = mur_label_make(channel->output->job, stream->rank, stream->is_stderr, label, sizeof label);

    if (channel->open && channel->open != stream) { /* its rank went silent in the middle of a line */
        mur_sink_put(&channel->sink, "\n", 1);
        channel->open = NULL;
    }
    while (size > 0) {
        const char *newline = memchr(data, '\n', (size_t)size);
        int length = newline ? (int)(newline - data) + 1 : size;

        if (!channel->open)
            mur_sink_put(&channel->sink, label, label_size);
        mur_sink_put(&channel->sink, data, (size_t)length);
        channel->open = newline ? NULL : stream;
        data += length;
        size -= length;
    }
}

/* Labels are in it already; only an unfinished line of somebody else's may need an end. */
static void put_relayed(struct mur_channel *channel, struct mur_stream *stream, const char *data, int size)
{
    if (channel->open && channel->open != stream)
        mur_sink_put(&channel->sink, "\n", 1);
    mur_sink_put(&channel->sink, data, (size_t)size);
    channel->open = data[size - 1] == '\n' ? NULL : stream;
}

static void put(struct mur_stream *stream, const char *data, int size)
{
    if (size <= 0)
        return;
    if (stream->is_relay && stream->channel->output->is_labelled)
        put_relayed(stream->channel, stream, data, size);
    else if (stream->channel->output->is_labelled)
        put_labelled(stream->channel, stream, data, size);
    else
        mur_sink_put(&stream->channel->sink, data, (size_t)size);
}

/* ---- who may be read ---- */

/* Watches the streams that may be read now. Called when the sink or the owner has changed. */
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
    if (stream->copy_fd >= 0)
        close(stream->copy_fd);
    close(stream->fd); /* which also takes it out of the epoll sets */
    stream->fd = -1;
    free(stream->partial);
    stream->partial = NULL;
}

static void report_failure(struct mur_output *output, const char *name, int error)
{
    if (output->failed)
        output->failed(output->owner, name, error);
}

/* Writes to the copy; it is a plain file, which takes what it gets at once or not at all. */
static void copy(struct mur_stream *stream, const char *data, size_t size)
{
    while (size > 0 && stream->copy_fd >= 0) {
        ssize_t written = write(stream->copy_fd, data, size);

        if (written < 0 && errno != EINTR) {
            report_failure(stream->channel->output, stream->channel->output->job->formats.copies, errno);
            close(stream->copy_fd);
            stream->copy_fd = -1;
        } else if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
}

static void read_stream(struct mur_stream *stream)
{
    static char data[65536]; /* what is read is passed on or copied before the next read */
    ssize_t size;

    do
        size = read(stream->fd, data, sizeof data);
    while (size < 0 && errno == EINTR);
    if (size > 0) {
        copy(stream, data, (size_t)size);
        take(stream, data, (int)size);
        if (stream->consumed)
            stream->consumed(stream, (int)size);
    } else if (size == 0 || errno != EAGAIN || stream->channel->output->is_draining) {
        end_stream(stream);
    }
}

/* ---- events ---- */

static void report_sink(struct mur_channel *channel)
{
    int error = channel->sink.error;

    if (error && error != ECANCELED) {
        channel->sink.error = ECANCELED; /* told; the sink stays closed */
        report_failure(channel->output, channel->name, error);
    }
}

static void settle(struct mur_channel *channel)
{
    mur_sink_flush(&channel->sink);
    report_sink(channel);
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

static struct mur_channel *open_channel(struct mur_output *output, int fd, char *name)
{
    struct mur_channel *channel = mur_alloc(1, sizeof *channel);
    int set = epoll_create1(EPOLL_CLOEXEC);

    if (set < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot create an epoll descriptor: %s", strerror(errno));
    channel->output = output;
    channel->name = name;
    channel->next = output->channels;
    output->channels = channel;
    LIST_INIT(&channel->streams);
    TAILQ_INIT(&channel->partials);
    mur_sink_open(&channel->sink, output->loop, fd);
    channel->sink.writable = sink_writable;
    channel->sink.owner = channel;
    channel->all = (struct mur_watch){.fd = set, .ready = all_ready, .owner = channel};
    channel->one = (struct mur_watch){.fd = -1, .ready = one_ready};
    channel->timer = (struct mur_timer){.fire = time_passed, .owner = channel};
    mur_loop_add_timer(output->loop, &channel->timer);
    return channel;
}

void mur_output_open(struct mur_output *output, struct mur_loop *loop, const struct mur_jobspec *job)
{
    output->loop = loop;
    output->job = job;
    output->is_labelled = mur_label_is_wanted(job);
    output->out = output->err = open_channel(output, STDOUT_FILENO, NULL);
    if (!is_same_file(STDOUT_FILENO, STDERR_FILENO))
        output->err = open_channel(output, STDERR_FILENO, NULL);
}

/* ---- files ---- */

static int open_file(const char *name)
{
    /* Without a reader a pipe of that name fails instead of waiting for one. */
    return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
}

/* The channel of the file `name`, which is kept; `otherwise` when it cannot be opened. */
static struct mur_channel *file_channel(struct mur_output *output, char *name, struct mur_channel *otherwise)
{
    int fd;

    for (struct mur_channel *channel = output->channels; channel; channel = channel->next)
        if (channel->name && strcmp(channel->name, name) == 0) {
            free(name);
            return channel;
        }
    fd = open_file(name);
    if (fd >= 0)
        return open_channel(output, fd, name);
    report_failure(output, name, errno);
    return otherwise;
}

/* Makes the directories that `name` is to lie in; what fails shows when the file is opened. */
static void make_directories(char *name)
{
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0777);
        *slash = '/';
    }
}

/* DIR/1/rank.07/stdout: the number of the job and as many digits as its highest rank needs. */
static char *copy_name(const struct mur_output *output, const struct mur_stream *stream)
{
    int width = snprintf(NULL, 0, "%d", output->job->size - 1);
    char *name = mur_alloc_text("%s/1/rank.%0*d/%s", output->job->formats.copies, width, stream->rank,
                                stream->is_stderr ? "stderr" : "stdout");

    make_directories(name);
    return name;
}

static struct mur_channel *choose_channel(struct mur_output *output, struct mur_stream *stream)
{
    const struct mur_formats *formats = &output->job->formats;
    bool is_stderr = stream->is_stderr && !formats->is_merged;
    struct mur_channel *channel = is_stderr ? output->err : output->out;
    const char *pattern = is_stderr ? formats->err : formats->out;
    char name[4096];

    if (pattern) {
        mur_pattern_expand(pattern, output->job, stream->rank, name, sizeof name);
        return file_channel(output, mur_alloc_text("%s", name), channel);
    }
    if (formats->copies && formats->has_copies_only) {
        stream->is_stderr = is_stderr; /* merged: into the one file */
        return file_channel(output, copy_name(output, stream), channel);
    }
    return channel;
}

static void open_copy(struct mur_output *output, struct mur_stream *stream)
{
    char *name;

    if (!output->job->formats.copies || output->job->formats.has_copies_only)
        return;
    name = copy_name(output, stream);
    stream->copy_fd = open_file(name);
    if (stream->copy_fd < 0)
        report_failure(output, name, errno);
    free(name);
}

static void watch_stream(struct mur_stream *stream, struct mur_channel *channel)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = stream};

    stream->channel = channel;
    LIST_INSERT_HEAD(&channel->streams, stream, in_streams);
    if (epoll_ctl(channel->all.fd, EPOLL_CTL_ADD, stream->fd, &event) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot watch the output of rank %d: %s", stream->rank, strerror(errno));
    set_gate(channel);
}

static void add_stream(struct mur_output *output, struct mur_stream *stream, bool is_stderr)
{
    stream->is_stderr = is_stderr;
    stream->copy_fd = -1;
    open_copy(output, stream);
    watch_stream(stream, choose_channel(output, stream));
}

void mur_output_add_relay(struct mur_output *output, struct mur_stream *stdout_stream, struct mur_stream *stderr_stream)
{
    watch_stream(stdout_stream, output->out);
    watch_stream(stderr_stream, output->err);
}

void mur_output_add(struct mur_output *output, struct mur_stream *stdout_stream, struct mur_stream *stderr_stream)
{
    add_stream(output, stdout_stream, false);
    add_stream(output, stderr_stream, true);
}

void mur_output_drain(struct mur_output *output)
{
    output->is_draining = true;
    for (struct mur_channel *channel = output->channels; channel; channel = channel->next)
        if (channel->sink.start == channel->sink.end)
            drain_channel(channel);
}

void mur_output_drop(struct mur_output *output)
{
    for (struct mur_channel *channel = output->channels; channel; channel = channel->next)
        mur_sink_drop(&channel->sink);
    mur_output_drain(output);
}

bool mur_output_is_done(const struct mur_output *output)
{
    for (const struct mur_channel *channel = output->channels; channel; channel = channel->next)
        if (!LIST_EMPTY(&channel->streams) || channel->sink.start != channel->sink.end)
            return false;
    return true;
}
