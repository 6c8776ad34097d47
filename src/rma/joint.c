/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations by two cores, where the target finds the origin's buffers in memory that the node shares: it lies in
 * an allocated window, or is of MPI_Alloc_mem. One core copies as fast as its caches deliver; two deliver twice as
 * much, and a target that waits in MPI has nothing else to do. So the origin posts a description on the target's desk,
 * and both claim pieces of it, the origin from the front, the target from the back, until none is left:
 *
 *     number of the operation | claimed from the back | claimed from the front
 *
 * is one word, changed by compare-and-swap only. The target reads the word, then the description, and then claims: if
 * the word is still the same, so is the description, and it stays until the piece is done, since the origin waits for
 * that. An operation that is over leaves CLOSED in the word, before the description may change.
 *
 * The origin never waits for a target that does not come. The target does one piece in a pass of progress, so that what
 * else arrives is late by no more than that; and as each takes the same end of a buffer again and again, it stays in
 * the cache of the core that took it. (Zen 4, 1 MiB: 92 GB/s instead of 48.) */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "base/counters.h"
#include "base/cpu.h"
#include "base/settings.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "node/node.h"
#include "rma/desk.h"
#include "rma/rma.h"

enum {
    PAGE = 4096,
    PIECE_MIN = 16 << 10,
    PIECE_MAX = 64 << 10,
    PIECES = 8, /* at least, if they are not too small then */
    PIECES_MAX = 0x7fff,
    CLOSED = 0xffff,
    SPINS = 1000,
    ROUSE = 16 /* operations without help between two attempts to wake the target */
};

static uint32_t front_of(uint64_t claimed)
{
    return claimed & 0xffff;
}

static uint32_t back_of(uint64_t claimed)
{
    return claimed >> 16 & 0xffff;
}

static size_t piece_bytes(const struct mur_rma_joint_task *task, uint32_t number)
{
    uint64_t left = task->bytes - (uint64_t)number * task->piece;

    return left < task->piece ? left : task->piece;
}

/* ---- the origin ---- */

int mur_rma_do_piece(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                     uint64_t offset, size_t bytes)
{
    char *here = (char *)(uintptr_t)a->origin + offset;
    struct iovec local = {here, bytes}, there = {(void *)(uintptr_t)(a->place + offset), bytes};
    const struct mur_win_target *target = &a->win->targets[a->rank];
    char *memory = (char *)((uintptr_t)target->memory + a->place + offset);

    if (kind == MUR_RMA_ACCUMULATE || kind == MUR_RMA_GET_ACCUMULATE)
        return mur_rma_apply(a->win, a->rank, &there, 1, leaf, leaf->reduction == MUR_REDUCE_NO_OP ? NULL : here,
                             a->result ? (char *)a->result + offset : NULL);
    if (target->way != MUR_WAY_LOADS)
        return mur_rma_copy(a->win, a->rank, kind == MUR_RMA_PUT, &local, 1, &there, 1);
    if (kind == MUR_RMA_PUT)
        memcpy(memory, here, bytes);
    else
        memcpy(here, memory, bytes);
    return MPI_SUCCESS;
}

/* False: some of it lies where the target cannot find it. */
static bool describe(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                     size_t bytes, struct mur_rma_joint_task *task)
{
    uint64_t piece = (bytes / PIECES + PAGE - 1) & ~(uint64_t)(PAGE - 1);

    *task = (struct mur_rma_joint_task){.place = a->place,
                                        .bytes = bytes,
                                        .context = a->win->comm->context,
                                        .kind = kind,
                                        .reduction = leaf ? leaf->reduction : MUR_REDUCE_REPLACE,
                                        .basic = leaf ? (uint32_t)leaf->type->basic : 0};
    piece = piece < PIECE_MIN ? PIECE_MIN : piece > PIECE_MAX ? PIECE_MAX : piece;
    while ((bytes + piece - 1) / piece > PIECES_MAX)
        piece *= 2;
    if (piece > UINT32_MAX || (leaf && piece % leaf->bytes))
        return false;
    task->piece = (uint32_t)piece;
    task->pieces = (uint32_t)((bytes + piece - 1) / piece);
    return (task->reduction == MUR_REDUCE_NO_OP || mur_tract_find(a->origin, bytes, &task->origin)) &&
           (!a->result || mur_tract_find(a->result, bytes, &task->result));
}

/* The origin's pieces; returns how many the target has claimed. Relaxed: nothing that the target has written is looked
 * at before wait_for_rest. */
