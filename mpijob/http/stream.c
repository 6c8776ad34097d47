/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: see stream.h. */
#include "mpijob/http/stream.h"

#include <sys/epoll.h>

enum { BLOCK = 16 << 10 }; /* bytes */

static struct {
    int events;
    struct mur_http_stream *list;
} streams = {.events = -1};

static ssize_t stream_read(void *whom, uint64_t position, char *to, size_t room)
{
    struct mur_http_stream *stream = whom;
    struct epoll_event event = {.events = EPOLLRDHUP, .data.ptr = stream};
    ssize_t got;

    (void)position;
    if (stream->is_lost)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    got = stream->read(stream, to, room);
    if (got < 0)
        return stream->is_lost ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    if (got == 0) {
        stream->is_resting = true;
        MHD_suspend_connection(stream->connection);
        epoll_ctl(streams.events, EPOLL_CTL_ADD, stream->fd, &event);
    }
    return got;
}

static void stream_free(void *whom)
{
    struct mur_http_stream *stream = whom, **at = &streams.list;

    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    stream->free(stream);
}

static void wake(struct mur_http_stream *stream)
{
    epoll_ctl(streams.events, EPOLL_CTL_DEL, stream->fd, NULL);
    stream->is_resting = false;
    MHD_resume_connection(stream->connection);
}

struct MHD_Response *mur_stream_response(struct MHD_Connection *connection, struct mur_http_stream *stream)
{
    struct MHD_Response *response;

    stream->connection = connection;
    stream->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    stream->next = streams.list;
    streams.list = stream;
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, stream_read, stream, stream_free);
    if (response)
        MHD_add_response_header(response, "Content-Type", stream->content_type);
    else
        stream_free(stream);
    return response;
}

void mur_streams_start(struct MHD_Daemon *daemon)
{
    struct epoll_event event = {.events = EPOLLIN};

    streams.events = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(streams.events, EPOLL_CTL_ADD, MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &event);
}

int mur_streams_descriptor(void)
{
    return streams.events;
}

/* Clients that have hung up while their stream rested. */
static void find_lost(void)
{
    struct epoll_event events[64];
    int count = epoll_wait(streams.events, events, 64, 0);

    for (int i = 0; i < count; i++) {
        struct mur_http_stream *stream = events[i].data.ptr;

        if (stream) {
            stream->is_lost = true;
            wake(stream);
        }
    }
}

void mur_streams_step(struct MHD_Daemon *daemon, double now)
{
    find_lost();
    MHD_run(daemon);
    for (struct mur_http_stream *stream = streams.list; stream; stream = stream->next)
        if (stream->is_resting && stream->is_ready(stream, now))
            wake(stream);
    MHD_run(daemon);
}

void mur_streams_stop(struct MHD_Daemon *daemon)
{
    for (struct mur_http_stream *stream = streams.list; stream; stream = stream->next) {
        stream->is_lost = true;
        if (stream->is_resting)
            wake(stream);
    }
    MHD_run(daemon);
}
