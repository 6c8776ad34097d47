/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared-memory transport: opening the node's memory, and the table of operations. */
#define _GNU_SOURCE
#include "transport/shm/shm.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/settings.h"
#include "boot/job.h"
#include "boot/process.h"
#include "mpi.h"

/* Small enough that the receiver soon has the first, large enough that what a frame costs does not show. */
enum { PIECE_MAX = 32 << 10 };

/* Two of them, one for each direction, leave room for other data in a first-level cache. Of 8 KiB, 1 KiB takes 0.12 us
 * (Zen 4, with nothing around it), of 16 KiB 0.16, of 4 MiB 0.2. */
enum { SMALL_RING = 8 << 10 };

enum { RING_LEAST = 512 };

struct mur_shm mur_shm;

static size_t common_start(void)
{
    return (sizeof(struct mur_node) + (size_t)mur_shm.size * sizeof(struct mur_rank_block) + 4095) & ~(size_t)4095;
}

static size_t heap_start(void)
{
    return (common_start() + mur_shm.common_bytes + 4095) & ~(size_t)4095;
}

/* The heap's second half is for lanes: two ranks can always talk, however much memory is shared for other ends. */
static uint64_t lanes_start(void)
{
    return heap_start() + ((mur_shm.node_bytes - heap_start()) / 2 & ~(uint64_t)(MUR_CACHE_LINE - 1));
}

/* Cuts a piece from the memory between `start` and `end`, of which `used` bytes are taken. NULL: it does not fit. */
static void *cut(_Atomic mur_offset *used, uint64_t start, uint64_t end, size_t bytes)
{
    uint64_t rounded = (bytes + MUR_CACHE_LINE - 1) & ~(uint64_t)(MUR_CACHE_LINE - 1);
    mur_offset before = atomic_load(used);

    do {
        if (rounded < bytes || rounded > end - start - before)
            return NULL;
    } while (!atomic_compare_exchange_weak(used, &before, before + rounded));
    return mur_shm_at(start + before);
}

static void *allocate_shared(size_t bytes)
{
    return cut(&mur_shm.node->heap, heap_start(), lanes_start(), bytes);
}

void *mur_shm_allocate_lane(size_t bytes)
{
    void *lane = cut(&mur_shm.node->lanes, lanes_start(), mur_shm.node_bytes, bytes);

    return lane ? lane : allocate_shared(bytes);
}

static void *share(size_t bytes, uint64_t *token)
{
    void *memory = allocate_shared(bytes);

    if (memory)
        *token = mur_shm_offset(memory);
    return memory;
}

/* Lanes follow the heap: what a token at its end names is within the node's memory as well. */
static void *shared(uint64_t token)
{
    return token >= heap_start() && token < lanes_start() && token % MUR_CACHE_LINE == 0 ? mur_shm_at(token) : NULL;
}

/* Where limits of the system leave the node less memory, all ranks still have lanes to all others. */
static uint32_t fit_ring(uint32_t bytes)
{
    uint64_t lanes = (mur_shm.node_bytes - lanes_start()) / ((uint64_t)mur_shm.size * (uint64_t)mur_shm.size);

    if (mur_shm.node_bytes >= mur_node_bytes(mur_process.size, mur_shm.size) - mur_job_bytes(mur_process.size))
        return bytes;
    while (bytes > RING_LEAST && bytes > lanes / 2)
        bytes /= 2;
    return bytes;
}

/* A ring stays in the caches of both sides, since the receiver takes its lines (take_lines in lane.c). Only what passes
 * through it is ever touched. Rings get smaller as ranks get more, so that a rank that talks to all others stays within
 * its share. */
