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

#include "base/error.h"
#include "base/settings.h"
#include "boot/job.h"
#include "boot/process.h"
#include "mpi.h"

struct mur_shm mur_shm;

static size_t common_start(void)
{
    return (sizeof(struct mur_node) + (size_t)mur_shm.size * sizeof(struct mur_rank_block) + 4095) & ~(size_t)4095;
}

static size_t heap_start(void)
{
    return (common_start() + mur_shm.common_bytes + 4095) & ~(size_t)4095;
}

void *mur_shm_allocate(size_t bytes)
{
    uint64_t rounded = (bytes + MUR_CACHE_LINE - 1) & ~(uint64_t)(MUR_CACHE_LINE - 1);
    uint64_t before = atomic_fetch_add(&mur_shm.node->heap, rounded);

    if (heap_start() + before + rounded > mur_shm.node_bytes)
        return NULL;
    return mur_shm_at(heap_start() + before);
}

static void *share(size_t bytes, uint64_t *token)
{
    void *memory = mur_shm_allocate(bytes);

    if (memory)
        *token = mur_shm_offset(memory);
    return memory;
}

static void *shared(uint64_t token)
{
    return mur_shm_at(token);
}

/* Rings get smaller as ranks get more, so that a rank that talks to all others stays within its share. */
static void choose_ring_sizes(void)
{
    uint32_t slots = mur_shm.size <= 32 ? 256 : 64;
    uint32_t bytes = mur_shm.size <= 32 ? 128 << 10 : 32 << 10;

    if (mur_settings.shm_lane_slots)
        slots = (uint32_t)mur_settings.shm_lane_slots;
    if (mur_settings.shm_lane_bytes)
        bytes = (uint32_t)mur_settings.shm_lane_bytes;
    if (bytes < 512)
        bytes = 512;
    mur_shm.lane_slots = 1u << (31 - __builtin_clz(slots));
    mur_shm.lane_bytes = 1u << (31 - __builtin_clz(bytes));
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

static int map_node(void)
{
    int flags = MAP_SHARED | MAP_NORESERVE | (mur_process.node_fd < 0 ? MAP_ANONYMOUS : 0);
    void *memory;

    mur_shm.node_bytes = mur_node_bytes(mur_shm.size);
    memory = mmap(NULL, mur_shm.node_bytes, PROT_READ | PROT_WRITE, flags, mur_process.node_fd, 0);
    if (memory == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM, "cannot map %llu bytes of the node's shared memory: %s",
                         (unsigned long long)mur_shm.node_bytes, strerror(errno));
    mur_shm.node = memory;
    return MPI_SUCCESS;
}

static int shm_open_transport(struct mur_peer *peers, size_t common_bytes, void **common)
{
    int rc;

    mur_shm.peers = peers;
    mur_shm.rank = mur_process.local_rank;
    mur_shm.size = mur_process.local_size;
    mur_shm.common_bytes = common_bytes;
    rc = map_node();
    if (rc)
        return rc;
    *common = mur_shm_at(common_start());
    choose_ring_sizes();
    mur_shm.out = calloc((size_t)mur_shm.size, sizeof *mur_shm.out);
    mur_shm.in = calloc((size_t)mur_shm.size, sizeof *mur_shm.in);
    mur_shm.hot = calloc((size_t)mur_shm.size, sizeof *mur_shm.hot);
    mur_shm.copy_state = calloc((size_t)mur_shm.size, sizeof *mur_shm.copy_state);
    if (!mur_shm.out || !mur_shm.in || !mur_shm.hot || !mur_shm.copy_state)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the ends of the lanes to %d ranks", mur_shm.size);
    mur_shm_barrier_setup();
    fill_rank_block();
    mur_shm_transport.frame_max = mur_shm.lane_bytes / 4;
    return MPI_SUCCESS;
}

/* The memory itself stays until the last rank has ended, so what was sent can still be received. */
static void shm_close_transport(void)
{
    munmap(mur_shm.node, mur_shm.node_bytes);
    free(mur_shm.out);
    free(mur_shm.in);
    free(mur_shm.hot);
    free(mur_shm.copy_state);
}

struct mur_transport mur_shm_transport = {
    .name = "shm",
    .open = shm_open_transport,
    .close = shm_close_transport,
    .send = mur_lane_send,
    .send_packed = mur_lane_send_packed,
    .progress = mur_lanes_poll,
    .prepare_sleep = mur_shm_prepare_sleep,
    .sleep = mur_shm_sleep,
    .end_sleep = mur_shm_end_sleep,
    .wake = mur_shm_wake_self,
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
