/* SPDX-License-Identifier: BSD-3-Clause */
/* Parking lanes, ringing, and getting ready to sleep. The protocol is told in shm.h; here is its slow half. */
#include "transport/shm/shm.h"

/* ---- leaving ---- */

/* The rank that leaves stores has_left and then loads is_watched; the rank that watches stores is_watched and then
 * loads has_left. One of them sees what the other has stored, all four being sequentially consistent. */
void mur_shm_leave(void)
{
    struct mur_rank_block *ranks = mur_node.memory->ranks;

    atomic_store(&ranks[mur_node.rank].has_left, 1);
    if (atomic_load(&ranks[mur_node.rank].is_watched))
        for (int i = 0; i < mur_node.size; i++)
            mur_node_wake(i);
}

void mur_shm_come_back(void)
{
    atomic_store(&mur_node_own_block()->has_left, 0);
}

/* A lane that the peer has rung may be one that this process does not know yet. */
bool mur_shm_has_left(struct mur_peer *peer)
{
    struct mur_rank_block *ranks = mur_node.memory->ranks, *block = &ranks[peer->local];
    struct mur_lane_in *in = &mur_shm.in[peer->local];

    if (!atomic_load_explicit(&block->is_watched, memory_order_relaxed))
        atomic_store(&block->is_watched, 1);
    return atomic_load(&block->has_left) && !atomic_load(&ranks[mur_node.rank].rung) &&
           (!in->lane || (!in->is_begun && !mur_lane_next(in)));
}

/* ---- ringing ---- */

/* Puts a parked lane on its receiver's stack. Whoever takes the mark off owns the pushing. */
void mur_shm_ring(struct mur_lane *lane)
{
    struct mur_rank_block *block = &mur_node.memory->ranks[lane->receiver];
    mur_offset offset = mur_node_offset(lane);
    mur_offset top = atomic_load(&block->rung);

    if (!atomic_exchange(&lane->is_parked, 0))
        return;
    do
        lane->next_rung = top;
    while (!atomic_compare_exchange_weak(&block->rung, &top, offset)); /* pairs with the exchange in take_rung */
    mur_node_wake(lane->receiver);
}

static void add_hot(struct mur_lane_in *in)
{
    in->idle_passes = 0;
    mur_shm.hot[mur_shm.hot_count++] = in;
}

/* Makes all rung lanes hot; those seen for the first time get their receiving end. */
void mur_lanes_take_rung(void)
{
    mur_offset offset = atomic_exchange(&mur_node_own_block()->rung, 0);

    while (offset) {
        struct mur_lane *lane = mur_node_at(offset);
        struct mur_lane_in *in = &mur_shm.in[lane->sender];

        offset = lane->next_rung; /* before the lane can be rung again */
        if (!in->lane) {
            in->lane = lane;
            in->peer = mur_shm.peers[lane->sender];
            mur_lane_rings(lane, in->ring);
            if (lane->sender < mur_node.rank)
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
    mur_node_barrier();
    /* The parked ones lie behind the kept ones; adding back never overtakes the reading. */
    mur_shm.hot_count = kept;
    for (int i = kept; i < hot; i++)
        unpark_if_full(mur_shm.hot[i]);
}

bool mur_shm_prepare_sleep(const struct mur_peer *refused)
{
    int hot = mur_shm.hot_count;
    bool has_work = false;

    for (int i = 0; i < hot; i++)
        atomic_store_explicit(&mur_shm.hot[i]->lane->is_parked, 1, memory_order_relaxed);
    for (const struct mur_peer *peer = refused; peer; peer = peer->next_backlogged)
        if (peer->local >= 0)
            atomic_store_explicit(&mur_shm.out[peer->local].lane->wants_room, 1, memory_order_relaxed);
    mur_node_announce_sleep();

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
    has_work |= atomic_load(&mur_node_own_block()->rung) != 0;
    return !has_work;
}
