/* SPDX-License-Identifier: BSD-3-Clause */
/* Feeds ranks from one small buffer, which is filled only when all ranks have got it: a rank that does not read holds
 * back the others. */
#include "launch/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"

#define RETRY_MS 500 /* a shell that puts a running job in the foreground tells nobody */

static void proceed(void *owner);

/* ---- the readers ---- */

static void stop_reader(struct mur_reader *reader)
{
    mur_loop_unwatch(reader->input->loop, &reader->to);
    close(reader->to.fd);
    reader->to.fd = -1;
}

static void stop(struct mur_input *input)
{
    mur_loop_unwatch(input->loop, &input->from);
    mur_timer_clear(&input->retry);
    for (int i = 0; i < input->reader_count; i++)
        if (input->readers[i].to.fd >= 0)
            stop_reader(&input->readers[i]);
}

/* Writes what the pipe takes; false when it is full. */
static bool feed(struct mur_reader *reader)
{
    struct mur_input *input = reader->input;

    while (reader->to.fd >= 0 && reader->start < input->end) {
        ssize_t written = write(reader->to.fd, input->data + reader->start, input->end - reader->start);

        if (written > 0)
            reader->start += (size_t)written;
        else if (written < 0 && errno == EAGAIN)
            return false;
        else if (written < 0 && errno != EINTR) /* the rank reads no more */
            stop_reader(reader);
    }
    return true;
}

static void reader_ready(void *owner)
{
    struct mur_reader *reader = owner;

    if (feed(reader)) {
        mur_loop_unwatch(reader->input->loop, &reader->to);
        proceed(reader->input);
    }
}

/* Gives all readers what was read; true when they have it. */
static bool feed_all(struct mur_input *input)
{
    bool is_done = true;

    for (int i = 0; i < input->reader_count; i++) {
        struct mur_reader *reader = &input->readers[i];

        if (feed(reader))
            continue;
        is_done = false;
        mur_loop_watch(input->loop, &reader->to, EPOLLOUT);
    }
    return is_done;
}

/* ---- reading ---- */

static bool is_in_background(const struct mur_input *input)
{
    return input->is_terminal && tcgetpgrp(STDIN_FILENO) != getpgrp();
}

static bool has_readers(const struct mur_input *input)
{
    for (int i = 0; i < input->reader_count; i++)
        if (input->readers[i].to.fd >= 0)
            return true;
    return false;
}

/* Waits for whatever must come next: room in a pipe, or more to read. */
static void proceed(void *owner)
{
    struct mur_input *input = owner;

    if (!feed_all(input)) {
        mur_loop_unwatch(input->loop, &input->from);
    } else if (!has_readers(input)) {
        stop(input);
    } else if (is_in_background(input)) {
        mur_loop_unwatch(input->loop, &input->from);
        mur_timer_set(&input->retry, RETRY_MS);
    } else if (input->has_events) {
        mur_loop_watch(input->loop, &input->from, EPOLLIN);
    } else {
        mur_timer_set(&input->retry, 0);
    }
}

static void read_more(struct mur_input *input)
{
    ssize_t size = read(STDIN_FILENO, input->data, sizeof input->data);

    if (size < 0 && (errno == EINTR || errno == EAGAIN || is_in_background(input))) {
        proceed(input); /* put in the background just now; SIGTTIN is blocked */
        return;
    }
    if (size <= 0) { /* the end of file, or the terminal is gone */
        stop(input);
        return;
    }
    input->end = (size_t)size;
    for (int i = 0; i < input->reader_count; i++)
        input->readers[i].start = 0;
    proceed(input);
}

static void from_ready(void *owner)
{
    struct mur_input *input = owner;

    if (is_in_background(input))
        proceed(input);
    else
        read_more(input);
}

static void try_again(void *owner)
{
    struct mur_input *input = owner;

    if (input->has_events || is_in_background(input))
        proceed(input);
    else
        read_more(input);
}

/* ---- life ---- */

/* What epoll refuses is always ready. */
static bool can_watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC);
    bool is_taken = epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;

    close(set);
    return is_taken;
}

void mur_input_open(struct mur_input *input, struct mur_loop *loop, const struct mur_jobspec *job)
{
    bool is_for_all = job->stdin_rank == MUR_STDIN_ALL;

    *input = (struct mur_input){
        .loop = loop, .rank = job->stdin_rank, .rank_fd = -1, .is_terminal = isatty(STDIN_FILENO) == 1};
    input->is_always_piped = job->checkpointing.is_on;
    input->has_events = can_watch(STDIN_FILENO);
    input->readers = mur_alloc(is_for_all ? (size_t)job->size + (size_t)job->hosts.count : 1, sizeof *input->readers);
    input->from = (struct mur_watch){.fd = STDIN_FILENO, .ready = from_ready, .owner = input};
    input->retry = (struct mur_timer){.fire = try_again, .owner = input};
    mur_loop_add_timer(loop, &input->retry);
}

static void close_rank_end(struct mur_input *input)
{
    if (input->rank_fd >= 0)
        close(input->rank_fd);
    input->rank_fd = -1;
}

/* A pipe to a reader; returns its other end. */
static int add_reader(struct mur_input *input)
{
    struct mur_reader *reader;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot open a pipe for the standard input of ranks: %s", strerror(errno));
    reader = &input->readers[input->reader_count++];
    *reader = (struct mur_reader){.input = input};
    reader->to = (struct mur_watch){.fd = ends[1], .ready = reader_ready, .owner = reader};
    return ends[0];
}

int mur_input_take(struct mur_input *input, int rank)
{
    close_rank_end(input);
    if (input->rank != MUR_STDIN_ALL && input->rank != rank)
        return -1;
    if (input->rank == rank && !input->is_terminal && !input->is_always_piped)
        return STDIN_FILENO;
    input->rank_fd = add_reader(input);
    return input->rank_fd;
}

int mur_input_relay(struct mur_input *input)
{
    return add_reader(input);
}

void mur_input_start(struct mur_input *input)
{
    close_rank_end(input);
    if (input->reader_count)
        proceed(input);
}
