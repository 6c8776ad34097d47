/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the shared-memory transport: lanes, in the node's memory (node/node.h). A lane has one sender and one
 * receiver; a ring of records, and beside it rings of payload bytes.
 *
 * A frame is one record: half a cache line, which has room for eight bytes of data, or a whole one for up to
 * MUR_RECORD_BYTES, so a small message is one cache line that moves once, and two of the smallest can share it; more
 * lies in the payload ring, where both sides compute the place alike, and the record is a half line again. It is there
 * before its data: its word `rest` counts the lines that are there, so that the receiver can copy them to where they
 * belong while the sender still writes the rest.
 *
 * Positions count half lines, in 64 bits. A record is there when its stamp is its position and one, modulo 2^32. Each
 * first half of a line is stamped anew at least every MUR_RENEWAL positions, so an old stamp never equals a new one.
 * The second half of a line may hold data of an earlier lap where its stamp is looked for: whoever writes a record in
 * the first half overwrites that. A record of a whole line begins a line, so it may pass over a
 * half; the receiver finds that out when it sees the record behind the half that it looks at. A line is used again when
 * all of it has been consumed. How far the receiver has come it publishes in a line of its own, which only a sender
 * that thinks the ring is full looks at, or hears with a record that comes the other way.
 *
 * Express. Two ranks that answer each other do it sooner by one line that both write, the express record of the lower
 * one's lane, than by a line for each direction: who has just read it has it in its cache, and writing there takes
 * nothing from the other. They take turns: whoever has read what the other wrote may write, and until it does its
 * frames go through the ring. Such a frame passes over a whole line of the ring, which stays as it was, so a receiver
 * that finds nothing in the ring where the next record belongs, not even after it saw the stamp of the express record,
 * knows that the express record comes next. In the last lap before each multiple of MUR_RENEWAL the sender does not use
 * the express record, and so writes every line of the ring again.
 *
 * Parking. A receiver polls its *hot* lanes only. Before it stops polling a lane it parks it: lane->is_parked = 1,
 * then a barrier on all cores (membarrier), then one more look. The sender writes the record and then reads is_parked,
 * with no fence between: either it sees the 1, or the barrier makes its record visible to the last look. A sender that
 * finds the lane parked takes the mark off and pushes the lane on the receiver's stack of rung lanes; a new lane is
 * born parked. A receiver that sleeps has parked everything
 * first, so only ringing has to wake it. */
#ifndef MUR_TRANSPORT_SHM_SHM_H
#define MUR_TRANSPORT_SHM_SHM_H

#include <stdatomic.h>
#include <stdint.h>

#include "engine/state.h"
#include "node/node.h"
#include "transport/transport.h"

#define MUR_HALF_LINE     32
#define MUR_HALF_BYTES    8    /* data in a record of half a line */
#define MUR_RECORD_BYTES  40   /* in one of a whole line */
#define MUR_SILENT_PASSES 4096 /* a lane that was empty in this many polls may be parked */
#define MUR_RENEWAL       ((uint64_t)1 << 30)

struct mur_record {
    _Atomic uint32_t stamp; /* released by the sender last; pairs with the acquires in mur_lane_next */
    struct mur_frame frame;
    union {
        unsigned char data[MUR_RECORD_BYTES];
        _Atomic uint64_t rest; /* of a frame with data in a payload ring: bits of MUR_REST_... */
    };
};
_Static_assert(sizeof(struct mur_record) == MUR_CACHE_LINE, "a record is one cache line at most");
_Static_assert(offsetof(struct mur_record, data) + MUR_HALF_BYTES == MUR_HALF_LINE, "a small one is half a line");

/* From the low end: the lines of data that are there already; which ring they are in (enum mur_ring_kind); whether the
 * sender has fetched the lines itself before it wrote them; how far the sender has read the small ring of the other
 * direction, in lines. Of the last there are 46 bits, so what a record says that was read late is known to be old. */
#define MUR_REST_WRITTEN  UINT64_C(0xffff)
#define MUR_REST_RING     16
#define MUR_REST_PRIMED   (UINT64_C(1) << 17)
#define MUR_REST_CONSUMED 18
#define MUR_DATA_MAX      ((uint32_t)MUR_REST_WRITTEN * MUR_CACHE_LINE) /* bytes of data in a payload ring */

/* How many of a frame's bytes are there. */
static inline uint32_t mur_rest_written(uint64_t rest, uint32_t bytes)
{
    uint32_t written = (uint32_t)(rest & MUR_REST_WRITTEN) * MUR_CACHE_LINE;

    return written < bytes ? written : bytes;
}

/* Payload of a few kilobytes goes through a small ring, which stays in the first caches of both sides. The receiver
 * takes its lines as it reads them (take_lines in lane.c), so that they have one owner when their turn comes again.
 * Whatever is larger, or finds the small ring full, goes through the large one. */
enum mur_ring_kind { MUR_RING_SMALL, MUR_RING_LARGE, MUR_RINGS };

struct mur_lane {
    /* written rarely, by both sides */
    _Atomic uint32_t is_parked;  /* the receiver does not poll; ring */
    _Atomic uint32_t wants_room; /* the sender sleeps until the receiver has consumed */
    mur_offset next_rung;        /* link of the receiver's stack of rung lanes */
    /* fixed at birth */
    int32_t sender, receiver;                   /* local ranks */
    uint32_t halves, bytes[MUR_RINGS];          /* sizes of the rings, powers of two */
    struct mur_record express MUR_ALIGNED_LINE; /* shared with the lane of the other direction */
    /* written by the receiver */
    _Atomic uint64_t consumed_halves MUR_ALIGNED_LINE;
    _Atomic uint64_t consumed_bytes[MUR_RINGS];
    unsigned char records[] MUR_ALIGNED_LINE; /* then the payload rings */
};

