/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets to a socket that may be full: they wait in order, and are sent when the socket takes more. So the process
 * that sends never waits for one that does not read, and nothing is lost. */
#ifndef MUR_LAUNCH_PACKETS_H
#define MUR_LAUNCH_PACKETS_H

#include <stddef.h>

#include "launch/loop.h"

struct mur_packet;

/* All zero: none waits. */
struct mur_packets {
    struct mur_packet *first, *last;
};

/* Sends a packet over the watch's descriptor, now or as soon as there is room; `fd`, unless it is -1, is given to the
 * receiver with it. While packets wait, the watch's callback is also called when there is room: it calls
 * mur_packets_flush. Where nobody can receive any more, nothing happens. */
void mur_packets_send(struct mur_packets *packets, struct mur_loop *loop, struct mur_watch *watch, const void *data,
                      size_t bytes, int fd);
void mur_packets_flush(struct mur_packets *packets, struct mur_loop *loop, struct mur_watch *watch);

/* Forgets those that wait. */
void mur_packets_drop(struct mur_packets *packets);

#endif
