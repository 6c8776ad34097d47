/* SPDX-License-Identifier: BSD-3-Clause */
/* What a transport is, and its life.
 *
 * A transport moves frames (a small header and some bytes) to peers, in order, each exactly once.
 *   found      engine/engine.c knows it, by its one table of operations, struct mur_transport. What only processes of
 *              one node share, and no network can have, is no transport's business (node/node.h)
 *   opened     open() once a process, with the table of all peers; it may fail with an error code
 *   connected  nothing happens until the first send to a peer, which makes the path
 *   used       send() and send_packed() take a frame or refuse it (false: no room now, nothing happened, try again
 *              after progress); progress() delivers frames that arrived, by calling mur_deliver for each
 * (engine/state.h) slept on   sleep() blocks until something may have arrived, or there may be room for what was
 * refused settled    settle(true) until it is true; after that the process may end, or go on to send A transport knows
 * no MPI types: packing comes in as a callback, and what a frame means is the business of the handlers above (the kinds
 * are in engine/engine.h). All calls are made with the engine's lock held. */
#ifndef MUR_TRANSPORT_TRANSPORT_H
#define MUR_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/copy.h"

/* The header of a frame. `bytes` of data follow it. */
struct mur_frame {
    uint16_t kind; /* enum mur_frame_kind in engine/engine.h */
    uint16_t flags;
    uint32_t context;
    int32_t source; /* rank in the context's communicator */
    int32_t tag;
    uint32_t bytes;
};
_Static_assert(offsetof(struct mur_frame, bytes) == 16, "two words name a frame (mur_frame_is)");

/* A frame without flags, whose name is stored in one piece. It is soon loaded again as words or as a whole; a processor
 * can hand that over from a store still under way only if it is the same store or a part of it, and otherwise waits
 * until all stores before have reached the cache, which may be those of a message just received. */
static inline struct mur_frame mur_frame_make(uint16_t kind, uint32_t context, int32_t source, int32_t tag,
                                              uint32_t bytes)
{
    struct mur_frame frame = {.bytes = bytes};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    mur_word16 name = {(long long)((uint64_t)context << 32 | kind),
                       (long long)((uint64_t)(uint32_t)tag << 32 | (uint32_t)source)};

    memcpy(&frame, &name, sizeof name);
#else
    frame.kind = kind;
    frame.context = context;
    frame.source = source;
    frame.tag = tag;
#endif
    return frame;
}

/* A flag of frames, whatever their kind: one of many that carry one large message. */
enum { MUR_FRAME_STREAM = 0x4000 };

struct mur_transport;
struct mur_backlog_entry;
struct mur_foreign;

/* A process of the job, or of another one, as seen from this one. */
struct mur_peer {
    const struct mur_transport *transport;
    void *link; /* the transport's path to the peer; NULL before first use */
    int process;
    int local;                   /* its rank among those that share memory with this process; -1: it does not */
    struct mur_foreign *foreign; /* what is known of a process of another job (transport/foreign.h); else NULL */
    /* sends that found no room, in order (mur_engine_backlog_add) */
    struct mur_backlog_entry *backlog, **backlog_tail;
    struct mur_peer *next_backlogged; /* in the list of peers with a backlog */
    bool is_backlogged;               /* in that list */
};

/* Ends the job: a frame that cannot be. Its sender has proved that it belongs to the job, so it is a mistake of the
 * library's, or memory that a program has overwritten; nothing can be believed any more. */
void mur_frame_refuse(const struct mur_peer *peer, const struct mur_frame *frame) __attribute__((noreturn, cold));

/* Writes the next `bytes` bytes of the frame's data to `out`: all of them, or one part after the other. */
typedef void mur_pack_function(void *argument, void *out, size_t bytes);

typedef void mur_sent_function(void *argument);

