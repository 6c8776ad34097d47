/* SPDX-License-Identifier: BSD-3-Clause */
/* What a transport is, and its life.
 *
 * A transport moves frames (a small header and some bytes) to peers, in order, each exactly once.
 *   found      engine/engine.c knows it, by its one table of operations, struct mur_transport
 *   opened     open() once a process, with the table of all peers; it may fail with an error code
 *   connected  nothing happens until the first send to a peer, which makes the path
 *   used       send() and send_packed() take a frame or refuse it (false: no room now, nothing happened, try again
 *              after progress); progress() delivers frames that arrived, by calling mur_deliver for each
 *   slept on   sleep() blocks until something may have arrived, or there may be room for what was refused
 *   closed     close() once; frames sent before still reach their peers
 * A transport knows no MPI types: packing comes in as a callback, and what a frame means is the business of the
 * handlers above (the kinds are in engine/engine.h). All calls are made with the engine's lock held. */
#ifndef MUR_TRANSPORT_TRANSPORT_H
#define MUR_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* The header of a frame. `bytes` of data follow it. */
struct mur_frame {
    uint16_t kind; /* enum mur_frame_kind in engine/engine.h */
    uint16_t flags;
    uint32_t context;
    int32_t source; /* rank in the context's communicator */
    int32_t tag;
    uint32_t bytes;
};

struct mur_transport;
struct mur_backlog_entry;

/* A process of the job, as seen from this one. */
struct mur_peer {
    const struct mur_transport *transport;
    void *link; /* the transport's path to the peer; NULL before first use */
    int process;
    /* the engine's: sends that found no room, in order */
    struct mur_backlog_entry *backlog, **backlog_tail;
    struct mur_peer *next_backlogged; /* in the list of peers with a backlog */
    bool is_backlogged;               /* in that list */
    /* flow control (pt2pt/flow.c) */
    bool is_held;       /* this process has told the peer to hold */
    size_t kept;        /* bytes kept here of the peer's messages */
    size_t eager_limit; /* messages shorter than this are sent to the peer at once; 0 while it holds */
};

/* The handlers of frames by kind, filled in by the protocols above. `data` is valid during the call only. */
enum { MUR_FRAME_KINDS_MAX = 32 };
typedef void mur_frame_handler(struct mur_peer *peer, const struct mur_frame *frame, const void *data);
extern mur_frame_handler *mur_frame_handlers[MUR_FRAME_KINDS_MAX];

/* Called by transports for each frame that arrived. */
static inline void mur_deliver(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    mur_frame_handlers[frame->kind](peer, frame, data);
}

/* Writes the frame's bytes, all of them, to `out`. */
typedef void mur_pack_function(void *argument, void *out, size_t bytes);

enum { MUR_MOVE_STRETCHES = 512 };

struct mur_transport {
    const char *name;
    uint32_t frame_max; /* most bytes of data in one frame; known after open */

    /* Also provides memory that all ranks of the node see, all zero, without any agreement: all ask for the same bytes.
     */
    int (*open)(struct mur_peer *peers, size_t common_bytes, void **common);
    void (*close)(void);

    bool (*send)(struct mur_peer *peer, const struct mur_frame *frame, const void *data);
    bool (*send_packed)(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument);

    /* Delivers what has arrived; returns how many frames. */
    int (*progress)(void);

    /* Sleeping. prepare_sleep arranges to be woken when a frame arrives, or when one of these peers (a list by
     * next_backlogged), to which sends were refused, may have room again; false when there is something to do
     * already. sleep blocks, and is the one call made without the engine's lock; end_sleep follows in any case. wake
     * ends a sleep of this process's own. */
    bool (*prepare_sleep)(const struct mur_peer *refused);
    void (*sleep)(void);
    void (*end_sleep)(void);
    void (*wake)(void);

    /* Memory that both ends see, by a token that means the same at both; never given back to the transport. NULL when
     * there is none. Transports without it leave the operations from here on out. */
    void *(*share)(size_t bytes, uint64_t *token);
    void *(*shared)(uint64_t token);

    /* Memory of any size, all zero at first, that processes of the node map. A *token of 0 makes new memory and is
     * set; any other maps what it names. NULL with errno: impossible. `discard` gives new memory back, once nobody
     * will look at it any more. */
    void *(*map)(size_t bytes, uint64_t *token);
    void (*unmap)(void *memory, size_t bytes);
    void (*discard)(uint64_t token, size_t bytes);

    /* Such memory has been written, which these processes may wait for: wakes those that sleep. */
    void (*rouse)(const int *processes, int count);

    /* Copying between this process's memory and the peer's, without its help: `local` and `remote` are addresses.
     * can_copy says, by trying once a peer, whether the system permits it; after that only bad addresses fail. */
    bool (*can_copy)(struct mur_peer *peer);
    bool (*read)(struct mur_peer *peer, void *local, uint64_t remote, size_t bytes);
    bool (*write)(struct mur_peer *peer, const void *local, uint64_t remote, size_t bytes);
    /* The same for lists of stretches with as many bytes here as there: at most MUR_MOVE_STRETCHES, a gigabyte in all.
     */
    bool (*move)(struct mur_peer *peer, bool is_write, const struct iovec *local, int local_count,
                 const struct iovec *remote, int remote_count);
};

#endif
