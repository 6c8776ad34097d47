/* SPDX-License-Identifier: BSD-3-Clause */
/* What the servers of mpijob share of HTTP: a socket that listens, and streams.
 *
 * A stream is an answer whose end is not known. libmicrohttpd asks for its next bytes; when there are none, the
 * connection rests until mur_streams_step finds that the stream is ready. All is one thread's. */
#ifndef MUR_MPIJOB_STREAM_H
#define MUR_MPIJOB_STREAM_H

#include <microhttpd.h>
#include <stdbool.h>
#include <sys/types.h>

struct mur_http_stream {
    struct mur_http_stream *next;
    void *connection;
    int fd; /* of the connection, watched for its end while the stream rests */
    bool is_resting, is_lost;
    const char *content_type;
    ssize_t (*read)(struct mur_http_stream *stream, char *to, size_t room); /* 0: nothing now; -1: the end */
    bool (*is_ready)(const struct mur_http_stream *stream, double now);
    void (*free)(struct mur_http_stream *stream);
};

/* A socket that listens at "HOST:PORT"; ends the program if that does not work. */
int mur_http_listen(const char *address, int *port);

void mur_streams_start(struct MHD_Daemon *daemon); /* before the first request */
int mur_streams_descriptor(void);                  /* readable: the daemon, or mur_streams_step, has something to do */
/* An answer that the caller queues; it frees the stream. NULL: there is none, and the stream has been freed. */
struct MHD_Response *mur_stream_response(struct MHD_Connection *connection, struct mur_http_stream *stream);
void mur_streams_step(struct MHD_Daemon *daemon, double now);
void mur_streams_stop(struct MHD_Daemon *daemon); /* before the daemon is stopped */

#endif