/* What befalls this process, and transports have to do something about. */
enum mur_transport_event {
    MUR_TRANSPORT_SETTINGS, /* a tool has changed a setting: those that may change while it runs are read anew */
    MUR_TRANSPORT_LEAVING,  /* it leaves MPI, after settle(true) */
    MUR_TRANSPORT_BACK,     /* it opens its next session */
    MUR_TRANSPORT_FORKED,   /* it is a child that was forked, and closes its copies of all connections */
};

/* Every transport has all operations. */
struct mur_transport {
    const char *name;
    uint32_t frame_max;    /* most bytes of data in one frame; known after open */
    uint32_t piece_max;    /* bytes of a frame that suit a large message which is cut into many; known after open */
    uint32_t straight_max; /* bytes that send_straight takes at most; 0: it copies, and wins nothing */
    size_t eager_max;      /* bytes of the largest message that is sent at once; known after open */
    /* Pieces of a large message, written by one core while another reads them, may be faster than copying between the
     * memories of processes; known after open. */
    bool may_prefer_pieces;

    /* Makes itself the transport of those of the `count` peers that it can reach and that have none yet. */
    int (*open)(struct mur_peer *peers, int count);

    void (*notify)(enum mur_transport_event event);

    bool (*send)(struct mur_peer *peer, const struct mur_frame *frame, const void *data);
    bool (*send_packed)(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument);

    /* Sends `data` from where it is, and leaves it alone after sent(argument) only, which may be called before this
     * returns. */
    bool (*send_straight)(struct mur_peer *peer, const struct mur_frame *frame, const void *data,
                          mur_sent_function *sent, void *argument);

    /* Sends what was kept back to go with what may follow (mur_engine.has_unsent); progress does so too. False:
     * frames wait for connections (mur_engine.has_early), which are made only while this process makes progress, so
     * a caller who is about to leave MPI should make some, and ask again. `is_last` announces that nothing more will be
     * sent: false then until all that was sent has reached the peers, and nothing of it needs this process any more. */
    bool (*settle)(bool is_last);

    /* Delivers what has arrived; returns how many frames. Once mur_engine.awaited is met it may leave the rest. */
    int (*progress)(void);

    /* If the next frame of the peer's has arrived, or does while this looks so many times, and is this one
     * (mur_frame_is), puts its data at `buffer` instead of delivering it, and returns its bytes; else -1, always so in
     * transports that cannot tell. */
    int64_t (*take)(struct mur_peer *peer, const struct mur_frame *wanted, void *buffer, int looks);

    /* Whether the peer has left MPI, and all that it sent before is delivered: it takes no more frames, unless it opens
     * another session. Once this was asked, this process is woken when the peer leaves. */
    bool (*has_left)(struct mur_peer *peer);

    /* Sleeping. prepare_sleep arranges to be woken when a frame arrives, or when one of these peers (a list by
     * next_backlogged, of any transport), to which sends were refused, may have room again; false when there is
     * something to do already. sleep blocks, until a time of mur_clock_ns at the latest (UINT64_MAX: any), and is the
     * one call made without the engine's lock. One transport sleeps for all: the network's, where there is one, which
     * then also listens to the doorbell by which the node wakes this process (mur_node_doorbell). What ends a sleep is
     * in node/node.h: mur_node_wake, mur_node_end_sleep. */
    bool (*prepare_sleep)(const struct mur_peer *refused);
    void (*sleep)(uint64_t until);
};

extern struct mur_transport mur_shm_transport; /* of the node */
extern struct mur_transport mur_tcp_transport; /* between nodes, and jobs */

/* Of processes that are lost: it takes everything, and delivers nothing. Nobody says of what goes straight that it was
 * sent: its requests fail. */
extern struct mur_transport mur_nowhere_transport;

/* Whether MUR_TRANSPORT, or its default, names this transport. A process always reaches itself by shared memory. */
bool mur_transport_is_wanted(const char *name);

/* An error where MUR_TRANSPORT names something else. */
int mur_transport_check(void);

#endif
