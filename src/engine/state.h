/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the engine, all in one struct: what progress looks at in every pass, and what transports and the
 * protocols above tell each other. Transports see it, too, although they are below the engine: they deliver frames by
 * it. The engine's lock is held. */
#ifndef MUR_ENGINE_STATE_H
#define MUR_ENGINE_STATE_H

#include <stdatomic.h>

#include "transport/transport.h"

/* The handlers of frames by kind, filled in by the protocols above. `data` is valid during the call only. */
enum { MUR_FRAME_KINDS_MAX = 32 };
typedef void mur_frame_handler(struct mur_peer *peer, const struct mur_frame *frame, const void *data);

/* Where the data of a large frame may be put as it arrives, all of it, or NULL. The handler, called in the end, finds
 * the data there. For kinds without such a function there is no place. */
typedef void *mur_frame_placer(struct mur_peer *peer, const struct mur_frame *frame);

/* A frame that this process does nothing but wait for. It goes straight to where it belongs, and no handler is asked:
 * that is the shortest way for a small message. Of `frame` all must be as here,
 * `bytes` at most as many. */
struct mur_awaited {
    struct mur_frame frame;
    bool is_met; /* `frame` is what has come, and nothing is awaited any more */
    void *buffer;
};
enum { MUR_AWAITED_NONE = UINT16_MAX }; /* a kind that no frame has */

struct mur_task;

struct mur_engine {
    struct mur_awaited awaited;
    const struct mur_transport *transport; /* of the node */
    const struct mur_transport *network;   /* between nodes, and jobs; NULL: the job has one, and knows no other */
    struct mur_peer *peers;                /* [peer_count], and behind them foreign processes (engine/foreign.h) */
    struct mur_peer *backlogged;
    struct mur_task *tasks;
    const _Atomic uint32_t *bell; /* in shared memory: not 0 while others of the node want something at once, */
    bool (*answer_bell)(void);    /* which this does; true if it did something */
    bool has_unsent, has_early;   /* the network keeps frames back; and some wait for a connection that is being made */
    /* The engine has given its core to others since the last progress: whatever is polled now and then only should be
     * polled now, for each pass may take as long as many. The transport that does takes it back. */
    bool has_yielded;
    /* A rank that is about to sleep runs its tasks for the last time, those who write for it being bound to wake it
     * from then on: then is the time to look at what would cost too much in every pass. */
    bool wait_is_long;
    uint32_t calls;         /* since the latest pass that mur_engine_called has made, by weight */
    long silent_operations; /* that are under way, and end without waking this process */
    long open_operations;   /* requests whose other side still needs this process; finalize waits for zero */
    uint64_t due;   /* the time of mur_clock_ns by which the network wants progress to be made though nothing comes; 0:
                     * never. Progress may leave it earlier than is needed. */
    int peer_count; /* of the world */
    int foreign_count; /* places behind those that are or were taken */
    void *common;      /* memory that all ranks of the node find without asking, all zero at first; or NULL */
    mur_frame_handler *handlers[MUR_FRAME_KINDS_MAX];
    mur_frame_placer *placers[MUR_FRAME_KINDS_MAX];
    void (*peer_lost)(struct mur_peer *peer);    /* called from progress: a foreign peer that is connected is lost */
    void (*peer_renewed)(struct mur_peer *peer); /* a peer's number means another process from now on */
};
extern struct mur_engine mur_engine;

/* Whether a frame has just this header, and at most as many bytes. */
static inline bool mur_frame_is(const struct mur_frame *frame, const struct mur_frame *wanted)
{
    uint64_t a[2], b[2]; /* all but `bytes` */

    memcpy(a, frame, sizeof a);
    memcpy(b, wanted, sizeof b);
    return a[0] == b[0] && a[1] == b[1] && frame->bytes <= wanted->bytes;
}

/* Called by transports for each frame whose placer was asked: the handler knows what it has said. */
static inline void mur_deliver_placed(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    mur_engine.handlers[frame->kind](peer, frame, data);
}

/* Called by transports for each other frame that arrived. */
static inline void mur_deliver(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    if (mur_frame_is(frame, &mur_engine.awaited.frame)) {
        mur_copy(mur_engine.awaited.buffer, data, frame->bytes);
        mur_engine.awaited.frame.kind = MUR_AWAITED_NONE;
        mur_engine.awaited.frame.bytes = frame->bytes;
        mur_engine.awaited.is_met = true;
        return;
    }
    mur_engine.handlers[frame->kind](peer, frame, data);
}

#endif
