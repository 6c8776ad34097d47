/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations by two cores, where the target finds the origin's buffers in memory that the node shares: it lies in
 * an allocated window, or is of MPI_Alloc_mem. One core copies as fast as its caches deliver; two deliver twice as
 * much, and a target that waits in MPI has nothing else to do. So the origin posts a description on the target's
 * mailbox, and both claim pieces of it (engine/claim.h), the origin from the front, the target from the back, until
 * none is left. The target reads the word of the claim, then the description, and then claims: if the word still has
 * the number, the description is that operation's, and it stays until the piece is done, since the origin waits for
 * that. An operation that is over is closed before the description may change.
 *
 * The origin never waits for a target that does not come. The target does one piece in a pass of progress, so that what
 * else arrives is late by no more than that; and as each takes the same end of a buffer again and again, it stays in
 * the cache of the core that took it. (Zen 4, 1 MiB: 92 GB/s instead of 48.) */
#include <string.h>

#include "base/counters.h"
#include "base/settings.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "node/node.h"
#include "rma/mailbox.h"
#include "rma/rma.h"

enum {
    PAGE = 4096,
    PIECE_MIN = 16 << 10,
    PIECE_MAX = 64 << 10,
    PIECES = 8, /* at least, if they are not too small then */
    ROUSE = 16  /* operations without help between two attempts to wake the target */
};

static const struct mur_claim_chunks one_piece = {.even = 1};

static size_t piece_bytes(const struct mur_rma_joint_task *task, uint32_t number)
{
    return mur_claim_bytes(task->bytes, task->piece, number, 1);
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
    while ((bytes + piece - 1) / piece > MUR_CLAIM_UNITS_MAX)
        piece *= 2;
    if (piece > UINT32_MAX || (leaf && piece % leaf->bytes))
        return false;
    task->piece = (uint32_t)piece;
    task->pieces = (uint32_t)((bytes + piece - 1) / piece);
    return (task->reduction == MUR_REDUCE_NO_OP || mur_region_find(a->origin, bytes, &task->origin)) &&
           (!a->result || mur_region_find(a->result, bytes, &task->result));
}

/* The origin's pieces; returns how many the target has claimed. */
static uint32_t do_front(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                         struct mur_rma_joint *joint, const struct mur_rma_joint_task *task, uint32_t number, int *rc)
{
    struct mur_claim_part part;

    while ((part = mur_claim_take(&joint->claim, number, task->pieces, MUR_CLAIM_FRONT, &one_piece)).units) {
        int one = mur_rma_do_piece(a, kind, leaf, (uint64_t)part.start * task->piece, piece_bytes(task, part.start));

        *rc = *rc ? *rc : one;
    }
    return mur_claim_taken(mur_claim_look(&joint->claim), MUR_CLAIM_BACK);
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
    struct mur_rma_mailbox *mailbox = a->win->targets[a->rank].mailbox;
    struct mur_rma_joint *joint;
    struct mur_rma_joint_task task;
    uint32_t nobody = MUR_MAILBOX_FREE, helped, number;

    /* The acquire pairs with the release of MUR_MAILBOX_FREE by the origin before. */
    if (!mailbox || !mur_settings.rma_joint || !mur_wait_polls() || !describe(a, kind, leaf, bytes, &task) ||
        !atomic_compare_exchange_strong_explicit(&mailbox->state, &nobody, MUR_MAILBOX_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    joint = &mailbox->joint;
    number = mur_claim_number(mur_claim_look(&joint->claim)) + 1;
    atomic_thread_fence(memory_order_release); /* who sees something of this task sees that the last is closed */
    joint->task = task;
    mur_claim_open(&joint->claim, number);
    atomic_store_explicit(&mailbox->state, MUR_MAILBOX_JOINT, memory_order_release);
    *rc = MPI_SUCCESS;
    helped = do_front(a, kind, leaf, joint, &task, number, rc);
    mur_claim_wait(&joint->claim, helped); /* the target is at its last piece */
    mur_claim_close(&joint->claim, number);
    atomic_store_explicit(&mailbox->state, MUR_MAILBOX_FREE, memory_order_release); /* pairs with the acquire above */
    if (helped)
        mur_counters.joint_operations++;
    else
        nobody_came(a);
    return true;
}

/* ---- the target ---- */

/* The task of the operation that is open, and its number; false: there is none, or no more. */
static bool read_task(struct mur_rma_joint *joint, uint32_t *number, struct mur_rma_joint_task *task)
{
    uint64_t before = mur_claim_look(&joint->claim), now;

    if (mur_claim_taken(before, MUR_CLAIM_FRONT) == MUR_CLAIM_CLOSED)
        return false;
    *task = joint->task;
    atomic_thread_fence(memory_order_acquire); /* pairs with the release before the task is written */
    now = mur_claim_look(&joint->claim);
    *number = mur_claim_number(before);
    return mur_claim_number(now) == *number &&
           mur_claim_left(now, task->pieces); /* else the next may be half written */
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
    struct mur_claim_part part;
    uint32_t number;

    if (!read_task(joint, &number, &task) || !(win = mur_win_of_context(task.context)))
        return false;
    origin = task.origin.token ? mur_region_reach(&task.origin) : NULL;
    result = task.result.token ? mur_region_reach(&task.result) : NULL;
    if ((task.origin.token && !origin) || (task.result.token && !result))
        return false;
    part = mur_claim_take(&joint->claim, number, task.pieces, MUR_CLAIM_BACK, &one_piece);
    if (!part.units)
        return false;
    do_back(win, &task, part.start, origin, result);
    mur_claim_finish(&joint->claim, 1);
    mur_counters.joint_pieces++;
    return true;
}
