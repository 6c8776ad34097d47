/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target: locks and flushes (MPI-5.0 §12.5.3).
 *
 * A lock is a word that this process can reach, or one that the target takes on its behalf. Who finds it taken
 * announces itself and tries again in progress, as a task, so that it may sleep; who unlocks wakes those of its node.
 * MPI_Win_lock_all takes the lock of each rank at the first operation there: it costs what is used. */
#include <sched.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/error.h"
#include "boot/process.h"
#include "engine/lock.h"
#include "node/node.h"
#include "rma/control.h"
#include "rma/rma.h"

enum { POLITE_TRIES = 200, STRIPE_SPINS = 200 };

/* Somebody of this rank's node holds it, and is not waiting for anything, but may have lost its core. */
void mur_control_stripe_wait(_Atomic uint32_t *word)
{
    uint32_t free;

    for (int spins = 0;; spins++) {
        if (spins >= STRIPE_SPINS)
            sched_yield();
        else
            mur_cpu_relax();
        if (atomic_load_explicit(word, memory_order_relaxed))
            continue;
        free = 0;
        /* pairs with the release in mur_control_stripe_unlock */
        if (atomic_compare_exchange_weak_explicit(word, &free, 1, memory_order_acquire, memory_order_relaxed))
            return;
    }
}

/* ---- waiting for a lock word ---- */

/* Somebody who wants a lock: this process, or, with a window, a rank that has asked by message. */
struct waiter {
    struct mur_task task;
    struct mur_win_control *control;
    bool is_exclusive;
    uint8_t has_it; /* this process's own: what it waits for */
    int tries;
    struct mur_win *win;
    int rank;
    int holder; /* who will have it */
};

static bool try_lock(struct waiter *waiter)
{
    if (waiter->is_exclusive)
        return mur_control_try_exclusive(waiter->control, waiter->holder);
    return mur_control_try_shared(waiter->control, waiter->tries++ < POLITE_TRIES);
}

/* Sequentially consistent, and followed by another try: pairs with mur_control_unlock. */
static void announce(struct waiter *waiter)
{
    atomic_fetch_add(&waiter->control->waiting, 1);
    if (waiter->is_exclusive)
        atomic_fetch_add(&waiter->control->wanting, 1);
    mur_engine_task_add(&waiter->task);
}

static void withdraw(struct waiter *waiter)
{
    atomic_fetch_sub(&waiter->control->waiting, 1);
    if (waiter->is_exclusive)
        atomic_fetch_sub(&waiter->control->wanting, 1);
}

static bool try_for_self(struct mur_task *task, bool *is_over)
{
    struct waiter *waiter = (struct waiter *)task;

    if (!try_lock(waiter))
        return false;
    withdraw(waiter);
    *is_over = true;
    waiter->has_it = 1;
    return true;
}

/* Whoever holds it for itself is known; shared holders are only counted. */
static void describe_word(const void *what)
{
    const struct waiter *waiter = what;
    struct mur_rma_wait wait = {.kind = MUR_WAIT_LOCK, .win = waiter->win, .rank = waiter->rank};

    wait.holder = mur_control_holder(waiter->control);
    mur_rma_describe(&wait);
}

static void wait_for_word(struct mur_win *win, int rank, bool is_exclusive)
{
    struct waiter waiter = {.task.run = try_for_self,
                            .control = win->targets[rank].control,
                            .is_exclusive = is_exclusive,
                            .win = win,
                            .rank = rank,
                            .holder = win->rank};

    if (try_lock(&waiter))
        return;
    announce(&waiter);
    mur_wait_for(&waiter.has_it, describe_word, &waiter);
}

void mur_rma_rouse(struct mur_win *win)
{
    mur_node_rouse(win->near, win->near_count);
}

static void unlock_word(struct mur_win *win, struct mur_win_control *control, bool is_exclusive, int holder)
{
    if (mur_control_unlock(control, is_exclusive, holder))
        mur_rma_rouse(win);
}

/* ---- for ranks that ask by message ---- */