static uint32_t do_front(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                         struct mur_rma_joint *joint, const struct mur_rma_joint_task *task, int *rc)
{
    uint64_t claimed = atomic_load_explicit(&joint->claimed, memory_order_relaxed);

    for (;;) {
        uint32_t front = front_of(claimed);
        int one;

        if (front + back_of(claimed) >= task->pieces)
            return back_of(claimed);
        if (!atomic_compare_exchange_weak_explicit(&joint->claimed, &claimed, claimed + 1, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        one = mur_rma_do_piece(a, kind, leaf, (uint64_t)front * task->piece, piece_bytes(task, front));
        *rc = *rc ? *rc : one;
        claimed = atomic_load_explicit(&joint->claimed, memory_order_relaxed);
    }
}

/* The target is at its last piece, and needs nothing from here for that; but it may have lost its core. */
static void wait_for_rest(struct mur_rma_joint *joint, uint32_t pieces)
{
    for (int spins = 0; atomic_load_explicit(&joint->done, memory_order_acquire) < pieces; spins++)
        if (spins < SPINS)
            mur_cpu_relax();
        else
            sched_yield();
}

/* It may sleep in MPI, or compute: nobody knows. */
static void nobody_came(const struct mur_rma_arguments *a)
{
    struct mur_peer *peer = &mur_engine.peers[a->win->comm->processes[a->rank]];

    if (a->win->targets[a->rank].lonely++ % ROUSE == 0)
        mur_node_rouse(&peer->process, 1);
}

bool mur_rma_joint(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                   size_t bytes, int *rc)
{
    struct mur_rma_desk *desk = a->win->targets[a->rank].desk;
    struct mur_rma_joint *joint;
    struct mur_rma_joint_task task;
    uint32_t nobody = MUR_DESK_FREE, helped;
    uint64_t number;

    if (!desk || !mur_settings.rma_joint || !mur_wait_polls() || !describe(a, kind, leaf, bytes, &task) ||
        !atomic_compare_exchange_strong_explicit(&desk->state, &nobody, MUR_DESK_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    joint = &desk->joint;
    number = (atomic_load_explicit(&joint->claimed, memory_order_relaxed) >> 32) + 1;
    atomic_thread_fence(memory_order_release); /* who sees something of this task sees that the last is closed */
    joint->task = task;
    atomic_store_explicit(&joint->done, 0, memory_order_relaxed);
    atomic_store_explicit(&joint->claimed, number << 32, memory_order_release); /* pairs with read_task */
    atomic_store_explicit(&desk->state, MUR_DESK_JOINT, memory_order_release);
    *rc = MPI_SUCCESS;
    helped = do_front(a, kind, leaf, joint, &task, rc);
    wait_for_rest(joint, helped);
    atomic_store_explicit(&joint->claimed, number << 32 | CLOSED, memory_order_relaxed);
    atomic_store_explicit(&desk->state, MUR_DESK_FREE, memory_order_release); /* pairs with the acquire above */
    if (helped)
        mur_counters.joint_operations++;
    else
        nobody_came(a);
    return true;
}

/* ---- the target ---- */

/* The task that belongs to the word; false: there is none, or no more. */
static bool read_task(struct mur_rma_joint *joint, uint64_t *claimed, struct mur_rma_joint_task *task)
{
    uint64_t now;

    *claimed = atomic_load_explicit(&joint->claimed, memory_order_acquire);
    if (front_of(*claimed) == CLOSED)
        return false;
    *task = joint->task;
    atomic_thread_fence(memory_order_acquire); /* pairs with the release before the task is written */
    now = atomic_load_explicit(&joint->claimed, memory_order_relaxed);
    return now >> 32 == *claimed >> 32 && front_of(now) != CLOSED && /* else the next may be half written */
           front_of(*claimed) + back_of(*claimed) < task->pieces;
}

static void do_back(struct mur_win *win, const struct mur_rma_joint_task *task, uint32_t number, char *origin,
                    char *result)
{
    uint64_t offset = (uint64_t)number * task->piece;
    size_t bytes = piece_bytes(task, number);
    char *memory = (char *)((uintptr_t)win->targets[win->rank].memory + task->place + offset);
    struct iovec there = {(void *)(uintptr_t)(task->place + offset), bytes};
    struct mur_rma_leaf leaf;

    if (task->kind == MUR_RMA_PUT) {
        memcpy(memory, origin + offset, bytes);
    } else if (task->kind == MUR_RMA_GET) {
        memcpy(origin + offset, memory, bytes);
    } else {
        mur_rma_leaf_fill(&leaf, mur_type_find(mur_basics[task->basic].handle), (enum mur_reduction)task->reduction);
        mur_rma_apply(win, win->rank, &there, 1, &leaf, origin ? origin + offset : NULL,
                      result ? result + offset : NULL);
    }
}

bool mur_rma_joint_serve(struct mur_rma_joint *joint)
{
    struct mur_rma_joint_task task;
    char *origin, *result;
    struct mur_win *win;
    uint64_t claimed;
    uint32_t number;

    if (!read_task(joint, &claimed, &task) || !(win = mur_win_of_context(task.context)))
        return false;
    number = (uint32_t)(claimed >> 32);
    origin = task.origin.token ? mur_tract_reach(&task.origin) : NULL;
    result = task.result.token ? mur_tract_reach(&task.result) : NULL;
    if ((task.origin.token && !origin) || (task.result.token && !result))
        return false;
    while (!atomic_compare_exchange_weak_explicit(&joint->claimed, &claimed, claimed + (1 << 16), memory_order_acquire,
                                                  memory_order_relaxed))
        if (claimed >> 32 != number || front_of(claimed) + back_of(claimed) >= task.pieces)
            return false;
    do_back(win, &task, task.pieces - 1 - back_of(claimed), origin, result);
    atomic_fetch_add_explicit(&joint->done, 1, memory_order_release); /* pairs with wait_for_rest */
    mur_counters.joint_pieces++;
    return true;
}
