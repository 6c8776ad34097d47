/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that listen in the loop, at the addresses where this host may be called. The owner of the listener says
 * whether one more visitor may be let in; until then visitors wait in the system's queue. */
#ifndef MUR_LAUNCH_LISTENER_H
#define MUR_LAUNCH_LISTENER_H

#include "base/address.h"
#include "launch/loop.h"

struct mur_listener {
    struct mur_loop *loop;
    struct mur_listener_socket {
        struct mur_listener *listener;
        struct mur_watch watch;
    } sockets[MUR_ADDRESSES_MAX];
    int socket_count;
    struct mur_timer pause;
    /* How many ms to wait before one more visitor is accepted; 0: none. */
    int64_t (*full_for)(void *owner);
    void (*arrived)(void *owner, int fd); /* a connected socket, which does not block */
    void *owner;
};

/* The callbacks and their owner are set before; the sockets listen already. */
void mur_listener_open(struct mur_listener *listener, struct mur_loop *loop, const int *fds, int count);

#endif
