/* SPDX-License-Identifier: BSD-3-Clause */
/* Single copy: this process reads and writes a peer's memory (process_vm_readv(2)). Whether the
 * system lets it is tried once a peer; where it does not, the callers take the way through the rings. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/settings.h"
#include "transport/shm/shm.h"

typedef ssize_t vm_copy(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static bool copy(vm_copy *call, struct mur_peer *peer, void *local, uint64_t remote, size_t bytes)
{
    pid_t pid = mur_shm.node->ranks[peer->local].pid;
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

/* Tries it: a seccomp filter, Yama or another user namespace may forbid it, each for some peers only. */
bool mur_shm_can_copy(struct mur_peer *peer)
{
    struct mur_rank_block *block = &mur_shm.node->ranks[peer->local];
    uint8_t *state = &mur_shm.copy_state[peer->local];
    int32_t pid = 0;

    if (*state == MUR_COPY_UNTRIED && atomic_load_explicit(&block->is_ready, memory_order_acquire)) {
        bool works = mur_settings.shm_single_copy &&
                     (peer->local == mur_shm.rank || copy(process_vm_readv, peer, &pid, block->probe, sizeof pid));

        *state = works && (peer->local == mur_shm.rank || pid == block->pid) ? MUR_COPY_WORKS : MUR_COPY_REFUSED;
    }
    return *state == MUR_COPY_WORKS;
}

bool mur_shm_read(struct mur_peer *peer, void *local, uint64_t remote, size_t bytes)
{
    if (peer->local == mur_shm.rank) {
        memcpy(local, (const void *)(uintptr_t)remote, bytes);
        return true;
    }
    return copy(process_vm_readv, peer, local, remote, bytes);
}

bool mur_shm_write(struct mur_peer *peer, const void *local, uint64_t remote, size_t bytes)
{
    if (peer->local == mur_shm.rank) {
        memcpy((void *)(uintptr_t)remote, local, bytes);
        return true;
    }
    return copy(process_vm_writev, peer, (void *)(uintptr_t)local, remote, bytes);
}

bool mur_shm_move(struct mur_peer *peer, bool is_write, const struct iovec *local, int local_count,
                  const struct iovec *remote, int remote_count)
{
    pid_t pid = mur_shm.node->ranks[peer->local].pid;
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
