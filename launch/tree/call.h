/* SPDX-License-Identifier: BSD-3-Clause */
/* The child's side of an acceptor: calling the parent, in the loop. Nothing waits: a parent that is cut off must not
 * keep this agent from its own ranks and children. */
#ifndef MUR_LAUNCH_TREE_CALL_H
#define MUR_LAUNCH_TREE_CALL_H

#include "base/address.h"
#include "base/handshake.h"
#include "launch/loop.h"

struct mur_parent_call {
    /* set before the first call */
    const unsigned char *secret;
    int own, parent; /* places */
    /* The call is over: the connection, and how much of this side's stream the parent has; or -1 and why not. */
    void (*over)(void *owner, int fd, int error, uint64_t peer_received);
    void *owner;
    /* the call's own */
    struct mur_loop *loop;
    struct mur_watch watch;
    struct mur_timer timer;
    struct mur_handshake handshake;
    enum { MUR_CALL_CONNECTING, MUR_CALL_CHALLENGE, MUR_CALL_WELCOME } awaited;
    uint64_t received; /* of the parent's stream */
    int error;         /* of a call that failed at once */
    size_t got;
    union {
        struct mur_challenge challenge;
        struct mur_welcome welcome;
    } message;
};

void mur_call_init(struct mur_parent_call *call, struct mur_loop *loop);

/* `received` is what has come from the parent so far. `over` follows, never from within this. */
void mur_call_start(struct mur_parent_call *call, const struct mur_address *address, uint64_t received);

#endif
