/* SPDX-License-Identifier: BSD-3-Clause */
/* A branch of the tree of agents: the messages between an agent and one that it started on another host.
 *
 * Like the links between ranks (src/transport/tcp), a branch is a pair of streams that outlive connections: what was
 * sent is kept until it is acknowledged, and goes on, after a connection has broken, where the other side's receiving
 * ended. The child calls its parent, at first and whenever the connection breaks; acceptor.c lets it in. Each
 * connection is sealed (seal.h) with keys that follow from the job's secret and the nonces of its greeting: bytes that
 * were altered, dropped, repeated or put in another order break it, and the stream goes on by the next one.
 *
 * Both sides say something every second. A side that has not heard from the other for MUR_HOST_TIMEOUT
 * (30 s) takes it for lost. */
#ifndef MUR_LAUNCH_TREE_BRANCH_H
#define MUR_LAUNCH_TREE_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/handshake.h"
#include "launch/loop.h"
#include "launch/seal.h"

enum mur_branch_kind {
    MUR_BRANCH_ACK = 1, /* a uint64_t: how many bytes have been received */
    MUR_BRANCH_PING,
    MUR_BRANCH_SPEC,         /* down, first: what the job is (spec.c), and which agents are below the child */
    MUR_BRANCH_FRAME,        /* a struct mur_tree_frame (frame.h), both ways */
    MUR_BRANCH_PUT,          /* up: a key, a NUL, a value */
    MUR_BRANCH_GET,          /* up: a key */
    MUR_BRANCH_VALUE,        /* down: a key, a NUL, its value */
    MUR_BRANCH_ASK,          /* up: a key, whose value is told if there is one now */
    MUR_BRANCH_NO_VALUE,     /* down: a key that has none */
    MUR_BRANCH_BARRIER,      /* up: all ranks below are in the barrier of PMI; down: all of the job are */
    MUR_BRANCH_OUTPUT,       /* up: a byte, 0 for stdout and 1 for stderr, and what ranks have written */
    MUR_BRANCH_OUTPUT_TAKEN, /* down: that byte, then a uint32_t: how many bytes may follow now */
    MUR_BRANCH_INPUT,        /* down: standard input; empty: its end */
    MUR_BRANCH_INPUT_TAKEN,  /* up: the latest input has been read; a byte: whether any more is wanted */
};

enum { MUR_BRANCH_MESSAGE_MAX = 64 << 20 };

struct mur_branch {
    struct mur_loop *loop;
    struct mur_watch watch; /* fd -1: not connected */
    bool wants_room;
    bool is_paused; /* messages wait, unread, until mur_branch_resume */
    char *out;      /* the stream from `acked` on */
    size_t out_start, out_end, out_space;
    uint64_t acked, sent, queued; /* positions */
    uint64_t news;                /* where the latest message ends that is no ACK */
    char *in;                     /* a message that has not come whole */
    size_t in_bytes, in_space;
    uint64_t received;
    int64_t heard_at, said_at;
    bool is_barren; /* nothing has come by this connection yet */
    struct mur_seal seal;
    void (*message)(void *owner, uint32_t kind, const char *data, size_t bytes);
    void (*broken)(void *owner, int error); /* 0: the other side closed it; EBADMSG: somebody has altered the stream */
    void *owner;
};

/* The callbacks and their owner are set before. */
void mur_branch_open(struct mur_branch *branch, struct mur_loop *loop);

/* Goes on with a new connection after this greeting, whose other end has received so much. False: that cannot be. */
bool mur_branch_attach(struct mur_branch *branch, int fd, uint64_t peer_received, const struct mur_handshake *greeting,
                       bool is_caller);
void mur_branch_detach(struct mur_branch *branch);

void mur_branch_resume(struct mur_branch *branch);

void mur_branch_send(struct mur_branch *branch, uint32_t kind, const void *data, size_t bytes);
/* The same in two parts. */
void mur_branch_send_parts(struct mur_branch *branch, uint32_t kind, const void *first, size_t first_bytes,
                           const void *second, size_t second_bytes);
static inline bool mur_branch_is_flushed(const struct mur_branch *branch)
{
    return branch->acked >= branch->news;
}

/* Says something, if nothing was said lately. Called now and then. */
void mur_branch_tick(struct mur_branch *branch);
int64_t mur_branch_silence(const struct mur_branch *branch); /* ms since something was heard */

int64_t mur_host_timeout(void); /* ms */

#endif
