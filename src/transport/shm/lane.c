/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes: writing frames into the ring towards a peer, and polling the rings that come in. The idea and the order of
 * memory are told in shm.h. */
#include "base/copy.h"
#include "base/cpu.h"
#include "base/settings.h"
#include "boot/process.h"
#include "transport/shm/shm.h"

enum { BATCH = 32 }; /* frames delivered from one lane before the others are looked at */

/* The payload rings of a lane whose sizes are filled in. */
void mur_lane_rings(struct mur_lane *lane, struct mur_payload_ring ring[MUR_RINGS])
{
    for (int i = 0; i < MUR_RINGS; i++)
        ring[i] = (struct mur_payload_ring){
            .memory = mur_lane_payload(lane, i), .bytes = lane->bytes[i], .is_downward = i == MUR_RING_SMALL};
}

/* Until a lane has been made that has it, and between a rank and itself, the express record is one that nobody writes.
 */
void mur_express_setup(void)
{
    static struct mur_record none;

    for (int i = 0; i < mur_node.size; i++)
        mur_shm.in[i].express = (struct mur_express){.record = &none, .turn = 1};
}

/* Makes the lane to the peer at first use. It is born parked, so the first frame rings. */
static __attribute__((noinline)) struct mur_lane_out *lane_open(struct mur_peer *peer)
{
    struct mur_lane_out *out = &mur_shm.out[peer->local];
    size_t bytes = sizeof(struct mur_lane) + (size_t)mur_shm.lane_halves * MUR_HALF_LINE +
                   mur_shm.lane_bytes[MUR_RING_SMALL] + mur_shm.lane_bytes[MUR_RING_LARGE];
    struct mur_lane *lane = mur_node_allocate_lane(bytes);

    if (!lane)
        mur_boot_abort(1, "the node's shared memory is used up by lanes between ranks; set MUR_SHM_LANE_BYTES and "
                          "MUR_SHM_LANE_SLOTS to smaller values");
    lane->sender = mur_node.rank;
    lane->receiver = peer->local;
    lane->halves = mur_shm.lane_halves;
    memcpy(lane->bytes, mur_shm.lane_bytes, sizeof lane->bytes);
    atomic_store_explicit(&lane->is_parked, 1, memory_order_relaxed);
    *out = (struct mur_lane_out){.lane = lane, .express = &mur_shm.in[peer->local].express};
    mur_lane_rings(lane, out->ring);
    if (lane->sender < lane->receiver) {
        out->express->record = &lane->express;
        out->express->is_ours = true;
    }
    peer->link = out;
    return out;
}

/* Where `bytes` bytes lie that are put into a payload ring next: never across the ring's end. */
static inline uint64_t place(const struct mur_payload_ring *ring, uint32_t bytes)
{
    uint32_t left = ring->bytes - ((uint32_t)ring->next & (ring->bytes - 1));

    return left < bytes ? ring->next + left : ring->next;
}

static inline uint32_t rounded(uint32_t bytes)
{
    return (bytes + MUR_CACHE_LINE - 1) & ~(uint32_t)(MUR_CACHE_LINE - 1);
}

/* The memory of what is put there. The small ring is filled from its end to its beginning, each piece of it upwards:
 * the reader's hardware fetches ahead of what it reads, and then comes to what was read before, not to what the sender
 * writes next. In the large ring it comes to more of the same message, which is right (1 MiB: 36 us; downwards 42). */
static inline unsigned char *memory_at(const struct mur_payload_ring *ring, uint64_t start, uint32_t bytes)
{
    uint32_t at = (uint32_t)start & (ring->bytes - 1);

    return ring->memory + (ring->is_downward ? ring->bytes - at - rounded(bytes) : at);
}

/* Whether a record with `bytes` bytes of data takes a whole cache line. */
static inline bool takes_line(uint32_t bytes)
{
    return bytes - (MUR_HALF_BYTES + 1) < MUR_RECORD_BYTES - MUR_HALF_BYTES;
}

/* The position of the line after this one, or of this one if it begins there. */
static inline uint64_t line_from(uint64_t half)
{
    return (half + 1) & ~(uint64_t)1;
}

static inline bool has_records(const struct mur_lane_out *out, uint64_t end)
{
    return __builtin_expect(line_from(end) - out->consumed_halves <= out->lane->halves, 1);
}

