/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening the node's memory, and cutting pieces from its heap. */
#define _GNU_SOURCE
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
#include "node/node.h"

struct mur_node mur_node;

static size_t common_start(void)
{
    return (sizeof(struct mur_node_memory) + (size_t)mur_node.size * sizeof(struct mur_rank_block) + 4095) &
           ~(size_t)4095;
}

static size_t heap_start(void)
{
    return (common_start() + mur_node.common_bytes + 4095) & ~(size_t)4095;
}

/* The heap's second half is for lanes: two ranks can always talk, however much memory is shared for other ends. */
static uint64_t lanes_start(void)
{
    return heap_start() + ((mur_node.bytes - heap_start()) / 2 & ~(uint64_t)(MUR_CACHE_LINE - 1));
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
    return mur_node_at(start + before);
}

static void *allocate_shared(size_t bytes)
{
    return cut(&mur_node.memory->heap, heap_start(), lanes_start(), bytes);
}

void *mur_node_allocate_lane(size_t bytes)
{
    void *lane = cut(&mur_node.memory->lanes, lanes_start(), mur_node.bytes, bytes);

    return lane ? lane : allocate_shared(bytes);
}

void *mur_node_share(size_t bytes, uint64_t *token)
{
    void *memory = allocate_shared(bytes);

    if (memory)
        *token = mur_node_offset(memory);
    return memory;
}

/* Lanes follow the heap: what a token at its end names is within the node's memory as well. */
void *mur_node_shared(uint64_t token)
{
    return token >= heap_start() && token < lanes_start() && token % MUR_CACHE_LINE == 0 ? mur_node_at(token) : NULL;
}

void *mur_node_common(void)
{
    return mur_node.near_count == mur_process.size && mur_node.common_bytes ? mur_node_at(common_start()) : NULL;
}

/* Limits of the system may leave the node less memory than it was meant to have. */
uint64_t mur_node_lane_share(void)
{
    if (mur_node.bytes >= mur_node_bytes(mur_process.size, mur_node.size) - mur_job_bytes(mur_process.size))
        return UINT64_MAX;
    return (mur_node.bytes - lanes_start()) / ((uint64_t)mur_node.size * (uint64_t)mur_node.size);
}

static void fill_rank_block(void)
{
    struct mur_rank_block *block = mur_node_own_block();
    cpu_set_t set;

    mur_node.pid = getpid();
    block->pid = mur_node.pid;
    block->probe = (uintptr_t)&mur_node.pid;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        memcpy(block->cpus, &set, sizeof block->cpus < sizeof set ? sizeof block->cpus : sizeof set);
    /* Pairs with the acquires in mur_node_can_copy and mur_cores_suffice. */
    atomic_store_explicit(&block->is_ready, 1, memory_order_release);
    /* Lets the other ranks copy under Yama's ptrace_scope 1; without Yama the call fails and nothing is lost. */
    if (mur_settings.shm_single_copy)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* The node's memory; or, for a process that is to reach only itself by it, some of its own. */
static int map_node(bool is_alone)
{
    mur_node.bytes = mur_process.node_bytes;
    mur_node.memory = mur_process.node_memory;
    if (!is_alone)
        return MPI_SUCCESS;
    mur_node.memory = mur_boot_map_alone(&mur_node.bytes);
    return mur_node.memory ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "cannot map a MiB of memory: %s", strerror(errno));
}

/* Local ranks are counted in the order of the processes. Some may be only pretended to be elsewhere; they have their
 * numbers all the same. */
static void number_ranks(bool is_alone)
{
    int local = 0;

    for (int i = 0; i < mur_process.size; i++) {
        mur_node.local_of[i] = -1;
        if (is_alone ? i != mur_process.rank : mur_process.job->node_of[i] != mur_process.job->node)
            continue;
        mur_node.process_of[local] = i;
        if (mur_process.node_of[i] == mur_process.node_of[mur_process.rank]) {
            mur_node.local_of[i] = local;
            mur_node.near_count++;
        }
        local++;
    }
}

int mur_node_open(bool is_alone, size_t common_bytes)
{
    int rc;

    is_alone |= mur_process.local_size == 1;
    mur_node.rank = is_alone ? 0 : mur_process.local_rank;
    mur_node.size = is_alone ? 1 : mur_process.local_size;
    mur_node.ringer = mur_node.doorbell = -1;
    if (!is_alone && mur_node_make_ringer() < 0)
        return mur_error(MPI_ERR_OTHER, "cannot make a socket to wake other ranks with: %s", strerror(errno));
    rc = map_node(is_alone);
    if (rc)
        return rc;
    mur_node.process_of = calloc((size_t)mur_node.size, sizeof *mur_node.process_of);
    mur_node.local_of = calloc((size_t)mur_process.size, sizeof *mur_node.local_of);
    mur_node.copy_state = calloc((size_t)mur_node.size, sizeof *mur_node.copy_state);
    if (!mur_node.process_of || !mur_node.local_of || !mur_node.copy_state)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the table of %d ranks of this node", mur_node.size);
    if (mur_node.size == mur_process.size && common_bytes <= mur_node.bytes / 2)
        mur_node.common_bytes = common_bytes;
    number_ranks(is_alone);
    mur_node_barrier_setup();
    fill_rank_block();
    return MPI_SUCCESS;
}
