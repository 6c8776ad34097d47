/* SPDX-License-Identifier: BSD-3-Clause */
/* Single copy: this process reads and writes the memory of another one (process_vm_readv(2)). Whether the system lets
 * it is tried once a rank; where it does not, the callers take the way through the rings. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/settings.h"
#include "node/node.h"

typedef ssize_t vm_copy(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static bool copy(vm_copy *call, int rank, void *local, uint64_t remote, size_t bytes)
{
    pid_t pid = mur_node.memory->ranks[rank].pid;
    size_t done = 0;

    while (done < bytes) {
        struct iovec here = {(char *)local + done, bytes - done};
        struct iovec there = {(void *)(uintptr_t)(remote + done), bytes - done};
        ssize_t moved = call(pid, &here, 1, &there, 1, 0);

        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        done += (size_t)moved;
    }
    return true;
}

enum { UNTRIED, WORKS, REFUSED };

/* Tries it: a seccomp filter, Yama or another user namespace may forbid it, each for some ranks only. */
static __attribute__((noinline)) void try_copy(int rank)
{
    const struct mur_rank_block *block = &mur_node.memory->ranks[rank];
    uint8_t *state = &mur_node.copy_state[rank];
    int32_t pid = 0;

    /* Pairs with the release in fill_rank_block. */
    if (atomic_load_explicit(&block->is_ready, memory_order_acquire)) {
        bool works = mur_settings.shm_single_copy &&
                     (rank == mur_node.rank || copy(process_vm_readv, rank, &pid, block->probe, sizeof pid));

        *state = works && (rank == mur_node.rank || pid == block->pid) ? WORKS : REFUSED;
    }
}

bool mur_node_can_copy(int rank)
{
    if (rank < 0)
        return false;
    if (mur_node.copy_state[rank] == UNTRIED)
        try_copy(rank);
    return mur_node.copy_state[rank] == WORKS;
}

bool mur_node_read(int rank, void *local, uint64_t remote, size_t bytes)
{
    if (rank == mur_node.rank) {
        memcpy(local, (const void *)(uintptr_t)remote, bytes);
        return true;
    }
    return copy(process_vm_readv, rank, local, remote, bytes);
}

bool mur_node_write(int rank, const void *local, uint64_t remote, size_t bytes)
{
    if (rank == mur_node.rank) {
        memcpy((void *)(uintptr_t)remote, local, bytes);
        return true;
    }
    return copy(process_vm_writev, rank, (void *)(uintptr_t)local, remote, bytes);
}

bool mur_node_move(int rank, bool is_write, const struct iovec *local, int local_count, const struct iovec *remote,
                   int remote_count)
{
    pid_t pid = mur_node.memory->ranks[rank].pid;
    vm_copy *call = is_write ? process_vm_writev : process_vm_readv;
    size_t bytes = 0;
    ssize_t moved;

    for (int i = 0; i < local_count; i++)
        bytes += local[i].iov_len;
    do
        moved = call(pid, local, (unsigned long)local_count, remote, (unsigned long)remote_count, 0);
    while (moved < 0 && errno == EINTR);
    return moved >= 0 && (size_t)moved == bytes;
}