static bool try_for_rank(struct mur_task *task, bool *is_over)
{
    struct waiter *waiter = (struct waiter *)task;

    if (!try_lock(waiter))
        return false;
    withdraw(waiter);
    *is_over = true;
    mur_rma_tell(waiter->win, waiter->rank, MUR_SYNC_GRANTED, 0);
    free(waiter);
    return true;
}

void mur_rma_lock_asked(struct mur_win *win, int rank, bool is_exclusive)
{
    struct mur_win_control *control = win->targets[win->rank].control;
    struct waiter first = {.control = control, .is_exclusive = is_exclusive, .holder = rank}, *waiter;

    if (try_lock(&first)) {
        mur_rma_tell(win, rank, MUR_SYNC_GRANTED, 0);
        return;
    }
    waiter = malloc(sizeof *waiter);
    if (!waiter)
        mur_boot_abort(1, "no memory for a lock request");
    *waiter = (struct waiter){.task.run = try_for_rank,
                              .control = control,
                              .is_exclusive = is_exclusive,
                              .win = win,
                              .rank = rank,
                              .holder = rank};
    announce(waiter);
}

void mur_rma_unlock_asked(struct mur_win *win, int rank, bool is_exclusive)
{
    unlock_word(win, win->targets[win->rank].control, is_exclusive, rank);
}

/* ---- taking and giving back a rank's lock ---- */

static void wait_for_grant(struct mur_win *win, int rank)
{
    struct mur_win_target *target = &win->targets[rank];
    struct mur_waiter waiter = {0};

    while (!target->is_granted)
        mur_rma_rest(&waiter, MUR_WAIT_LOCK, win, rank);
    target->is_granted = false;
}

static void take(struct mur_win *win, int rank, bool is_exclusive)
{
    struct mur_win_target *target = &win->targets[rank];

    target->is_taken = true;
    if (target->control) {
        wait_for_word(win, rank, is_exclusive);
    } else {
        mur_rma_tell(win, rank, is_exclusive ? MUR_SYNC_LOCK : MUR_SYNC_LOCK_SHARED, 0);
        wait_for_grant(win, rank);
    }
    target->held = is_exclusive ? MUR_HELD_EXCLUSIVE : MUR_HELD_SHARED;
    target->is_open = true;
    mur_engine_notify(); /* another thread may rest until this one has it (open_locked) */
}

static void unlock_by_message(struct mur_win *win, int rank, bool is_exclusive)
{
    mur_rma_tell(win, rank, is_exclusive ? MUR_SYNC_UNLOCK : MUR_SYNC_UNLOCK_SHARED, 0);
    win->targets[rank].is_dirty = true; /* it must have arrived before the window can be freed */
}

/* That the operations are done has been seen to. */
static void give_back(struct mur_win *win, int rank)
{
    struct mur_win_target *target = &win->targets[rank];
    bool is_exclusive = target->held == MUR_HELD_EXCLUSIVE;

    if (target->held == MUR_HELD_NOCHECK)
        atomic_thread_fence(memory_order_seq_cst);
    else if (target->control)
        unlock_word(win, target->control, is_exclusive, win->rank);
    else
        unlock_by_message(win, rank, is_exclusive);
    target->held = MUR_HELD_NONE;
    target->is_taken = target->is_open = false;
}

/* ---- the calls ---- */

static const char *epoch_name(const struct mur_win *win)
{
    switch (win->access) {
    case MUR_ACCESS_FENCE:
        return "operations have been started since MPI_Win_fence, which another one must end";
    case MUR_ACCESS_START:
        return "the access epoch of MPI_Win_start has not ended";
    case MUR_ACCESS_LOCK:
        return "a lock of MPI_Win_lock is held";
    default:
        return "MPI_Win_lock_all is in effect";
    }
}

int mur_rma_check_idle(const struct mur_win *win)
{
    if (win->access == MUR_ACCESS_NONE || (win->access == MUR_ACCESS_FENCE && !win->has_started))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_RMA_SYNC, "%s", epoch_name(win));
}

