/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared-memory transport: the sizes of lanes, and the table of operations. */
#include "transport/shm/shm.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/settings.h"
#include "boot/look.h"
#include "mpi.h"

/* Small enough that the receiver soon has the first, large enough that what a frame costs does not show. */
enum { PIECE_MAX = 32 << 10 };

/* Two of them, one for each direction, leave room for other data in a first-level cache. Of 8 KiB, 1 KiB takes 0.12 us
 * (Zen 4, with nothing around it), of 16 KiB 0.16, of 4 MiB 0.2. */
enum { SMALL_RING = 8 << 10 };

enum { RING_LEAST = 512 };

struct mur_shm mur_shm;

/* Where limits of the system leave the node less memory, all ranks still have lanes to all others. */
static uint32_t fit_ring(uint32_t bytes)
{
    uint64_t share = mur_node_lane_share();

    while (bytes > RING_LEAST && bytes > share / 2)
        bytes /= 2;
    return bytes;
}

/* A ring stays in the caches of both sides, since the receiver takes its lines (take_lines in lane.c). Only what passes
 * through it is ever touched. Rings get smaller as ranks get more, so that a rank that talks to all others stays within
 * its share. */
static void choose_ring_sizes(void)
{
    uint32_t lines = 64;
    uint32_t bytes = mur_node.size <= 8    ? 512 << 10
                     : mur_node.size <= 16 ? 256 << 10
                     : mur_node.size <= 32 ? 128 << 10
                                           : 32 << 10;

    if (mur_settings.shm_lane_slots)
        lines = (uint32_t)mur_settings.shm_lane_slots;
    if (mur_settings.shm_lane_bytes)
        bytes = (uint32_t)mur_settings.shm_lane_bytes;
    if (lines < 2) /* a receiver may look at a line while the next record needs a whole one */
        lines = 2;
    bytes = fit_ring(bytes);
    if (bytes < RING_LEAST)
        bytes = RING_LEAST;
    mur_shm.lane_halves = 2u << (31 - __builtin_clz(lines));
    bytes = 1u << (31 - __builtin_clz(bytes));
    mur_shm.lane_bytes[MUR_RING_LARGE] = bytes;
    mur_shm.lane_bytes[MUR_RING_SMALL] = bytes / 8 < SMALL_RING ? bytes / 8 : SMALL_RING;
}

/* Where lines are written and read at the speed of the shared cache, two copies by two cores at once are faster than
 * one copy that takes system calls: on Zen 4, 64 KiB take 2.6 us instead of 4.2. */
static size_t eager_max(void)
{
    size_t wanted = (size_t)mur_settings.shm_eager_max;

    if (mur_settings.shm_eager_max < 0)
        wanted = mur_cpu_is_amd() ? 64 << 10 : 16 << 10;
    return wanted < mur_shm_transport.frame_max ? wanted : mur_shm_transport.frame_max;
}

static int allocate_ends(void)
{
    size_t size = (size_t)mur_node.size;

    mur_shm.peers = calloc(size, sizeof *mur_shm.peers);
    mur_shm.out = calloc(size, sizeof *mur_shm.out);
    mur_shm.in = calloc(size, sizeof *mur_shm.in);
    mur_shm.hot = calloc(size, sizeof *mur_shm.hot);
    if (!mur_shm.peers || !mur_shm.out || !mur_shm.in || !mur_shm.hot)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the ends of the lanes to %d ranks", mur_node.size);
    return MPI_SUCCESS;
}

_Static_assert((int)MUR_HALF_LINE == (int)MUR_LOOK_RECORD, "what boot/look.h tells of lanes");

/* For those who look from outside: how far this process has written in each lane. */
static void show_lanes(void)
{
    mur_look.lanes = (struct mur_look_table){.at = (uintptr_t)mur_shm.out,
                                             .rows = (uint32_t)mur_node.size,
                                             .row_bytes = sizeof *mur_shm.out,
                                             .columns = {offsetof(struct mur_lane_out, next_half),
                                                         offsetof(struct mur_lane_out, ring[MUR_RING_SMALL].next),
                                                         offsetof(struct mur_lane_out, ring[MUR_RING_LARGE].next)}};
}

static void take_peers(struct mur_peer *peers)
{
    for (int local = 0; local < mur_node.size; local++) {
        struct mur_peer *peer = &peers[mur_node.process_of[local]];

        mur_shm.peers[local] = peer;
        if (mur_node.local_of[peer->process] < 0)
            continue;
        peer->transport = &mur_shm_transport;
        peer->local = local;
    }
}

static int shm_open_transport(struct mur_peer *peers, int count)
{
    int rc = allocate_ends();

    (void)count;
    if (rc)
        return rc;
    mur_shm.can_demote = mur_cpu_can_demote();
    choose_ring_sizes();
    mur_express_setup();
    take_peers(peers);
    show_lanes();
    mur_shm_transport.frame_max = mur_shm.lane_bytes[MUR_RING_LARGE] / 4;
    if (mur_shm_transport.frame_max > MUR_DATA_MAX)
        mur_shm_transport.frame_max = MUR_DATA_MAX;
    mur_shm_transport.piece_max =
        mur_shm_transport.frame_max / 2 < PIECE_MAX ? mur_shm_transport.frame_max / 2 : PIECE_MAX;
    mur_shm_transport.eager_max = eager_max();
    mur_shm_transport.may_prefer_pieces = mur_settings.shm_single_copy < 0 && mur_cpu_is_amd();
    return MPI_SUCCESS;
}

static bool settle(bool is_last)
{
    (void)is_last;
    return true;
}

static void shm_notify(enum mur_transport_event event)
{
    switch (event) {
    case MUR_TRANSPORT_SETTINGS:
        mur_shm_transport.eager_max = eager_max();
        break;
    case MUR_TRANSPORT_LEAVING:
        mur_shm_leave();
        break;
    case MUR_TRANSPORT_BACK:
        mur_shm_come_back();
        break;
    case MUR_TRANSPORT_FORKED:
        break;
    }
}

/* Copies; whoever asks for no copy goes by straight_max, which is 0 here. */
static bool send_straight(struct mur_peer *peer, const struct mur_frame *frame, const void *data,
                          mur_sent_function *sent, void *argument)
{
    if (!mur_lane_send(peer, frame, data))
        return false;
    sent(argument);
    return true;
}

struct mur_transport mur_shm_transport = {
    .name = "shm",
    .open = shm_open_transport,
    .notify = shm_notify,
    .send = mur_lane_send,
    .send_packed = mur_lane_send_packed,
    .send_straight = send_straight,
    .settle = settle,
    .progress = mur_lanes_poll,
    .take = mur_lane_take,
    .has_left = mur_shm_has_left,
    .prepare_sleep = mur_shm_prepare_sleep,
    .sleep = mur_node_sleep,
};
