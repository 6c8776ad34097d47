/* SPDX-License-Identifier: BSD-3-Clause */
/* What point-to-point messages keep of each peer, beside what its transport does. */
#ifndef MUR_PT2PT_PEER_H
#define MUR_PT2PT_PEER_H

#include "engine/engine.h"
#include "engine/pace.h"

struct mur_pt2pt_peer {
    /* flow control (pt2pt/flow.c) */
    bool is_closed; /* the peer has told this process to hold, or is lost: no message is sent to it at once */
    bool is_held;   /* this process has told the peer to hold */
    size_t kept;    /* bytes kept here of the peer's messages */
    void *placing;  /* the receive whose data is arriving at its place (pt2pt/receive.c) */
    /* the peer's large messages (choose_way in pt2pt/rendezvous.c) */
    uint64_t last_large; /* when the last one was complete */
    struct mur_pace large;
    /* messages to the peer that were announced first, for those who look from outside (boot/look.h) */
    uint64_t announced, announced_bytes;
} __attribute__((aligned(64)));

/* By the number of the process; all zero at first. */
extern struct mur_pt2pt_peer *mur_pt2pt_peers;

static inline struct mur_pt2pt_peer *mur_pt2pt_peer(const struct mur_peer *peer)
{
    return &mur_pt2pt_peers[peer->process];
}

#endif
