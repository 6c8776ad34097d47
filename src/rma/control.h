/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks of a rank's part of a window, words in shared memory.
 *
 * The lock of MPI_Win_lock counts its shared holders, or is MUR_WIN_EXCLUSIVE plus the rank that holds it. Who wants it
 * shared lets those who wait for it exclusively go first, but not for ever: a shared holder may itself wait for another
 * one to come.
 *
 * Stripes make accumulates atomic: whoever applies one, by whichever way, holds the stripe of each element's first
 * byte. They are held for microseconds and without waiting for anything. */
#ifndef MUR_RMA_CONTROL_H
#define MUR_RMA_CONTROL_H

#include <stdatomic.h>

#include "object/win.h"

#define MUR_WIN_EXCLUSIVE 0x80000000u

/* Acquire: pairs with the release of who unlocked. */
static inline bool mur_control_try_exclusive(struct mur_win_control *control, int rank)
{
    uint32_t nobody = 0;

    return atomic_compare_exchange_strong_explicit(&control->lock, &nobody, MUR_WIN_EXCLUSIVE | (uint32_t)rank,
                                                   memory_order_seq_cst, memory_order_relaxed);
}

/* The rank that holds it exclusively; -1: none does. */
static inline int mur_control_holder(const struct mur_win_control *control)
{
    uint32_t holders = atomic_load_explicit(&control->lock, memory_order_relaxed);

    return holders & MUR_WIN_EXCLUSIVE ? (int)(holders & ~MUR_WIN_EXCLUSIVE) : -1;
}

/* A polite one fails where others want the lock for themselves. */
static inline bool mur_control_try_shared(struct mur_win_control *control, bool is_polite)
{
    uint32_t holders = atomic_load_explicit(&control->lock, memory_order_relaxed);

    if (is_polite && atomic_load_explicit(&control->wanting, memory_order_relaxed))
        return false;
    while (!(holders & MUR_WIN_EXCLUSIVE))
        if (atomic_compare_exchange_weak_explicit(&control->lock, &holders, holders + 1, memory_order_seq_cst,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Everything done before is visible to who locks next. True: somebody waits, and must be woken. The order between
 * giving up and looking pairs with that between announcing oneself and trying once more (rma/lock.c). */
static inline bool mur_control_unlock(struct mur_win_control *control, bool is_exclusive, int rank)
{
    atomic_fetch_sub_explicit(&control->lock, is_exclusive ? MUR_WIN_EXCLUSIVE | (uint32_t)rank : 1,
                              memory_order_seq_cst);
    return atomic_load_explicit(&control->waiting, memory_order_seq_cst) != 0;
}

static inline _Atomic uint32_t *mur_control_stripe(struct mur_win_control *control, uint64_t place)
{
    return &control->stripes[(place >> MUR_WIN_STRIPE_SHIFT) % MUR_WIN_STRIPES].word;
}

void mur_control_stripe_wait(_Atomic uint32_t *word);

static inline void mur_control_stripe_lock(_Atomic uint32_t *word)
{
    uint32_t free = 0;

    /* pairs with the release in mur_control_stripe_unlock */
    if (__builtin_expect(
            !atomic_compare_exchange_strong_explicit(word, &free, 1, memory_order_acquire, memory_order_relaxed), 0))
        mur_control_stripe_wait(word);
}

static inline void mur_control_stripe_unlock(_Atomic uint32_t *word)
{
    atomic_store_explicit(word, 0, memory_order_release); /* pairs with the acquire in mur_control_stripe_lock */
}

#endif
