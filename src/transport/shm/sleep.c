/* SPDX-License-Identifier: BSD-3-Clause */
/* Parking lanes, ringing, sleeping and waking. The protocol is told in shm.h; here is its slow half. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "transport/shm/shm.h"

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Senders rely on the receivers' membarrier, which reaches only processes that registered. Where it is missing (old
 * kernels, seccomp filters) all ranks of the node use fences instead. */
void mur_shm_barrier_setup(void)
{
    mur_shm.has_membarrier = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    if (!mur_shm.has_membarrier)
        atomic_store(&mur_shm.node->needs_fence, 1);
}

/* Everything this process stored before is visible to all, and all of what they stored before is visible to it. */
static void barrier_everywhere(void)
{
    if (!mur_shm.has_membarrier || membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
        atomic_thread_fence(memory_order_seq_cst);
}

/* The doorbell's queue may be full of earlier rings: then it is readable, which is all that matters. */
static void ring_doorbell(const struct mur_rank_block *block)
{
    sendto(mur_shm.ringer, "", 1, MSG_DONTWAIT, (const struct sockaddr *)&block->doorbell, block->doorbell_length);
}

void mur_shm_wake(struct mur_rank_block *block)
{
    uint32_t how;

    if (!atomic_load(&block->is_asleep) || !(how = atomic_exchange(&block->is_asleep, MUR_AWAKE)))
        return;
    atomic_fetch_sub(&mur_shm.node->sleepers, 1);
    if (how == MUR_ASLEEP_DOORBELL)
        ring_doorbell(block);
    else
        syscall(SYS_futex, &block->is_asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Made at the start, since it cannot be done without later, when the process may be at its limit of open files. */
int mur_shm_make_ringer(void)
{
    mur_shm.ringer = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return mur_shm.ringer;
}

/* In a forked child; the network closes the doorbell. */
void mur_shm_forked(void)
{
    if (mur_shm.ringer >= 0 && mur_shm.doorbell < 0)
        close(mur_shm.ringer);
}

/* The ringer gets a name in the abstract namespace, that the kernel chooses: no file, nothing left behind, and a ring
 * from a stranger only wakes this process for nothing. From now on this process is woken by it. */
int mur_shm_doorbell(void)
{
    struct mur_rank_block *block = &mur_shm.node->ranks[mur_shm.rank];
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof name;

    if (mur_shm.doorbell >= 0)
        return mur_shm.doorbell;
    if ((mur_shm.ringer < 0 && mur_shm_make_ringer() < 0) ||
        bind(mur_shm.ringer, (struct sockaddr *)&name, sizeof name.sun_family) < 0 ||
        getsockname(mur_shm.ringer, (struct sockaddr *)&name, &length) < 0)
        return -1;
    block->doorbell = name;
    block->doorbell_length = length;
    mur_shm.doorbell = mur_shm.ringer;
    return mur_shm.doorbell;
}

/* Like with lanes, no fence is needed between the writing and the look at who sleeps: the sleeper's barrier comes
 * between its announcement and its last look at what was written. */
void mur_shm_rouse(const int *processes, int count)
{
    if (__builtin_expect(atomic_load_explicit(&mur_shm.node->needs_fence, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(!atomic_load_explicit(&mur_shm.node->sleepers, memory_order_relaxed), 1))
        return;
    for (int i = 0; i < count; i++)
        mur_shm_wake(&mur_shm.node->ranks[mur_shm.world[processes[i]].local]);
}

/* ---- leaving ---- */

/* The rank that leaves stores has_left and then loads is_watched; the rank that watches stores is_watched and then
 * loads has_left. One of them sees what the other has stored, all four being sequentially consistent. */
void mur_shm_leave(void)
{
    struct mur_rank_block *ranks = mur_shm.node->ranks;

    atomic_store(&ranks[mur_shm.rank].has_left, 1);
    if (atomic_load(&ranks[mur_shm.rank].is_watched))
        for (int i = 0; i < mur_shm.size; i++)
            mur_shm_wake(&ranks[i]);
}

void mur_shm_come_back(void)
{
    atomic_store(&mur_shm.node->ranks[mur_shm.rank].has_left, 0);
}

/* A lane that the peer has rung may be one that this process does not know yet. */
bool mur_shm_has_left(struct mur_peer *peer)
{
    struct mur_rank_block *ranks = mur_shm.node->ranks, *block = &ranks[peer->local];
    struct mur_lane_in *in = &mur_shm.in[peer->local];

    if (!atomic_load_explicit(&block->is_watched, memory_order_relaxed))
        atomic_store(&block->is_watched, 1);
    return atomic_load(&block->has_left) && !atomic_load(&ranks[mur_shm.rank].rung) &&
           (!in->lane || (!in->is_begun && !mur_lane_next(in)));
}

/* ---- ringing ---- */

/* Puts a parked lane on its receiver's stack. Whoever takes the mark off owns the pushing. */
void mur_shm_ring(struct mur_lane *lane)
{
    struct mur_rank_block *block = &mur_shm.node->ranks[lane->receiver];
    mur_offset offset = mur_shm_offset(lane);
    mur_offset top = atomic_load(&block->rung);

    if (!atomic_exchange(&lane->is_parked, 0))
        return;
    do
        lane->next_rung = top;
    while (!atomic_compare_exchange_weak(&block->rung, &top, offset)); /* pairs with the exchange in take_rung */
    mur_shm_wake(block);
}

static void add_hot(struct mur_lane_in *in)
{
    in->idle_passes = 0;
    mur_shm.hot[mur_shm.hot_count++] = in;
}

/* Makes all rung lanes hot; those seen for the first time get their receiving end. */
void mur_lanes_take_rung(void)
{
    mur_offset offset = atomic_exchange(&mur_shm.node->ranks[mur_shm.rank].rung, 0);

    while (offset) {
        struct mur_lane *lane = mur_shm_at(offset);
        struct mur_lane_in *in = &mur_shm.in[lane->sender];

        offset = lane->next_rung; /* before the lane can be rung again */
        if (!in->lane) {
            in->lane = lane;
            in->peer = mur_shm.peers[lane->sender];
            mur_lane_rings(lane, in->ring);
            if (lane->sender < mur_shm.rank)
                in->express.record = &lane->express;
        }
        add_hot(in);
    }
}

static bool has_frame(struct mur_lane_in *in)
{
    const struct mur_record *record = mur_lane_next(in);

    if (!record || !in->is_begun)
        return record != NULL;
    /* Pairs with the release in send_rest. */
    return mur_rest_written(atomic_load_explicit(&record->rest, memory_order_acquire), record->frame.bytes) != in->seen;
}

/* Second half of parking, after the barrier: a lane that got a frame meanwhile is hot again, unless its sender was
 * faster and rang. Returns true when the lane has something. */
static bool unpark_if_full(struct mur_lane_in *in)
{
    if (!has_frame(in))
        return false;
    if (atomic_exchange(&in->lane->is_parked, 0))
        add_hot(in);
    return true;
}

/* With many hot lanes, those that were silent for long are parked together, for the price of one barrier. */
void mur_lanes_park_idle(void)
{
    int hot = mur_shm.hot_count, kept = 0, parked = 0;

    for (int i = 0; i < hot; i++) {
        struct mur_lane_in *in = mur_shm.hot[i];
        if (in->idle_passes < MUR_SILENT_PASSES) {
            mur_shm.hot[i] = mur_shm.hot[kept];
            mur_shm.hot[kept++] = in;
        } else {
            atomic_store_explicit(&in->lane->is_parked, 1, memory_order_relaxed);
            parked++;
        }
    }
    if (!parked)
        return;
    barrier_everywhere();
    /* The parked ones lie behind the kept ones; adding back never overtakes the reading. */
    mur_shm.hot_count = kept;
    for (int i = kept; i < hot; i++)
        unpark_if_full(mur_shm.hot[i]);
}

bool mur_shm_prepare_sleep(const struct mur_peer *refused)
{
    struct mur_rank_block *self = &mur_shm.node->ranks[mur_shm.rank];
    int hot = mur_shm.hot_count;
    bool has_work = false;

    for (int i = 0; i < hot; i++)
        atomic_store_explicit(&mur_shm.hot[i]->lane->is_parked, 1, memory_order_relaxed);
    for (const struct mur_peer *peer = refused; peer; peer = peer->next_backlogged)
        if (peer->local >= 0)
            atomic_store_explicit(&mur_shm.out[peer->local].lane->wants_room, 1, memory_order_relaxed);
    if (!atomic_exchange(&self->is_asleep, mur_shm.doorbell < 0 ? MUR_ASLEEP_FUTEX : MUR_ASLEEP_DOORBELL))
        atomic_fetch_add(&mur_shm.node->sleepers, 1);
    barrier_everywhere();

    mur_shm.hot_count = 0;
    for (int i = 0; i < hot; i++)
        has_work |= unpark_if_full(mur_shm.hot[i]);
    for (const struct mur_peer *peer = refused; peer; peer = peer->next_backlogged) {
        const struct mur_lane_out *out;

        if (peer->local < 0)
            continue;
        out = &mur_shm.out[peer->local];
        has_work |= atomic_load(&out->lane->consumed_halves) != out->consumed_halves;
        for (int i = 0; i < MUR_RINGS; i++)
            has_work |= atomic_load(&out->lane->consumed_bytes[i]) != out->ring[i].consumed;
    }
    has_work |= atomic_load(&self->rung) != 0;
    return !has_work;
}

void mur_shm_sleep(uint64_t until)
{
    uint64_t now = until == UINT64_MAX ? 0 : mur_clock_ns(), left = until > now ? until - now : 0;
    const struct timespec limit = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};

    syscall(SYS_futex, &mur_shm.node->ranks[mur_shm.rank].is_asleep, FUTEX_WAIT, MUR_ASLEEP_FUTEX, now ? &limit : NULL,
            NULL, 0);
}

void mur_shm_end_sleep(void)
{
    char rings[64];

    while (mur_shm.doorbell >= 0 && recv(mur_shm.doorbell, rings, sizeof rings, MSG_DONTWAIT) >= 0)
        continue;
    if (atomic_exchange(&mur_shm.node->ranks[mur_shm.rank].is_asleep, 0))
        atomic_fetch_sub(&mur_shm.node->sleepers, 1);
}

void mur_shm_wake_self(void)
{
    mur_shm_wake(&mur_shm.node->ranks[mur_shm.rank]);
}
