/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes: writing frames into the ring towards a peer, and polling the rings that come in. The idea and the order of
 * memory are told in shm.h. */
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/clock.h"
#include "base/copy.h"
#include "base/settings.h"
#include "boot/process.h"
#include "transport/shm/shm.h"

enum { STREAM_ALWAYS = 1 }; /* of the setting */
enum { BATCH = 32 };        /* frames delivered from one lane before the others are looked at */

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
    *out = (struct mur_lane_out){.lane = lane,
                                 .payload = (unsigned char *)&lane->slot[lane->slots],
                                 .is_streaming = mur_settings.shm_stream == STREAM_ALWAYS};
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

/* Rings where the receiver does not look by itself. */
static inline void ring_if_parked(struct mur_lane_out *out)
{
    if (__builtin_expect(atomic_load_explicit(&mur_shm.node->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the receiver's membarrier is the other half, see shm.h */
    if (__builtin_expect(atomic_load_explicit(&out->lane->is_parked, memory_order_relaxed), 0))
        mur_shm_ring(out->lane);
}

/* Publishes the slot, and rings. */
static inline void push(struct mur_lane_out *out, struct mur_slot *slot, const struct mur_frame *frame)
{
    slot->frame = *frame;
    out->next_slot++;
    /* Pairs with the acquire in poll_lane: frame and data are visible with the stamp. */
    atomic_store_explicit(&slot->stamp, out->next_slot, memory_order_release);
    ring_if_parked(out);
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

/* The data of a large frame goes into the payload ring in parts, each told to the receiver when it is there. The first
 * ones are small, so that the receiver soon has work, later ones save looks at the count. */
enum { PART_MIN = 2048, PART_MAX = 8192 };

static inline uint32_t part_after(uint32_t done)
{
    uint32_t part = done / 4 & ~(uint32_t)(MUR_CACHE_LINE - 1); /* whole lines */

    return part < PART_MIN ? PART_MIN : part > PART_MAX ? PART_MAX : part;
}

/* What is to be written: a run of bytes, or what a function packs. */
struct source {
    const unsigned char *data;
    mur_pack_function *pack;
    void *argument;
};

/* A write whose line never enters this core's cache; `out` begins a line. */
static void copy_past_cache(unsigned char *out, const unsigned char *in, uint32_t bytes)
{
    uint32_t i = 0;

#if defined(__SSE2__)
    for (; i + MUR_CACHE_LINE <= bytes; i += MUR_CACHE_LINE) {
        __m128i a = _mm_loadu_si128((const __m128i *)(in + i)), b = _mm_loadu_si128((const __m128i *)(in + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(in + i + 32)),
                d = _mm_loadu_si128((const __m128i *)(in + i + 48));

        _mm_stream_si128((__m128i *)(out + i), a);
        _mm_stream_si128((__m128i *)(out + i + 16), b);
        _mm_stream_si128((__m128i *)(out + i + 32), c);
        _mm_stream_si128((__m128i *)(out + i + 48), d);
    }
    _mm_sfence(); /* these stores wait for nobody; the release that follows must not overtake them */
#endif
    memcpy(out + i, in + i, bytes - i);
}

/* How a lane's payload is best written depends on where the two cores are, which nobody tells. If they share a cache,
 * plain writes to the large ring take 0.7 ns a line, and the receiver reads a line in 1.3; past the cache it would be
 * 1.2 and 4 to 6. If not, the receiver's copy of each line must be called back from afar, 18 ns a line, and past the
 * cache 1.2, for reading in 3.2 instead of 2.9 (Zen 4). So, on processors like that, now and then a frame's plain
 * writing is timed, not before the ring has been gone round once, which is when the system provides its pages. */
enum { TIMED_MIN = 4096, TIMED_EVERY = 16, TIMED_EVERY_STREAMING = 128, SLOW_LINE = 6 /* nanoseconds */ };

static inline bool is_to_be_timed(struct mur_lane_out *out, uint32_t bytes)
{
    uint32_t every = out->is_streaming ? TIMED_EVERY_STREAMING : TIMED_EVERY;

    return bytes >= TIMED_MIN && out->has_lapped && ++out->since_timed >= every && mur_shm.may_stream;
}

static void take_time(struct mur_lane_out *out, uint64_t ns, uint32_t bytes)
{
    uint32_t line = (uint32_t)(ns * 64 * MUR_CACHE_LINE / bytes); /* in 64ths */

    out->since_timed = 0;
    line = line < 3 * SLOW_LINE * 64 ? line : 3 * SLOW_LINE * 64; /* this process may have lost its core for a while */
    out->line_time = (3 * out->line_time + line) / 4;
    out->is_streaming = out->line_time > SLOW_LINE * 64;
}

/* Returns the time taken, where it is to be known. `bytes` are PART_MAX at most. */
static inline uint64_t write_part(struct mur_lane_out *out, unsigned char *ring, const struct source *source,
                                  uint32_t done, uint32_t bytes, bool is_timed)
{
    static unsigned char bounce[PART_MAX] MUR_ALIGNED_LINE;
    const unsigned char *data = source->pack ? bounce : source->data + done;
    uint64_t start;

    if (__builtin_expect(!is_timed && !out->is_streaming, 1)) {
        if (source->pack)
            source->pack(source->argument, ring + done, bytes);
        else
            mur_copy(ring + done, data, bytes);
        return 0;
    }
    if (source->pack)
        source->pack(source->argument, bounce, bytes);
    if (!is_timed) {
        copy_past_cache(ring + done, data, bytes);
        return 0;
    }
    start = mur_clock_ns();
    memcpy(ring + done, data, bytes);
    return mur_clock_ns() - start;
}

static __attribute__((noinline)) void send_rest(struct mur_lane_out *out, struct mur_slot *slot, unsigned char *ring,
                                                const struct source *source, uint32_t bytes)
{
    bool is_timed = is_to_be_timed(out, bytes);
    uint64_t ns = 0;

    for (uint32_t done = PART_MIN; done < bytes;) {
        uint32_t part = part_after(done);

        part = part < bytes - done ? part : bytes - done;
        ns += write_part(out, ring, source, done, part, is_timed);
        done += part;
        /* Pairs with the acquire in take_large. */
        atomic_store_explicit(&slot->written, done, memory_order_release);
    }
    ring_if_parked(out);
    if (is_timed)
        take_time(out, ns, bytes - PART_MIN);
}

/* Sends a frame whose data does not fit into the slot. False: no room. */
static inline bool send_large(struct mur_lane_out *out, struct mur_slot *slot, const struct mur_frame *frame,
                              const struct source *source)
{
    uint32_t bytes = frame->bytes, start = place(out->next_byte, bytes, out->lane->bytes);
    uint32_t end = start + rounded(bytes), part = bytes < PART_MIN ? bytes : PART_MIN;
    unsigned char *ring = out->payload + (start & (out->lane->bytes - 1));

    if (!has_room(out, end))
        return false;
    write_part(out, ring, source, 0, part, false);
    if (bytes <= DEMOTE_MAX)
        demote(ring, bytes);
    out->has_lapped |= end >= out->lane->bytes;
    out->next_byte = end;
    atomic_store_explicit(&slot->written, part, memory_order_relaxed); /* goes with the stamp */
    push(out, slot, frame);
    if (part < bytes)
        send_rest(out, slot, ring, source, bytes);
    return true;
}

bool mur_lane_send(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_lane_out *out = peer->link;
    struct mur_slot *slot;

    if (__builtin_expect(!out, 0))
        out = lane_open(peer);
    slot = &out->lane->slot[out->next_slot & (out->lane->slots - 1)];
    if (frame->bytes > MUR_SLOT_BYTES)
        return send_large(out, slot, frame, &(struct source){.data = data});
    if (!has_room(out, out->next_byte))
        return false;
    mur_copy_small(slot->data, data, frame->bytes);
    push(out, slot, frame);
    return true;
}

bool mur_lane_send_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument)
{
    struct mur_lane_out *out = peer->link;
    struct mur_slot *slot;

    if (!out)
        out = lane_open(peer);
    slot = &out->lane->slot[out->next_slot & (out->lane->slots - 1)];
    if (frame->bytes > MUR_SLOT_BYTES)
        return send_large(out, slot, frame, &(struct source){.pack = pack, .argument = argument});
    if (!has_room(out, out->next_byte))
        return false;
    pack(argument, slot->data, frame->bytes);
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

/* A large frame whose data is still being written: takes what has come since the last look to where it belongs. Returns
 * the data once all of it is there, or NULL. Where many frames follow each other nothing is gained by that, and a
 * reader at the writer's heels slows it down: this core's hardware fetches lines ahead that are just about to be
 * written. */
static __attribute__((noinline)) const void *take_parts(struct mur_lane_in *in, const struct mur_slot *slot,
                                                        uint32_t written, const unsigned char *data)
{
    if (!in->is_begun) {
        mur_frame_placer *placer = mur_frame_placers[slot->frame.kind];

        in->is_begun = true;
        in->place = placer && !(slot->frame.flags & MUR_FRAME_STREAM) ? placer(in->peer, &slot->frame) : NULL;
        in->seen = 0;
    }
    if (in->place)
        memcpy(in->place + in->seen, data + in->seen, written - in->seen);
    in->seen = written;
    if (written < slot->frame.bytes)
        return NULL;
    in->is_begun = false;
    return in->place ? in->place : data;
}

/* The data of a large frame, which is then passed; NULL while some of it is missing. */
static inline const void *take_large(struct mur_lane_in *in, const struct mur_slot *slot)
{
    uint32_t bytes = slot->frame.bytes, start = place(in->next_byte, bytes, in->lane->bytes);
    const void *data = in->payload + (start & (in->lane->bytes - 1));
    /* Pairs with the release in send_rest. */
    uint32_t written = atomic_load_explicit(&slot->written, memory_order_acquire);

    if (__builtin_expect(in->is_begun || written < bytes, 0))
        data = take_parts(in, slot, written, data);
    if (data)
        in->next_byte = start + rounded(bytes);
    return data;
}

static inline int poll_lane(struct mur_lane_in *in)
{
    struct mur_lane *lane = in->lane;
    uint32_t mask = lane->slots - 1, seen = in->seen;
    int frames = 0;

    do {
        struct mur_slot *slot = &lane->slot[in->next_slot & mask];
        const void *data = slot->data;

        /* Pairs with the release in push. */
        if (atomic_load_explicit(&slot->stamp, memory_order_acquire) != in->next_slot + 1)
            break;
        __builtin_prefetch(&lane->slot[(in->next_slot + 4) & mask]);
        if (slot->frame.bytes > MUR_SLOT_BYTES) {
            data = take_large(in, slot);
            if (!data)
                break;
        }
        in->next_slot++;
        mur_deliver(in->peer, &slot->frame, data);
    } while (++frames < BATCH);

    if (frames) {
        in->idle_passes = 0;
        publish(in);
    } else if (__builtin_expect(in->is_begun && in->seen != seen, 0)) {
        in->idle_passes = 0;
        return 1;
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