/* Whether a position lies in the lap in which all stamps are renewed. */
static inline bool is_renewing(const struct mur_lane_out *out, uint64_t half)
{
    return (~half & (MUR_RENEWAL - 1)) < out->lane->halves;
}

static inline bool has_payload(const struct mur_payload_ring *ring, uint64_t end)
{
    return __builtin_expect(end - ring->consumed <= ring->bytes, 1);
}

/* Looks up how far the receiver has come; out of line, since it fetches a line of the receiver's. */
static __attribute__((noinline)) void look_up_consumed(struct mur_lane_out *out)
{
    const struct mur_lane *lane = out->lane;

    /* These pair with the releases in publish: what the receiver has read may be overwritten. */
    out->consumed_halves = atomic_load_explicit(&lane->consumed_halves, memory_order_acquire);
    for (int i = 0; i < MUR_RINGS; i++)
        out->ring[i].consumed = atomic_load_explicit(&lane->consumed_bytes[i], memory_order_acquire);
}

/* The next free record for a frame with `bytes` bytes of data, and where it starts. NULL: the ring is full. */
static inline struct mur_record *find_record(struct mur_lane_out *out, uint32_t bytes, uint64_t *half)
{
    bool is_express =
        out->express->is_ours && bytes <= MUR_RECORD_BYTES && !is_renewing(out, line_from(out->next_half));
    bool is_line = is_express || takes_line(bytes);
    uint64_t start = is_line ? line_from(out->next_half) : out->next_half, end = start + 1 + is_line;

    *half = start;
    if (!has_records(out, end)) {
        look_up_consumed(out);
        if (!has_records(out, end))
            return NULL;
    }
    return is_express ? out->express->record : mur_lane_record(out->lane, start);
}

/* A small ring that was full is likely to be full again, and to look costs more than it can win. */
enum { PASSED = 32 };

/* The payload ring for a frame's data, and where they start in it. NULL: there is no room. */
static inline struct mur_payload_ring *find_ring(struct mur_lane_out *out, uint32_t bytes, uint64_t *start)
{
    struct mur_payload_ring *ring = &out->ring[MUR_RING_SMALL];

    if (bytes <= ring->bytes / 2) {
        if (!out->passed) {
            *start = place(ring, bytes);
            if (has_payload(ring, *start + rounded(bytes)))
                return ring;
            look_up_consumed(out);
            if (has_payload(ring, *start + rounded(bytes)))
                return ring;
            out->passed = PASSED;
        }
        out->passed--;
    }
    ring = &out->ring[MUR_RING_LARGE];
    *start = place(ring, bytes);
    if (has_payload(ring, *start + rounded(bytes)))
        return ring;
    look_up_consumed(out);
    return has_payload(ring, *start + rounded(bytes)) ? ring : NULL;
}

