/* SPDX-License-Identifier: BSD-3-Clause */
/* Feeds rank 0 from the terminal: one small buffer, read only when empty, so a rank that does not read holds us back.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "say.h"

#define RETRY_MS 500 /* a shell that puts a running job in the foreground tells nobody */

static void stop(struct mur_input *input)
{
    mur_loop_unwatch(input->loop, &input->from);
    mur_loop_unwatch(input->loop, &input->to);
    mur_timer_clear(&input->retry);
    close(input->to.fd);
    input->to.fd = -1;
}

/* Watches for whatever must come next: room in the pipe, or more from the terminal. */
static void proceed(void *owner)
{
    struct mur_input *input = owner;

    if (input->to.fd < 0)
        return;
    if (input->start < input->end) {
        mur_loop_unwatch(input->loop, &input->from);
        mur_loop_watch(input->loop, &input->to, EPOLLOUT);
        return;
    }
    mur_loop_unwatch(input->loop, &input->to);
    if (tcgetpgrp(STDIN_FILENO) == getpgrp()) {
        mur_loop_watch(input->loop, &input->from, EPOLLIN);
    } else {
        mur_loop_unwatch(input->loop, &input->from);
        mur_timer_set(&input->retry, RETRY_MS);
    }
}

static void pass_on(void *owner)
{
    struct mur_input *input = owner;

    while (input->start < input->end) {
        ssize_t written = write(input->to.fd, input->data + input->start, input->end - input->start);

        if (written < 0 && errno == EAGAIN)
            break;
        if (written < 0 && errno != EINTR) { /* rank 0 reads no more */
            stop(input);
            return;
        }
        if (written > 0)
            input->start += (size_t)written;
    }
    proceed(input);
}

static void read_terminal(void *owner)
{
    struct mur_input *input = owner;
    ssize_t size;

    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        proceed(input);
        return;
    }
    size = read(STDIN_FILENO, input->data, sizeof input->data);
    if (size < 0 && errno == EIO && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        proceed(input); /* put in the background just now; SIGTTIN is blocked */
        return;
    }
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (size <= 0) { /* the user's end of file, or the terminal is gone */
        stop(input);
        return;
    }
    input->start = 0;
    input->end = (size_t)size;
    pass_on(input);
}

void mur_input_open(struct mur_input *input, struct mur_loop *loop)
{
    int ends[2];

    *input = (struct mur_input){.loop = loop, .rank_fd = STDIN_FILENO, .to.fd = -1};
    if (!isatty(STDIN_FILENO))
        return;
    if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot open a pipe for the input of rank 0: %s", strerror(errno));
    input->rank_fd = ends[0];
    input->from = (struct mur_watch){.fd = STDIN_FILENO, .ready = read_terminal, .owner = input};
    input->to = (struct mur_watch){.fd = ends[1], .ready = pass_on, .owner = input};
    input->retry = (struct mur_timer){.fire = proceed, .owner = input};
    mur_loop_add_timer(loop, &input->retry);
}

void mur_input_start(struct mur_input *input)
{
    if (input->to.fd < 0)
        return;
    close(input->rank_fd);
    input->rank_fd = -1;
    proceed(input);
}
