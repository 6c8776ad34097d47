/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwards the ranks' stdout and stderr to mpiexec's, by whole lines.
 *
 * Rules:
 *   - The bytes of a rank's stream come out as they went in, in order. With labels, each line starts with one
 * (label.h).
 *   - Lines never mix: what leaves at once is whole lines. A line still unfinished after 50 ms is shown as far as it is
 *     (it may be a prompt), as are the pieces of a line longer than 64 KiB. Its stream then owns the output: others
 * wait until the line ends, until 200 ms pass without more of it, or 2 s at most, so that nobody can silence the job.
 *     If others then write, labels get a line of their own (a newline is added); without labels nothing is ever added.
 *   - Nothing is read that cannot be passed on: a slow reader of our output slows the ranks, and memory stays bounded.
 * stdout and stderr are two channels, or one when both are the same file, so that they do not tear each other's lines.
 *
 * Files for the ranks' output (-outfile-pattern, -errfile-pattern) are channels as well, one a name: ranks that share a
 * name share the file by the same rules. Copies (-output-filename) are written beside, byte for byte, as the streams
 * are read. Files are made on the host where the rank runs. */
#ifndef MUR_LAUNCH_OUTPUT_H
#define MUR_LAUNCH_OUTPUT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "launch/jobspec.h"
#include "launch/loop.h"
#include "launch/sink.h"

struct mur_channel;

struct mur_stream { /* one rank's stdout or stderr */
    struct mur_channel *channel;
    int fd; /* -1: ended */
    int rank;
    bool is_stderr;
    bool is_relay; /* what an agent below has gathered: `rank` is -1, and the labels are in it */
    void (*consumed)(struct mur_stream *stream, int size); /* called with the bytes that were read; NULL: none */
    void *owner;                                           /* of `consumed` */
    int copy_fd;                                           /* -1: none */
    char *partial;                                         /* the unfinished line, allocated when there is one */
    int partial_size, partial_space;
    int64_t partial_due; /* when it is shown unfinished; 0: there is none */
    TAILQ_ENTRY(mur_stream) in_partials;
    LIST_ENTRY(mur_stream) in_streams;
};

struct mur_channel {
    struct mur_output *output;
    struct mur_channel *next;
    char *name; /* of its file; NULL: our own stdout or stderr */
    struct mur_sink sink;
    LIST_HEAD(, mur_stream) streams;   /* those that have not ended */
    TAILQ_HEAD(, mur_stream) partials; /* those with an unfinished line, oldest first */
    struct mur_stream *owner;          /* whose line is shown in part; the others are not read */
    struct mur_stream *open;           /* whose line our output ends in; NULL: it ends with a newline */
    int64_t owned_since;               /* when `owner` began */
    int64_t owner_due;                 /* when it loses the channel */
    struct mur_watch all;              /* an epoll set of all streams; active when anyone may be read */
    struct mur_watch one;              /* the owner alone */
    struct mur_timer timer;            /* for partial_due and owner_due */
};

struct mur_output {
    const struct mur_jobspec *job;
    struct mur_loop *loop;
    struct mur_channel *channels;
    struct mur_channel *out; /* the one of our stdout */
    struct mur_channel *err; /* of our stderr; maybe the same */
    bool is_labelled;
    bool is_draining;
    /* The file `name`, NULL for our stdout or stderr, cannot be written; called once a channel. */
    void (*failed)(void *owner, const char *name, int error);
    void *owner;
};

void mur_output_open(struct mur_output *output, struct mur_loop *loop, const struct mur_jobspec *job);
/* The streams' fd and rank are set. */
void mur_output_add(struct mur_output *output, struct mur_stream *stdout_stream, struct mur_stream *stderr_stream);
/* The same for streams of another agent, which go to our stdout and stderr. */
void mur_output_add_relay(struct mur_output *output, struct mur_stream *stdout_stream,
                          struct mur_stream *stderr_stream);
/* All writers are dead: reads what is left in the pipes without waiting for their end. */
void mur_output_drain(struct mur_output *output);
void mur_output_drop(struct mur_output *output); /* gives up what has not been written */
bool mur_output_is_done(const struct mur_output *output);

#endif