/* Rings where the receiver does not look by itself. */
static inline void ring_if_parked(struct mur_lane_out *out)
{
    if (__builtin_expect(atomic_load_explicit(&mur_node.memory->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the receiver's membarrier is the other half, see shm.h */
    if (__builtin_expect(atomic_load_explicit(&out->lane->is_parked, memory_order_relaxed), 0))
        mur_shm_ring(out->lane);
}

/* Publishes the record, and rings. */
static inline void push(struct mur_lane_out *out, struct mur_record *record, uint64_t half,
                        const struct mur_frame *frame)
{
    uint32_t stamp = mur_lane_stamp(half);

    record->frame = *frame;
    if (record == out->express->record) {
        stamp = out->express->turn++;
        out->express->is_ours = false;
        out->next_half = half + 2;
    } else if (takes_line(frame->bytes)) {
        out->next_half = half + 2;
    } else {
        out->next_half = half + 1;
        if (half % 2 == 0) /* whatever lies there must not look like the next stamp */
            atomic_store_explicit(&mur_lane_record(out->lane, half + 1)->stamp, stamp, memory_order_relaxed);
    }
    /* Pairs with the acquires in mur_lane_next: frame and data are visible with the stamp. */
    atomic_store_explicit(&record->stamp, stamp, memory_order_release);
    ring_if_parked(out);
}

static inline void prefetch_to_write(const unsigned char *line)
{
#if defined(__x86_64__)
    __asm__ __volatile__("prefetchw %0" : : "m"(*line)); /* the compiler's own only reads, unless told the processor */
#else
    __builtin_prefetch(line, 1);
#endif
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
_Static_assert(PART_MIN % MUR_CACHE_LINE == 0, "all parts but the last are whole lines");

static inline uint32_t lines_of(uint32_t bytes)
{
    return rounded(bytes) / MUR_CACHE_LINE;
}

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

static inline void write_part(unsigned char *place, const struct source *source, uint32_t done, uint32_t bytes)
{
    if (source->pack)
        source->pack(source->argument, place + done, bytes);
    else
        mur_copy(place + done, source->data + done, bytes);
}

/* `rest` is the record's word without the count of lines. */
static __attribute__((noinline)) void send_rest(struct mur_lane_out *out, struct mur_record *record,
                                                unsigned char *place, const struct source *source, uint32_t bytes,
                                                uint64_t rest)
{
    for (uint32_t done = PART_MIN; done < bytes;) {
        uint32_t part = part_after(done);

        part = part < bytes - done ? part : bytes - done;
        write_part(place, source, done, part);
        done += part;
        /* Pairs with the acquire in take_large. */
        atomic_store_explicit(&record->rest, rest | lines_of(done), memory_order_release);
    }
    ring_if_parked(out);
}

enum { PRIMED_MAX = 4096 };

/* This process waits for the peer, and is likely to answer what comes with as much as it sent last: fetches the lines
 * that this will be written to, which the receiver had last, so that writing them takes no time then. A hint: whether
 * the receiver is done with them does not matter. */
static inline void prime(const struct mur_peer *peer)
{
    struct mur_lane_out *out = peer->link;
    const struct mur_payload_ring *ring;
    const unsigned char *data;

    if (!out || out->is_primed)
        return;
    out->is_primed = true;
    ring = &out->ring[MUR_RING_SMALL];
    if (out->last > ring->bytes / 2)
        return;
    data = memory_at(ring, place(ring, out->last), out->last);
    for (uint32_t i = 0; i < out->last; i += MUR_CACHE_LINE)
        prefetch_to_write(data + i);
}

/* Sends a frame whose data does not fit into the record. False: no room. */
static inline bool send_large(struct mur_lane_out *out, const struct mur_frame *frame, const struct source *source)
{
    uint32_t bytes = frame->bytes, part = bytes < PART_MIN ? bytes : PART_MIN;
    uint64_t half, start, rest;
    struct mur_payload_ring *ring;
    struct mur_record *record;
    unsigned char *place;

    if (!(record = find_record(out, bytes, &half)) || !(ring = find_ring(out, bytes, &start)))
        return false;
    place = memory_at(ring, start, bytes);
    write_part(place, source, 0, part);
    if (__builtin_expect(mur_shm.can_demote, 0) && bytes <= DEMOTE_MAX)
        demote(place, bytes);
    ring->next = start + rounded(bytes);
    rest = mur_shm.in[out->lane->receiver].ring[MUR_RING_SMALL].next / MUR_CACHE_LINE << MUR_REST_CONSUMED;
    rest |= (uint64_t)(ring - out->ring) << MUR_REST_RING;
    if (out->is_primed && bytes <= out->last)
        rest |= MUR_REST_PRIMED;
    out->last = bytes <= PRIMED_MAX ? bytes : 0;
    out->is_primed = false;
    atomic_store_explicit(&record->rest, rest | lines_of(part), memory_order_relaxed); /* goes with the stamp */
    push(out, record, half, frame);
    if (part < bytes)
        send_rest(out, record, place, source, bytes, rest);
    return true;
}

bool mur_lane_send(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_lane_out *out = peer->link;
    struct mur_record *record;
    uint64_t half;

    if (__builtin_expect(!out, 0))
        out = lane_open(peer);
    if (frame->bytes > MUR_RECORD_BYTES)
        return send_large(out, frame, &(struct source){.data = data});
    if (!(record = find_record(out, frame->bytes, &half)))
        return false;
    mur_copy_small(record->data, data, frame->bytes);
    push(out, record, half, frame);
    return true;
}

bool mur_lane_send_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument)
{
    struct mur_lane_out *out = peer->link;
    struct mur_record *record;
    uint64_t half;

    if (!out)
        out = lane_open(peer);
    if (frame->bytes > MUR_RECORD_BYTES)
        return send_large(out, frame, &(struct source){.pack = pack, .argument = argument});
    if (!(record = find_record(out, frame->bytes, &half)))
        return false;
    pack(argument, record->data, frame->bytes);
    push(out, record, half, frame);
    return true;
}

/* Tells the sender what may be overwritten. The line is this side's own until a starved sender looks. */
static inline void publish(struct mur_lane_in *in)
{
    struct mur_lane *lane = in->lane;

    /* pairs with the acquires by which the sender reads what was consumed, before it writes there again */
    for (int i = 0; i < MUR_RINGS; i++)
        atomic_store_explicit(&lane->consumed_bytes[i], in->ring[i].next, memory_order_release);
    atomic_store_explicit(&lane->consumed_halves, in->next_half, memory_order_release);
    if (__builtin_expect(atomic_load_explicit(&mur_node.memory->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the sleeping sender's membarrier is the other half */
    if (__builtin_expect(atomic_load_explicit(&lane->wants_room, memory_order_relaxed), 0) &&
        atomic_exchange_explicit(&lane->wants_room, 0, memory_order_relaxed))
        mur_node_wake(lane->sender);
}

enum { PLACED_MIN = 4096 };

/* Where the data of a large frame goes at once; NULL: it stays in the ring until the handler is called. */
static unsigned char *place_of(struct mur_lane_in *in, const struct mur_record *record)
{
    mur_frame_placer *placer = mur_engine.placers[record->frame.kind];

    in->is_asked = placer;
    return placer ? placer(in->peer, &record->frame) : NULL;
}

/* A large frame whose data is still being written: takes what has come since the last look to where it belongs. Returns
 * the data once all of it is there, or NULL. Where many frames follow each other nothing is gained by that, and a
 * reader at the writer's heels slows it down: this core's hardware fetches lines ahead that are just about to be
 * written. */
static __attribute__((noinline)) void *take_parts(struct mur_lane_in *in, const struct mur_record *record,
                                                  uint32_t written, unsigned char *data)
{
    if (!in->is_begun) {
        in->is_begun = true;
        in->place = record->frame.flags & MUR_FRAME_STREAM ? NULL : place_of(in, record);
        in->seen = 0;
    }
    if (in->place)
        mur_copy_taking(in->place + in->seen, data + in->seen, written - in->seen);
    in->seen = written;
    if (written < record->frame.bytes)
        return NULL;
    in->is_begun = false;
    return in->place ? in->place : data;
}

/* Makes this core the owner of the lines of payload that it is about to read, by writing a word of each back as it is.
 * Read only, a line has two owners, and who writes it next must wait until the other has given it up: one line after
 * the other, which takes longer than the message (Zen 4: 4 KiB 0.3 us instead of 0.5). A hint to prefetch for writing
 * does not do it. Before the handler is called, since after that the sender may already write there. */
static inline void take_lines(unsigned char *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += MUR_CACHE_LINE)
        *(volatile uint64_t *)(data + i) = *(volatile uint64_t *)(data + i);
}

/* The peer has told how far it has read this side's small ring. This side may have looked it up since. */
static inline void learn_consumed(struct mur_payload_ring *ring, uint64_t rest)
{
    uint64_t known = ring->consumed / MUR_CACHE_LINE << MUR_REST_CONSUMED;
    int64_t ahead = (int64_t)((rest & -(UINT64_C(1) << MUR_REST_CONSUMED)) - known) >> MUR_REST_CONSUMED;

    if (ahead > 0)
        ring->consumed += (uint64_t)ahead * MUR_CACHE_LINE;
}

/* The data of a large frame, which is then passed; NULL while some of it is missing. If it is of any size it goes to
 * its place from here, and this core takes its lines on the way. */
static inline const void *take_large(struct mur_lane_in *in, const struct mur_record *record)
{
    /* Pairs with the release in send_rest. */
    uint64_t rest = atomic_load_explicit(&record->rest, memory_order_acquire);
    struct mur_payload_ring *ring = &in->ring[rest >> MUR_REST_RING & 1];
    uint32_t bytes = record->frame.bytes, written = mur_rest_written(rest, bytes);
    uint64_t start = place(ring, bytes);
    unsigned char *data = memory_at(ring, start, bytes), *taken = data;
    bool is_whole = !in->is_begun && written >= bytes;

    if (__builtin_expect(!is_whole, 0))
        taken = take_parts(in, record, written, data);
    if (!taken)
        return NULL;
    ring->next = start + rounded(bytes);
    learn_consumed(&mur_shm.out[in->lane->sender].ring[MUR_RING_SMALL], rest);
    if (taken != data)
        return taken;
    if (bytes > PLACED_MIN && (is_whole || record->frame.flags & MUR_FRAME_STREAM) && (taken = place_of(in, record))) {
        mur_copy_taking(taken, data, bytes);
        return taken;
    }
    if (!(rest & MUR_REST_PRIMED))
        take_lines(data, bytes);
    return data;
}

/* The frame is about to be delivered; what comes next is the record behind it. Returns whether it came in the express
 * record, which is this side's to use when the frame has been delivered. */
static inline bool pass(struct mur_lane_in *in, const struct mur_record *record)
{
    if (record == in->express.record) {
        in->express.turn++;
        in->next_half = line_from(in->next_half) + 2;
        return true;
    }
    in->next_half += takes_line(record->frame.bytes) ? 2 : 1;
    return false;
}

static inline int poll_lane(struct mur_lane_in *in)
{
    uint32_t seen = in->seen;
    int frames = 0;

    do {
        struct mur_record *record = mur_lane_next(in);
        const void *data;
        bool is_express, is_placed = false;

        if (!record)
            break;
        data = record->data;
        __builtin_prefetch(mur_lane_record(in->lane, in->next_half + 8));
        if (record->frame.bytes > MUR_RECORD_BYTES) {
            data = take_large(in, record);
            if (!data)
                break;
            is_placed = in->is_asked;
            in->is_asked = false;
        }
        is_express = pass(in, record);
        if (__builtin_expect(is_placed, 0))
            mur_deliver_placed(in->peer, &record->frame, data);
        else
            mur_deliver(in->peer, &record->frame, data);
        in->express.is_ours |= is_express;
    } while (++frames < BATCH && !mur_engine.awaited.is_met);

    if (frames) {
        in->idle_passes = 0;
        publish(in);
    } else if (__builtin_expect(in->is_begun && in->seen != seen, 0)) {
        in->idle_passes = 0;
        return 1;
    } else {
        in->idle_passes++;
        prime(in->peer);
    }
    return frames;
}

int64_t mur_lane_take(struct mur_peer *peer, const struct mur_frame *wanted, void *buffer, int looks)
{
    struct mur_lane_in *in = &mur_shm.in[peer->local];
    const struct mur_record *record;
    const void *data;
    uint32_t bytes;

    if (__builtin_expect(!in->lane || in->is_begun, 0))
        return -1;
    while (!(record = mur_lane_next(in))) {
        prime(peer);
        if (!--looks)
            return -1;
        mur_cpu_relax();
    }
    if (!mur_frame_is(&record->frame, wanted))
        return -1;
    bytes = record->frame.bytes;
    data = record->data;
    if (bytes > MUR_RECORD_BYTES) {
        /* Pairs with the release in send_rest. */
        if (bytes > PLACED_MIN ||
            mur_rest_written(atomic_load_explicit(&record->rest, memory_order_acquire), bytes) < bytes)
            return -1;
        data = take_large(in, record);
    }
    mur_copy(buffer, data, bytes);
    __builtin_prefetch(mur_lane_record(in->lane, in->next_half + 8));
    if (pass(in, record))
        in->express.is_ours = true;
    in->idle_passes = 0;
    publish(in);
    return bytes;
}

int mur_lanes_poll(void)
{
    int frames = 0;

    if (atomic_load_explicit(&mur_node_own_block()->rung, memory_order_relaxed))
        mur_lanes_take_rung();
    for (int i = 0; i < mur_shm.hot_count; i++)
        frames += poll_lane(mur_shm.hot[i]);
    if (__builtin_expect(mur_shm.hot_count > 8 && ++mur_shm.passes % MUR_SILENT_PASSES == 0, 0))
        mur_lanes_park_idle();
    return frames;
}
