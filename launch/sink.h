/* SPDX-License-Identifier: BSD-3-Clause */
/* A sink: one of mpiexec's own output descriptors, written to without ever blocking the agent.
 *
 * The agent must notice mpiexec's death and signals while a reader of the output sleeps, so it may not block in a
 * write; but O_NONBLOCK belongs to the open file, which the user's shell and others share. So
 * a pipe or terminal is opened anew through /proc, a socket is written with MSG_DONTWAIT, and files never block for
 * long. What the descriptor does not take stays in the sink; who feeds it stops meanwhile, which bounds the memory. */
#ifndef MUR_LAUNCH_SINK_H
#define MUR_LAUNCH_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/loop.h"

enum mur_sink_way { MUR_SINK_PLAIN, MUR_SINK_SOCKET, MUR_SINK_SMALL };

struct mur_sink {
    enum mur_sink_way way;
    struct mur_watch watch; /* active while the descriptor takes nothing */
    struct mur_loop *loop;
    char *data; /* what is not written yet: [start, end) of `space` bytes */
    size_t start, end, space;
    int error;                     /* errno of the write that failed for good; then everything is dropped */
    void (*writable)(void *owner); /* called when the sink has become empty again, or failed */
    void *owner;
};

void mur_sink_open(struct mur_sink *sink, struct mur_loop *loop, int fd);
void mur_sink_put(struct mur_sink *sink, const char *data, size_t size);
bool mur_sink_flush(struct mur_sink *sink); /* writes what it can; true when nothing is left */
void mur_sink_drop(struct mur_sink *sink);  /* forgets what is left and all that follows */

#endif
