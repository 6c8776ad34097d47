/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes: writing frames into the ring towards a peer, and polling the rings that come in. The idea and the order of
 * memory are told in shm.h. */
#include "base/copy.h"
#include "boot/process.h"
#include "transport/shm/shm.h"

enum { BATCH = 32 }; /* frames delivered from one lane before the others are looked at */

/* Makes the lane to the peer at first use. It is born parked, so the first frame rings. */
static __attribute__((noinline)) struct mur_lane_out *lane_open(struct mur_peer *peer)
{
    struct mur_lane_out *out = &mur_shm.out[peer->local];
    size_t bytes = sizeof(struct mur_lane) + (size_t)mur_shm.lane_slots * sizeof(struct mur_slot) + mur_shm.lane_bytes;
    struct mur_lane *lane = mur_shm_allocate_lane(bytes);

    if (!lane)
        mur_boot_abort(1, "the node's shared memory is used up by lanes between ranks; set MUR_SHM_LANE_BYTES and "
                          "MUR_SHM_LANE_SLOTS to smaller values");
    lane->sender = mur_shm.rank;
    lane->receiver = peer->local;
    lane->slots = mur_shm.lane_slots;
    lane->bytes = mur_shm.lane_bytes;
    atomic_store_explicit(&lane->is_parked, 1, memory_order_relaxed);
    *out = (struct mur_lane_out){.lane = lane, .payload = (unsigned char *)&lane->slot[lane->slots]};
    peer->link = out;
    return out;
}

/* Where `bytes` bytes lie that are put into a payload ring at `position`: never across the ring's end. */
static inline uint32_t place(uint32_t position, uint32_t bytes, uint32_t ring)
{
    uint32_t left = ring - (position & (ring - 1));

    return left < bytes ? position + left : position;
}

static inline uint32_t rounded(uint32_t bytes)
{
    return (bytes + MUR_CACHE_LINE - 1) & ~(uint32_t)(MUR_CACHE_LINE - 1);
}

/* Looks up how far the receiver has come; out of line, since it fetches a line of the receiver's. */
static __attribute__((noinline)) bool has_room_now(struct mur_lane_out *out, uint32_t end_byte)
{
    struct mur_lane *lane = out->lane;

    /* Both pair with the releases in publish: what the receiver has read may be overwritten. */
    out->consumed_slots = atomic_load_explicit(&lane->consumed_slots, memory_order_acquire);
    out->consumed_bytes = atomic_load_explicit(&lane->consumed_bytes, memory_order_acquire);
    return out->next_slot - out->consumed_slots < lane->slots && end_byte - out->consumed_bytes <= lane->bytes;
}

static inline bool has_room(struct mur_lane_out *out, uint32_t end_byte)
{
    if (__builtin_expect(out->next_slot - out->consumed_slots < out->lane->slots &&
                             end_byte - out->consumed_bytes <= out->lane->bytes,
                         1))
        return true;
    return has_room_now(out, end_byte);
}

