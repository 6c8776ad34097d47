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
 *   slept on   sleep() blocks until something may have arrived, or there may be room for what was refused
 *   settled    settle(true) until it is true; after that the process may end, or go on to send
 * A transport knows no MPI types: packing comes in as a callback, and what a frame means is the business of the
 * handlers above (the kinds are in engine/engine.h). All calls are made with the engine's lock held. */
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
    /* the engine's: sends that found no room, in order */
    struct mur_backlog_entry *backlog, **backlog_tail;
    struct mur_peer *next_backlogged; /* in the list of peers with a backlog */
    bool is_backlogged;               /* in that list */
    /* flow control (pt2pt/flow.c) */
    bool is_held;       /* this process has told the peer to hold */
    size_t kept;        /* bytes kept here of the peer's messages */
    void *placing;      /* the receive whose data is arriving at its place (pt2pt/receive.c) */
    size_t eager_limit; /* messages shorter than this are sent to the peer at once; 0 while it holds */
    /* the peer's large messages (choose_way in pt2pt/rendezvous.c) */
    uint64_t last_large;     /* when the last one was complete */
    uint32_t large_times[2]; /* what each way takes, in picoseconds a byte; 0: not known */
    uint32_t since_tried;    /* messages since the slower way was last tried */
};

/* The handlers of frames by kind, filled in by the protocols above. `data` is valid during the call only. */
enum { MUR_FRAME_KINDS_MAX = 32 };
typedef void mur_frame_handler(struct mur_peer *peer, const struct mur_frame *frame, const void *data);
extern mur_frame_handler *mur_frame_handlers[MUR_FRAME_KINDS_MAX];

/* Where the data of a large frame may be put as it arrives, all of it, or NULL. The handler, called in the end, finds
 * the data there. For kinds without such a function there is no place. */
typedef void *mur_frame_placer(struct mur_peer *peer, const struct mur_frame *frame);
extern mur_frame_placer *mur_frame_placers[MUR_FRAME_KINDS_MAX];

/* The network keeps frames back; and some wait for a connection that is being made. */
extern bool mur_transport_has_unsent, mur_transport_has_early;

/* The engine has given its core to others since the last progress: whatever is polled now and then only should be
 * polled now, for each pass may take as long as many. The transport that does takes it back. */
extern bool mur_transport_has_yielded;

/* The time of mur_clock_ns by which the network wants progress to be made though nothing comes; 0: never. Progress may
 * leave it earlier than is needed. */
extern uint64_t mur_transport_due;

/* Ends the job: a frame that cannot be. Its sender has proved that it belongs to the job, so it is a mistake of the
 * library's, or memory that a program has overwritten; nothing can be believed any more. */
void mur_frame_refuse(const struct mur_peer *peer, const struct mur_frame *frame) __attribute__((noreturn, cold));

/* A frame that this process does nothing but wait for. It goes straight to where it belongs, and no handler is asked:
 * that is the shortest way for a small message, and whoever waits for it is in a hurry. Of `frame` all must be as here,
 * `bytes` at most as many. */
struct mur_awaited {
    struct mur_frame frame;
    bool is_met; /* `frame` is what has come, and nothing is awaited any more */
    void *buffer;
};
extern struct mur_awaited mur_awaited;
enum { MUR_AWAITED_NONE = UINT16_MAX }; /* a kind that no frame has */

/* Whether a frame has just this header, and at most as many bytes. */
static inline bool mur_frame_is(const struct mur_frame *frame, const struct mur_frame *wanted)
{
    uint64_t a[2], b[2]; /* all but `bytes` */

    memcpy(a, frame, sizeof a);
    memcpy(b, wanted, sizeof b);
    return a[0] == b[0] && a[1] == b[1] && frame->bytes <= wanted->bytes;
}

/* Called by transports for each frame that arrived. */
static inline void mur_deliver(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    if (!peer->placing && mur_frame_is(frame, &mur_awaited.frame)) {
        mur_copy(mur_awaited.buffer, data, frame->bytes);
        mur_awaited.frame.kind = MUR_AWAITED_NONE;
        mur_awaited.frame.bytes = frame->bytes;
        mur_awaited.is_met = true;
        return;
    }
    mur_frame_handlers[frame->kind](peer, frame, data);
}

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

    /* Sends what was kept back to go with what may follow (mur_transport_has_unsent); progress does so too. False:
     * frames wait for connections (mur_transport_has_early), which are made only while this process makes progress, so
     * a caller who is about to leave MPI should make some, and ask again. `is_last` announces that nothing more will be
     * sent: false then until all that was sent has reached the peers, and nothing of it needs this process any more. */
    bool (*settle)(bool is_last);

    /* Delivers what has arrived; returns how many frames. Once mur_awaited is met it may leave the rest. */
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
