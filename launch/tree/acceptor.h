/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an agent lets its children in: a listening socket, and greetings under way (base/handshake.h), so that a
 * stranger who connects is not waited for. */
#ifndef MUR_LAUNCH_TREE_ACCEPTOR_H
#define MUR_LAUNCH_TREE_ACCEPTOR_H

#include <sys/queue.h>

#include "base/handshake.h"
#include "launch/listener.h"
#include "launch/tree/keys.h"

struct mur_acceptor {
    struct mur_loop *loop;
    const unsigned char *secret;
    int own; /* this agent's place, which callers must mean */
    uint16_t port;
    struct mur_listener listener;
    struct mur_timer timer;                       /* for those who are late */
    TAILQ_HEAD(mur_visitors, mur_visitor) silent; /* oldest first */
    struct mur_visitors proving, gone;            /* the latter to be freed */
    int silent_count;
    int has_complained; /* of another version: once is enough */
    /* Somebody has proved to be agent `place`: returns how much of its stream has been received here, or false to send
     * it away. Then the connection comes, with how much it has received, and the greeting, from which the keys of the
     * connection follow. */
    bool (*knows)(void *owner, int place, uint64_t *received);
    void (*enters)(void *owner, int place, int fd, uint64_t peer_received, const struct mur_handshake *greeting);
    /* The keys of an agent that may fetch the secret first; NULL: it may not, or its key has not come yet. */
    struct mur_keys_heard *(*may_fetch)(void *owner, int place);
    void *owner;
};

/* The callbacks, owner, secret and place are set before. False with errno: it cannot listen. */
bool mur_acceptor_open(struct mur_acceptor *acceptor, struct mur_loop *loop);

#endif
