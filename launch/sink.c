/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking output: see sink.h for why the descriptor is treated by kind. */
#include "launch/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"

static void sink_ready(void *owner)
{
    struct mur_sink *sink = owner;

    if (mur_sink_flush(sink))
        sink->writable(sink->owner);
}

void mur_sink_open(struct mur_sink *sink, struct mur_loop *loop, int fd)
{
    char path[64];
    struct stat status;
    int again = -1;

    *sink = (struct mur_sink){.loop = loop, .watch = {.fd = fd, .ready = sink_ready, .owner = sink}};
    if (fstat(fd, &status) < 0)
        return;
    if (S_ISSOCK(status.st_mode)) {
        sink->way = MUR_SINK_SOCKET;
    } else if (S_ISFIFO(status.st_mode) || isatty(fd)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (again >= 0)
            sink->watch.fd = again;
        else
            sink->way = MUR_SINK_SMALL; /* not ours to open, say after su: poll, then write what surely fits */
    }
}

void mur_sink_put(struct mur_sink *sink, const char *data, size_t size)
{
    if (sink->error)
        return;
    if (sink->start == sink->end)
        sink->start = sink->end = 0;
    if (sink->space - sink->end < size) {
        sink->space = (sink->end + size) * 2;
        sink->data = mur_alloc_again(sink->data, sink->space, 1);
    }
    memcpy(sink->data + sink->end, data, size);
    sink->end += size;
}

static ssize_t write_some(struct mur_sink *sink)
{
    const char *data = sink->data + sink->start;
    size_t size = sink->end - sink->start;
    struct pollfd room = {.fd = sink->watch.fd, .events = POLLOUT};

    switch (sink->way) {
    case MUR_SINK_SOCKET:
        return send(sink->watch.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    case MUR_SINK_SMALL: /* a pipe that polls as writable takes PIPE_BUF bytes, unless another writer is faster */
        if (poll(&room, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        return write(sink->watch.fd, data, size < PIPE_BUF ? size : PIPE_BUF);
    case MUR_SINK_PLAIN:
        break;
    }
    return write(sink->watch.fd, data, size);
}

bool mur_sink_flush(struct mur_sink *sink)
{
    while (sink->start < sink->end) {
        ssize_t written = write_some(sink);

        if (written >= 0) {
            sink->start += (size_t)written;
        } else if (errno == EAGAIN) {
            mur_loop_watch(sink->loop, &sink->watch, EPOLLOUT);
            return false;
        } else if (errno != EINTR) {
            sink->error = errno;
            sink->start = sink->end;
        }
    }
    mur_loop_unwatch(sink->loop, &sink->watch);
    return true;
}

void mur_sink_drop(struct mur_sink *sink)
{
    sink->error = sink->error ? sink->error : ECANCELED;
    sink->start = sink->end;
    mur_loop_unwatch(sink->loop, &sink->watch);
}