/* Publishes the slot, and rings where the receiver does not look by itself. */
static inline void push(struct mur_lane_out *out, struct mur_slot *slot, const struct mur_frame *frame)
{
    slot->frame = *frame;
    out->next_slot++;
    /* Pairs with the acquire in mur_lanes_poll: frame and data are visible with the stamp. */
    atomic_store_explicit(&slot->stamp, out->next_slot, memory_order_release);
    if (__builtin_expect(atomic_load_explicit(&mur_shm.node->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the receiver's membarrier is the other half, see shm.h */
    if (__builtin_expect(atomic_load_explicit(&out->lane->is_parked, memory_order_relaxed), 0))
        mur_shm_ring(out->lane);
}

/* More would delay the message by what the hints cost: 16 KiB take half the time without. */
enum { DEMOTE_MAX = 2048 };

/* Moves lines that were just written to the cache that all cores share, so that the receiver finds them there and
 * need not ask this core for each. A hint: processors that do not know it do nothing. */
static inline void demote(const unsigned char *data, uint32_t bytes)
{
#if defined(__x86_64__)
    for (uint32_t i = 0; i < bytes; i += MUR_CACHE_LINE)
        __asm__ __volatile__("cldemote %0" : : "m"(data[i]));
#else
    (void)data;
    (void)bytes;
#endif
}

bool mur_lane_send(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_lane_out *out = peer->link;
    struct mur_slot *slot;
    uint32_t start, end;

    if (__builtin_expect(!out, 0))
        out = lane_open(peer);
    slot = &out->lane->slot[out->next_slot & (out->lane->slots - 1)];
    if (frame->bytes <= MUR_SLOT_BYTES) {
        if (!has_room(out, out->next_byte))
            return false;
        mur_copy_small(slot->data, data, frame->bytes);
    } else {
        start = place(out->next_byte, frame->bytes, out->lane->bytes);
        end = start + rounded(frame->bytes);
        if (!has_room(out, end))
            return false;
        mur_copy(out->payload + (start & (out->lane->bytes - 1)), data, frame->bytes);
        if (frame->bytes <= DEMOTE_MAX)
            demote(out->payload + (start & (out->lane->bytes - 1)), frame->bytes);
        out->next_byte = end;
    }
    push(out, slot, frame);
    return true;
}

bool mur_lane_send_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument)
{
    struct mur_lane_out *out = peer->link;
    struct mur_slot *slot;
    uint32_t start, end;

    if (!out)
        out = lane_open(peer);
    slot = &out->lane->slot[out->next_slot & (out->lane->slots - 1)];
    if (frame->bytes <= MUR_SLOT_BYTES) {
        if (!has_room(out, out->next_byte))
            return false;
        pack(argument, slot->data, frame->bytes);
    } else {
        start = place(out->next_byte, frame->bytes, out->lane->bytes);
        end = start + rounded(frame->bytes);
        if (!has_room(out, end))
            return false;
        pack(argument, out->payload + (start & (out->lane->bytes - 1)), frame->bytes);
        out->next_byte = end;
    }
    push(out, slot, frame);
    return true;
}

/* Tells the sender what may be overwritten. The line is this side's own until a starved sender looks. */
static inline void publish(struct mur_lane_in *in)
{
    struct mur_lane *lane = in->lane;

    atomic_store_explicit(&lane->consumed_bytes, in->next_byte, memory_order_release);
    atomic_store_explicit(&lane->consumed_slots, in->next_slot, memory_order_release);
    if (__builtin_expect(atomic_load_explicit(&mur_shm.node->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the sleeping sender's membarrier is the other half */
    if (__builtin_expect(atomic_load_explicit(&lane->wants_room, memory_order_relaxed), 0) &&
        atomic_exchange_explicit(&lane->wants_room, 0, memory_order_relaxed))
        mur_shm_wake(&mur_shm.node->ranks[lane->sender]);
}

static inline int poll_lane(struct mur_lane_in *in)
{
    struct mur_lane *lane = in->lane;
    uint32_t mask = lane->slots - 1;
    int frames = 0;

    do {
        struct mur_slot *slot = &lane->slot[in->next_slot & mask];
        const void *data = slot->data;

        /* Pairs with the release in push. */
        if (atomic_load_explicit(&slot->stamp, memory_order_acquire) != in->next_slot + 1)
            break;
        __builtin_prefetch(&lane->slot[(in->next_slot + 4) & mask]);
        if (slot->frame.bytes > MUR_SLOT_BYTES) {
            uint32_t start = place(in->next_byte, slot->frame.bytes, lane->bytes);
            data = in->payload + (start & (lane->bytes - 1));
            in->next_byte = start + rounded(slot->frame.bytes);
        }
        in->next_slot++;
        mur_deliver(in->peer, &slot->frame, data);
    } while (++frames < BATCH);

    if (frames) {
        in->idle_passes = 0;
        publish(in);
    } else {
        in->idle_passes++;
    }
    return frames;
}

int mur_lanes_poll(void)
{
    int frames = 0;

    if (atomic_load_explicit(&mur_shm.node->ranks[mur_shm.rank].rung, memory_order_relaxed))
        mur_lanes_take_rung();
    for (int i = 0; i < mur_shm.hot_count; i++)
        frames += poll_lane(mur_shm.hot[i]);
    if (__builtin_expect(mur_shm.hot_count > 8 && ++mur_shm.passes % MUR_SILENT_PASSES == 0, 0))
        mur_lanes_park_idle();
    return frames;
}