/* One end's view of a payload ring. */
struct mur_payload_ring {
    unsigned char *memory;
    uint64_t next;     /* position, not reduced modulo the ring */
    uint64_t consumed; /* of the sender: as last looked up */
    uint32_t bytes;    /* of the ring, a power of two */
    bool is_downward;  /* filled from its end to its beginning */
};

/* This end of the express record between this process and a peer. Every use stamps the one record anew, with a number
 * that is one higher: so the stamp there is always that of the next use, or one less, also when the numbers go round.
 */
struct mur_express {
    struct mur_record *record;
    uint32_t turn; /* the stamp of the next use, by whichever side */
    bool is_ours;  /* that is this side, and it is done with what the other has written */
};

/* This end of a lane, in private memory. */
struct mur_lane_out {
    struct mur_lane *lane;
    struct mur_express *express;
    uint64_t next_half, consumed_halves; /* position, not reduced modulo the ring; and as last looked up */
    struct mur_payload_ring ring[MUR_RINGS];
    uint32_t passed; /* frames that still pass by the small ring, which was found full */
    uint32_t last;   /* bytes of the last frame's data; 0: they were few or many */
    bool is_primed;  /* the lines where as many go next are in this core's cache, unless they are not done with */
};

struct mur_lane_in {
    struct mur_lane *lane;
    struct mur_peer *peer;
    struct mur_express express;
    uint64_t next_half;
    struct mur_payload_ring ring[MUR_RINGS];
    uint32_t idle_passes;
    /* of a frame whose data is still being written */
    bool is_begun;
    bool is_asked;        /* the protocol was asked for the place of the frame's data: mur_deliver_placed */
    unsigned char *place; /* where its data goes at once; NULL: it stays in the ring until all of it is there */
    uint32_t seen;        /* bytes that were there at the last look, and have gone to `place` */
};

struct mur_shm {
    struct mur_peer **peers; /* [mur_node.size] by local rank */
    uint32_t lane_halves, lane_bytes[MUR_RINGS];
    struct mur_lane_out *out; /* [mur_node.size] */
    struct mur_lane_in *in;   /* [mur_node.size] by the sender's local rank */
    struct mur_lane_in **hot; /* [mur_node.size] polled in every pass */
    int hot_count;
    uint32_t passes; /* of polling, to look for silent lanes now and then */
    bool can_demote;
};
extern struct mur_shm mur_shm;

static inline struct mur_record *mur_lane_record(struct mur_lane *lane, uint64_t half)
{
    return (struct mur_record *)(lane->records + (size_t)(half & (lane->halves - 1)) * MUR_HALF_LINE);
}

static inline unsigned char *mur_lane_payload(struct mur_lane *lane, enum mur_ring_kind ring)
{
    return lane->records + (size_t)lane->halves * MUR_HALF_LINE + (ring == MUR_RING_LARGE ? lane->bytes[0] : 0);
}

/* The stamp of the record at a position. */
static inline uint32_t mur_lane_stamp(uint64_t half)
{
    return (uint32_t)half + 1;
}

/* The next record in a lane's ring, or NULL while there is none. */
static inline struct mur_record *mur_lane_next_in_ring(struct mur_lane_in *in)
{
    struct mur_record *record = mur_lane_record(in->lane, in->next_half), *behind;

    /* All pair with the release in push. */
    if (atomic_load_explicit(&record->stamp, memory_order_acquire) == mur_lane_stamp(in->next_half))
        return record;
    if (in->next_half % 2 == 0)
        return NULL;
    behind = mur_lane_record(in->lane, in->next_half + 1);
    /* pairs with the release of a record's stamp (lane.c) */
    if (atomic_load_explicit(&behind->stamp, memory_order_acquire) != mur_lane_stamp(in->next_half + 1))
        return NULL;
    if (atomic_load_explicit(&record->stamp, memory_order_acquire) == mur_lane_stamp(in->next_half))
        return record; /* both have come since the first look */
    in->next_half++;
    return behind;
}

/* The next record of a lane, or NULL while there is none. */
static inline struct mur_record *mur_lane_next(struct mur_lane_in *in)
{
    struct mur_record *record = mur_lane_next_in_ring(in), *express = in->express.record;

    /* pairs with the release of an express record's stamp (lane.c) */
    if (record || atomic_load_explicit(&express->stamp, memory_order_acquire) != in->express.turn)
        return record;
    record = mur_lane_next_in_ring(in); /* what was sent before is visible now */
    return record ? record : express;
}

/* lane.c */
void mur_express_setup(void);
void mur_lane_rings(struct mur_lane *lane, struct mur_payload_ring ring[MUR_RINGS]);
bool mur_lane_send(struct mur_peer *peer, const struct mur_frame *frame, const void *data);
bool mur_lane_send_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack,
                          void *argument);
int mur_lanes_poll(void);
int64_t mur_lane_take(struct mur_peer *peer, const struct mur_frame *wanted, void *buffer, int looks);

/* sleep.c */
bool mur_shm_prepare_sleep(const struct mur_peer *refused);
void mur_shm_ring(struct mur_lane *lane);
void mur_shm_leave(void);     /* this process is outside of MPI from now on, */
void mur_shm_come_back(void); /* and inside again */
bool mur_shm_has_left(struct mur_peer *peer);
void mur_lanes_take_rung(void);
void mur_lanes_park_idle(void);

#endif