static int check_lockable(const struct mur_win *win)
{
    if (win->hints & MUR_WIN_NO_LOCKS)
        return mur_error(MPI_ERR_RMA_SYNC, "the window was made with the info key no_locks");
    return MPI_SUCCESS;
}

int mur_rma_lock(struct mur_win *win, int rank, bool is_exclusive, int assertion)
{
    struct mur_win_target *target = &win->targets[rank];
    int rc = check_lockable(win);

    if (rc || (win->access != MUR_ACCESS_LOCK && (rc = mur_rma_check_idle(win))))
        return rc;
    if (target->held)
        return mur_error(MPI_ERR_RMA_SYNC, "rank %d is locked already by this process", rank);
    if (rank == win->rank && win->is_exposed)
        return mur_error(MPI_ERR_RMA_CONFLICT, "rank %d is this process itself, whose memory MPI_Win_post has exposed",
                         rank);
    win->access = MUR_ACCESS_LOCK;
    win->is_open = false;
    win->locks++;
    if (assertion & MPI_MODE_NOCHECK) {
        target->held = MUR_HELD_NOCHECK;
        target->is_open = true;
    } else {
        take(win, rank, is_exclusive);
    }
    return MPI_SUCCESS;
}

int mur_rma_unlock(struct mur_win *win, int rank)
{
    int rc;

    if (win->access != MUR_ACCESS_LOCK || !win->targets[rank].held)
        return mur_error(MPI_ERR_RMA_SYNC, "rank %d is not locked by MPI_Win_lock", rank);
    rc = win->is_messaging ? mur_rma_settle(win, rank) : MPI_SUCCESS;
    give_back(win, rank);
    if (--win->locks == 0)
        win->access = MUR_ACCESS_NONE;
    return rc;
}

int mur_rma_lock_all(struct mur_win *win, int assertion)
{
    int rc = check_lockable(win);

    if (rc || (rc = mur_rma_check_idle(win)))
        return rc;
    win->access = MUR_ACCESS_LOCK_ALL;
    win->is_open = false;
    win->assertion = assertion;
    return MPI_SUCCESS;
}