static void choose_ring_sizes(void)
{
    uint32_t lines = 64;
    uint32_t bytes = mur_shm.size <= 8    ? 512 << 10
                     : mur_shm.size <= 16 ? 256 << 10
                     : mur_shm.size <= 32 ? 128 << 10
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
size_t mur_shm_eager_max(void)
{
    size_t wanted = (size_t)mur_settings.shm_eager_max;

    if (mur_settings.shm_eager_max < 0)
        wanted = mur_cpu_is_amd() ? 64 << 10 : 16 << 10;
    return wanted < mur_shm_transport.frame_max ? wanted : mur_shm_transport.frame_max;
}

static void fill_rank_block(void)
{
    struct mur_rank_block *block = &mur_shm.node->ranks[mur_shm.rank];
    cpu_set_t set;

    mur_shm.pid = getpid();
    block->pid = mur_shm.pid;
    block->probe = (uintptr_t)&mur_shm.pid;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        memcpy(block->cpus, &set, sizeof block->cpus < sizeof set ? sizeof block->cpus : sizeof set);
    atomic_store_explicit(&block->is_ready, 1, memory_order_release);
    /* Lets the other ranks copy under Yama's ptrace_scope 1; without Yama the call fails and nothing is lost. */
    if (mur_settings.shm_single_copy)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* The node's memory; or, for a process that is to reach only itself by it, some of its own. */
static int map_node(bool is_alone)
{
    mur_shm.node_bytes = mur_process.node_bytes;
    mur_shm.node = mur_process.node_memory;
    if (!is_alone)
        return MPI_SUCCESS;
    mur_shm.node = mur_boot_map_alone(&mur_shm.node_bytes);
    return mur_shm.node ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "cannot map a MiB of memory: %s", strerror(errno));
}

/* Local ranks are counted in the order of the processes. Some may be only pretended to be elsewhere; they have their
 * numbers all the same. Returns how many there are. */
static int take_peers(struct mur_peer *peers, int count, bool is_alone)
{
    int local = 0, taken = 0;

    mur_shm.world = peers;
    for (int i = 0; i < count; i++) {
        if (is_alone ? i != mur_process.rank : mur_process.job->node_of[i] != mur_process.job->node)
            continue;
        mur_shm.peers[local] = &peers[i];
        if (mur_process.node_of[i] == mur_process.node_of[mur_process.rank]) {
            peers[i].transport = &mur_shm_transport;
            peers[i].local = local;
            taken++;
        }
        local++;
    }
    return taken;
}

static int shm_open_transport(struct mur_peer *peers, int count, size_t common_bytes, void **common)
{
    bool is_alone = mur_process.local_size == 1 || !mur_transport_is_wanted("shm");
    int rc;

    mur_shm.rank = is_alone ? 0 : mur_process.local_rank;
    mur_shm.size = is_alone ? 1 : mur_process.local_size;
    mur_shm.common_bytes = mur_shm.size == count ? common_bytes : 0;
    mur_shm.can_demote = mur_cpu_can_demote();
    mur_shm.ringer = mur_shm.doorbell = -1;
    if (!is_alone && mur_shm_make_ringer() < 0)
        return mur_error(MPI_ERR_OTHER, "cannot make a socket to wake other ranks with: %s", strerror(errno));
    rc = map_node(is_alone);
    if (rc)
        return rc;
    if (mur_shm.common_bytes > mur_shm.node_bytes / 2)
        mur_shm.common_bytes = 0;
    choose_ring_sizes();
    mur_shm.peers = calloc((size_t)mur_shm.size, sizeof *mur_shm.peers);
    mur_shm.out = calloc((size_t)mur_shm.size, sizeof *mur_shm.out);
    mur_shm.in = calloc((size_t)mur_shm.size, sizeof *mur_shm.in);
    mur_shm.hot = calloc((size_t)mur_shm.size, sizeof *mur_shm.hot);
    mur_shm.copy_state = calloc((size_t)mur_shm.size, sizeof *mur_shm.copy_state);
    if (!mur_shm.peers || !mur_shm.out || !mur_shm.in || !mur_shm.hot || !mur_shm.copy_state)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the ends of the lanes to %d ranks", mur_shm.size);
    mur_express_setup();
    if (take_peers(peers, count, is_alone) == count && mur_shm.common_bytes)
        *common = mur_shm_at(common_start());
    mur_shm_barrier_setup();
    fill_rank_block();
    mur_shm_transport.frame_max = mur_shm.lane_bytes[MUR_RING_LARGE] / 4;
    if (mur_shm_transport.frame_max > MUR_DATA_MAX)
        mur_shm_transport.frame_max = MUR_DATA_MAX;
    mur_shm_transport.piece_max =
        mur_shm_transport.frame_max / 2 < PIECE_MAX ? mur_shm_transport.frame_max / 2 : PIECE_MAX;
    mur_shm_transport.eager_max = mur_shm_eager_max();
    mur_shm_transport.may_prefer_pieces = mur_settings.shm_single_copy < 0 && mur_cpu_is_amd();
    return MPI_SUCCESS;
}

struct mur_transport mur_shm_transport = {
    .name = "shm",
    .open = shm_open_transport,
    .send = mur_lane_send,
    .send_packed = mur_lane_send_packed,
    .progress = mur_lanes_poll,
    .has_left = mur_shm_has_left,
    .take = mur_lane_take,
    .prepare_sleep = mur_shm_prepare_sleep,
    .sleep = mur_shm_sleep,
    .end_sleep = mur_shm_end_sleep,
    .wake = mur_shm_wake_self,
    .doorbell = mur_shm_doorbell,
    .share = share,
    .shared = shared,
    .map = mur_shm_map,
    .unmap = mur_shm_unmap,
    .discard = mur_shm_discard,
    .rouse = mur_shm_rouse,
    .can_copy = mur_shm_can_copy,
    .read = mur_shm_read,
    .write = mur_shm_write,
    .move = mur_shm_move,
};
