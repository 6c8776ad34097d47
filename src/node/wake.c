/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping and waking. A process sleeps on a futex in its rank block, or in the network, which then listens to its
 * doorbell. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "node/node.h"

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Senders rely on the receivers' membarrier, which reaches only processes that registered. Where it is missing (old
 * kernels, seccomp filters) all ranks of the node use fences instead. */
void mur_node_barrier_setup(void)
{
    mur_node.has_membarrier = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    if (!mur_node.has_membarrier)
        atomic_store(&mur_node.memory->needs_fence, 1);
}

void mur_node_barrier(void)
{
    if (!mur_node.has_membarrier || membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
        atomic_thread_fence(memory_order_seq_cst);
}

/* The doorbell's queue may be full of earlier rings: then it is readable, which is all that matters. */
static void ring_doorbell(const struct mur_rank_block *block)
{
    sendto(mur_node.ringer, "", 1, MSG_DONTWAIT, (const struct sockaddr *)&block->doorbell, block->doorbell_length);
}

void mur_node_wake(int rank)
{
    struct mur_rank_block *block = &mur_node.memory->ranks[rank];
    uint32_t how;

    if (!atomic_load(&block->is_asleep) || !(how = atomic_exchange(&block->is_asleep, MUR_AWAKE)))
        return;
    atomic_fetch_sub(&mur_node.memory->sleepers, 1);
    if (how == MUR_ASLEEP_DOORBELL)
        ring_doorbell(block);
    else
        syscall(SYS_futex, &block->is_asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Made at the start, since it cannot be done without later, when the process may be at its limit of open files. */
int mur_node_make_ringer(void)
{
    mur_node.ringer = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return mur_node.ringer;
}

/* In a forked child; the network closes the doorbell. */
void mur_node_forked(void)
{
    if (mur_node.ringer >= 0 && mur_node.doorbell < 0)
        close(mur_node.ringer);
}

/* The ringer gets a name in the abstract namespace, that the kernel chooses: no file, nothing left behind, and a ring
 * from a stranger only wakes this process for nothing. From now on this process is woken by it. */
int mur_node_doorbell(void)
{
    struct mur_rank_block *block = mur_node_own_block();
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof name;

    if (mur_node.doorbell >= 0)
        return mur_node.doorbell;
    if ((mur_node.ringer < 0 && mur_node_make_ringer() < 0) ||
        bind(mur_node.ringer, (struct sockaddr *)&name, sizeof name.sun_family) < 0 ||
        getsockname(mur_node.ringer, (struct sockaddr *)&name, &length) < 0)
        return -1;
    block->doorbell = name;
    block->doorbell_length = length;
    mur_node.doorbell = mur_node.ringer;
    return mur_node.doorbell;
}

void mur_node_rouse_slow(const int *processes, int count)
{
    for (int i = 0; i < count; i++)
        mur_node_wake(mur_node.local_of[processes[i]]);
}

/* ---- sleeping ---- */

void mur_node_announce_sleep(void)
{
    /* Both pair with the exchange in mur_node_wake. */
    if (!atomic_exchange(&mur_node_own_block()->is_asleep,
                         mur_node.doorbell < 0 ? MUR_ASLEEP_FUTEX : MUR_ASLEEP_DOORBELL))
        atomic_fetch_add(&mur_node.memory->sleepers, 1);
    mur_node_barrier();
}

void mur_node_sleep(uint64_t until)
{
    uint64_t now = until == UINT64_MAX ? 0 : mur_clock_ns(), left = until > now ? until - now : 0;
    const struct timespec limit = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};

    syscall(SYS_futex, &mur_node_own_block()->is_asleep, FUTEX_WAIT, MUR_ASLEEP_FUTEX, now ? &limit : NULL, NULL, 0);
}

void mur_node_end_sleep(void)
{
    char rings[64];

    while (mur_node.doorbell >= 0 && recv(mur_node.doorbell, rings, sizeof rings, MSG_DONTWAIT) >= 0)
        continue;
    if (atomic_exchange(&mur_node_own_block()->is_asleep, 0))
        atomic_fetch_sub(&mur_node.memory->sleepers, 1);
}
