/* SPDX-License-Identifier: BSD-3-Clause */
/* Active target: fences, and epochs of groups (MPI-5.0 §12.5.1, §12.5.2).
 *
 * A fence completes what was started and is a barrier. Between groups, each target tells each origin when its exposure
 * begins, and each origin each target when it is done: frames, which come behind the operations. One of the window's
 * ranks cannot begin a second exposure before the first has been seen, so a mark is enough. */
#include <stdlib.h>

#include "base/error.h"
#include "coll/collective.h"
#include "engine/engine.h"
#include "object/group.h"
#include "rma/rma.h"

static int barrier(struct mur_win *win)
{
    const struct mur_collective c = {.kind = MUR_BARRIER};

    return mur_collective(&c, win->comm, MUR_BLOCKING, NULL);
}

static void forget_touched(struct mur_win *win)
{
    for (int i = 0; i < win->touched_count; i++)
        win->targets[win->touched[i]].is_touched = false;
    win->touched_count = 0;
}

int mur_rma_fence(struct mur_win *win, int assertion)
{
    int rc, barrier_rc;

    if (win->access != MUR_ACCESS_FENCE && (rc = mur_rma_check_idle(win)))
        return rc;
    if (win->is_exposed)
        return mur_error(MPI_ERR_RMA_SYNC, "the exposure epoch of MPI_Win_post has not ended");
    if (assertion & MPI_MODE_NOPRECEDE && win->has_started)
        return mur_error(MPI_ERR_RMA_SYNC, "assert has MPI_MODE_NOPRECEDE, but operations have been started since the "
                                           "fence before");
    rc = mur_rma_settle(win, MUR_RMA_ALL);
    forget_touched(win);
    atomic_thread_fence(memory_order_seq_cst);
    barrier_rc = barrier(win);
    win->access = assertion & MPI_MODE_NOSUCCEED ? MUR_ACCESS_NONE : MUR_ACCESS_FENCE;
    win->is_open = win->has_started = false;
    return rc ? rc : barrier_rc;
}

/* ---- groups ---- */

/* The window's ranks of a group. */
static int translate(struct mur_win *win, struct mur_group *group, int **ranks_p)
{
    int *ranks = malloc((size_t)(group->size ? group->size : 1) * sizeof *ranks);

    if (!ranks)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d ranks", group->size);
    for (int i = 0; i < group->size; i++) {
        ranks[i] = mur_group_rank_of(win->comm->group, group->processes[i]);
        if (ranks[i] == MPI_UNDEFINED) {
            free(ranks);
            return mur_error(MPI_ERR_GROUP, "rank %d of the group is none of the window's", i);
        }
    }
    *ranks_p = ranks;
    return MPI_SUCCESS;
}

int mur_rma_post(struct mur_win *win, struct mur_group *group, int assertion)
{
    int *ranks, rc;

    if (win->is_exposed)
        return mur_error(MPI_ERR_RMA_SYNC, "the exposure epoch of an earlier MPI_Win_post has not ended");
    if (win->access == MUR_ACCESS_FENCE && (rc = mur_rma_check_idle(win)))
        return rc;
    if (win->targets[win->rank].held)
        return mur_error(MPI_ERR_RMA_CONFLICT, "this process holds the lock of its own memory");
    rc = translate(win, group, &ranks);
    if (rc)
        return rc;
    win->is_exposed = true;
    win->awaited = group->size;
    if (!(assertion & MPI_MODE_NOCHECK))
        for (int i = 0; i < group->size; i++)
            mur_rma_tell(win, ranks[i], MUR_SYNC_POST, 0);
    free(ranks);
    return MPI_SUCCESS;
}

static void await_posts(struct mur_win *win)
{
    struct mur_waiter waiter = {0};

    for (int i = 0; i < win->started; i++) {
        struct mur_win_target *target = &win->targets[win->ranks[i]];

        while (!target->is_posted)
            mur_rma_rest(&waiter, MUR_WAIT_POSTS, win, win->ranks[i]);
        target->is_posted = false;
    }
}

int mur_rma_start(struct mur_win *win, struct mur_group *group, int assertion)
{
    int rc = mur_rma_check_idle(win);

    if (rc || (rc = translate(win, group, &win->ranks)))
        return rc;
    win->access = MUR_ACCESS_START;
    win->is_open = false;
    win->started = group->size;
    if (!(assertion & MPI_MODE_NOCHECK))
        await_posts(win);
    for (int i = 0; i < win->started; i++)
        win->targets[win->ranks[i]].is_open = true;
    return MPI_SUCCESS;
}

int mur_rma_complete(struct mur_win *win)
{
    int rc;

    if (win->access != MUR_ACCESS_START)
        return mur_error(MPI_ERR_RMA_SYNC, "MPI_Win_start has not been called");
    rc = mur_rma_settle(win, MUR_RMA_ALL);
    forget_touched(win);
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < win->started; i++) {
        win->targets[win->ranks[i]].is_open = false;
        mur_rma_tell(win, win->ranks[i], MUR_SYNC_COMPLETE, 0);
    }
    free(win->ranks);
    win->ranks = NULL;
    win->started = 0;
    win->access = MUR_ACCESS_NONE;
    return rc;
}

static int check_exposed(const struct mur_win *win)
{
    return win->is_exposed ? MPI_SUCCESS : mur_error(MPI_ERR_RMA_SYNC, "MPI_Win_post has not been called");
}

static bool has_ended(struct mur_win *win)
{
    if (win->completed < win->awaited)
        return false;
    win->completed -= win->awaited;
    win->is_exposed = false;
    atomic_thread_fence(memory_order_seq_cst);
    return true;
}

int mur_rma_wait(struct mur_win *win)
{
    struct mur_waiter waiter = {0};
    int rc = check_exposed(win);

    while (!rc && !has_ended(win))
        mur_rma_rest(&waiter, MUR_WAIT_COMPLETES, win, MUR_RMA_ALL);
    return rc;
}

int mur_rma_test(struct mur_win *win, int *flag)
{
    int rc = check_exposed(win);

    if (rc)
        return rc;
    if (win->completed < win->awaited)
        mur_engine_poke();
    *flag = has_ended(win);
    return MPI_SUCCESS;
}