int mur_rma_unlock_all(struct mur_win *win)
{
    int rc;

    if (win->access != MUR_ACCESS_LOCK_ALL)
        return mur_error(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all is not in effect");
    rc = mur_rma_settle(win, MUR_RMA_ALL);
    for (int i = 0; i < win->touched_count; i++) {
        win->targets[win->touched[i]].is_touched = false;
        if (win->targets[win->touched[i]].held)
            give_back(win, win->touched[i]);
    }
    win->touched_count = 0;
    win->access = MUR_ACCESS_NONE;
    return rc;
}

int mur_rma_touch(struct mur_win *win, int rank)
{
    if (win->targets[rank].is_touched)
        return MPI_SUCCESS;
    if (!win->touched)
        win->touched = malloc((size_t)win->size * sizeof *win->touched);
    if (!win->touched)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a list of %d ranks", win->size);
    win->touched[win->touched_count++] = rank;
    win->targets[rank].is_touched = true;
    return MPI_SUCCESS;
}

/* Another thread may be taking it. */
static int open_locked(struct mur_win *win, int rank)
{
    struct mur_win_target *target = &win->targets[rank];
    struct mur_waiter waiter = {0};
    int rc = mur_rma_touch(win, rank);

    if (rc)
        return rc;
    while (target->is_taken && !target->held)
        mur_rma_rest(&waiter, MUR_WAIT_LOCK, win, rank);
    if (target->held)
        return MPI_SUCCESS;
    if (win->assertion & MPI_MODE_NOCHECK) {
        target->held = MUR_HELD_NOCHECK;
        target->is_open = true;
    } else {
        take(win, rank, false);
    }
    return MPI_SUCCESS;
}

int mur_rma_open(struct mur_win *win, int rank)
{
    switch (win->access) {
    case MUR_ACCESS_FENCE:
        win->has_started = true;
        win->is_open = true;
        return MPI_SUCCESS;
    case MUR_ACCESS_LOCK_ALL:
        return open_locked(win, rank);
    case MUR_ACCESS_START:
        return mur_error(MPI_ERR_RMA_SYNC, "rank %d is not in the group of MPI_Win_start", rank);
    case MUR_ACCESS_LOCK:
        return mur_error(MPI_ERR_RMA_SYNC, "rank %d is not locked; other ranks are", rank);
    default:
        return mur_error(MPI_ERR_RMA_SYNC,
                         "no epoch has begun in which rank %d can be accessed: call MPI_Win_lock, "
                         "MPI_Win_lock_all, MPI_Win_start or MPI_Win_fence first",
                         rank);
    }
}

/* ---- completing ---- */

static bool has_settled(const struct mur_win *win, int rank)
{
    return mur_rma_has_left(win, rank) && !win->targets[rank].flushes;
}

static void wait_until(struct mur_win *win, int rank, bool (*condition)(const struct mur_win *win, int rank))
{
    struct mur_waiter waiter = {0};

    while (!condition(win, rank))
        mur_rma_rest(&waiter, MUR_WAIT_FLUSH, win, rank);
}

/* What has left before may still be on its way. */
static void ask(struct mur_win *win, int rank)
{
    struct mur_win_target *target = &win->targets[rank];

    wait_until(win, rank, mur_rma_is_on_its_way);
    if (!target->is_dirty)
        return;
    target->is_dirty = false;
    target->flushes++;
    mur_rma_tell(win, rank, MUR_SYNC_FLUSH, 0);
}

/* The error that the rank has told of. */
static int take_report(struct mur_win *win, int rank)
{
    int class = win->targets[rank].reported;

    win->targets[rank].reported = MPI_SUCCESS;
    return class ? mur_error(class,
                             "rank %d could not perform an operation that this process has started there: its "
                             "memory is not part of the window",
                             rank)
                 : MPI_SUCCESS;
}

int mur_rma_settle(struct mur_win *win, int rank)
{
    int rc = MPI_SUCCESS;

    if (!win->is_messaging)
        return MPI_SUCCESS;
    if (rank != MUR_RMA_ALL) {
        ask(win, rank);
        wait_until(win, rank, has_settled);
        return take_report(win, rank);
    }
    for (int i = 0; i < win->touched_count; i++)
        ask(win, win->touched[i]);
    for (int i = 0; i < win->touched_count; i++) {
        int one;

        wait_until(win, win->touched[i], has_settled);
        one = take_report(win, win->touched[i]);
        rc = rc ? rc : one;
    }
    return rc;
}

static int check_flush(const struct mur_win *win, int rank)
{
    if (win->access == MUR_ACCESS_LOCK_ALL || (win->access == MUR_ACCESS_LOCK && rank == MUR_RMA_ALL))
        return MPI_SUCCESS;
    if (win->access == MUR_ACCESS_LOCK)
        return mur_error(MPI_ERR_RMA_SYNC, "rank %d is not locked; other ranks are", rank);
    return mur_error(MPI_ERR_RMA_SYNC,
                     "no rank is locked: flushing is for epochs of MPI_Win_lock and MPI_Win_lock_all");
}

static int flush_messages(struct mur_win *win, int rank, bool is_local)
{
    if (!is_local)
        return mur_rma_settle(win, rank);
    if (rank != MUR_RMA_ALL) {
        wait_until(win, rank, mur_rma_has_left);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < win->touched_count; i++)
        wait_until(win, win->touched[i], mur_rma_has_left);
    return MPI_SUCCESS;
}

/* Loads and stores are done once the processor has made them visible. */
int mur_rma_flush(struct mur_win *win, int rank, bool is_local)
{
    int rc = MPI_SUCCESS;

    if (rank == MUR_RMA_ALL || !win->targets[rank].held)
        rc = check_flush(win, rank);
    if (!rc && win->is_messaging)
        rc = flush_messages(win, rank, is_local);
    if (!is_local)
        atomic_thread_fence(memory_order_seq_cst);
    return rc;
}
