/* SPDX-License-Identifier: BSD-3-Clause */
/* The short ways, for what is asked most often: dense data within reach of loads and stores, in an epoch that has
 * begun. Each does the whole operation and says so, or nothing; then the long way does it, or finds what is wrong. */
#ifndef MUR_RMA_QUICK_H
#define MUR_RMA_QUICK_H

#include "base/copy.h"
#include "base/counters.h"
#include "rma/control.h"
#include "rma/way.h"

/* Where `bytes` bytes lie; NULL: the caller takes the long way. A dynamic window has no size at any rank. */
static inline char *mur_quick_memory(const struct mur_win *win, int rank, MPI_Aint displacement, MPI_Count bytes,
                                     MPI_Count *place)
{
    const struct mur_win_target *target;
    MPI_Count end;

    if (__builtin_expect((unsigned)rank >= (unsigned)win->size, 0))
        return NULL;
    target = &win->targets[rank];
    if (__builtin_expect(target->way != MUR_WAY_LOADS || !(win->is_open | target->is_open) || displacement < 0, 0))
        return NULL;
    if (__builtin_mul_overflow(displacement, target->unit, place) || __builtin_add_overflow(*place, bytes, &end) ||
        end > target->size)
        return NULL;
    return target->memory + *place;
}

/* Bytes of dense data; -1: it is not dense, or too much to count. */
static inline MPI_Count mur_quick_bytes(MPI_Count count, const struct mur_type *type)
{
    MPI_Count bytes;

    return type->is_dense && !__builtin_mul_overflow(count, type->size, &bytes) ? bytes : -1;
}

/* Not dense, or so much that two cores may be better. */
static inline bool mur_quick_refuses(MPI_Count bytes)
{
    return (uint64_t)bytes >= MUR_WAY_SHARED_MIN;
}

/* The counter of an operation tells when it is time for a pass of progress, see mur_engine_called. */
static inline void mur_quick_count(uint64_t operations)
{
    if (__builtin_expect(operations % MUR_CALLS_A_PASS == 0, 0))
        mur_engine_pass();
}

static inline bool mur_quick_put(const struct mur_win *win, int rank, MPI_Aint displacement, const void *origin,
                                 MPI_Count origin_count, const struct mur_type *origin_type, MPI_Count target_count,
                                 const struct mur_type *target_type)
{
    MPI_Count bytes = mur_quick_bytes(origin_count, origin_type), place;
    char *memory;

    if (mur_quick_refuses(bytes) || (origin_type != target_type && !target_type->is_dense) ||
        mur_quick_bytes(target_count, target_type) != bytes)
        return false;
    memory = mur_quick_memory(win, rank, displacement, bytes, &place);
    if (!memory)
        return false;
    mur_copy(memory, origin, (size_t)bytes);
    mur_quick_count(++mur_counters.puts);
    mur_counters.put_bytes += (uint64_t)bytes;
    return true;
}

static inline bool mur_quick_get(const struct mur_win *win, int rank, MPI_Aint displacement, void *origin,
                                 MPI_Count origin_count, const struct mur_type *origin_type, MPI_Count target_count,
                                 const struct mur_type *target_type)
{
    MPI_Count bytes = mur_quick_bytes(origin_count, origin_type), place;
    char *memory;

    if (mur_quick_refuses(bytes) || mur_quick_bytes(target_count, target_type) != bytes)
        return false;
    memory = mur_quick_memory(win, rank, displacement, bytes, &place);
    if (!memory)
        return false;
    mur_copy(origin, memory, (size_t)bytes);
    mur_quick_count(++mur_counters.gets);
    mur_counters.get_bytes += (uint64_t)bytes;
    return true;
}

/* Of ranks that are locked, where nothing goes by message. */
static inline bool mur_quick_flush(struct mur_win *win, int rank, bool is_local)
{
    if ((unsigned)rank >= (unsigned)win->size || !win->targets[rank].held || win->is_messaging)
        return false;
    if (!is_local)
        atomic_thread_fence(memory_order_seq_cst);
    return true;
}

/* A lock that is free. */
static inline bool mur_quick_lock(struct mur_win *win, int rank, bool is_exclusive)
{
    struct mur_win_target *target;

    if ((unsigned)rank >= (unsigned)win->size || (win->access != MUR_ACCESS_NONE && win->access != MUR_ACCESS_LOCK) ||
        win->hints & MUR_WIN_NO_LOCKS || win->is_exposed)
        return false;
    target = &win->targets[rank];
    if (!target->control || target->is_taken ||
        !(is_exclusive ? mur_control_try_exclusive(target->control, win->rank)
                       : mur_control_try_shared(target->control, true)))
        return false;
    target->is_taken = target->is_open = true;
    target->held = is_exclusive ? MUR_HELD_EXCLUSIVE : MUR_HELD_SHARED;
    win->access = MUR_ACCESS_LOCK;
    win->locks++;
    return true;
}

/* What was done under it is complete with the unlocking. */
static inline bool mur_quick_unlock(struct mur_win *win, int rank)
{
    struct mur_win_target *target;
    bool is_exclusive;

    if ((unsigned)rank >= (unsigned)win->size || win->access != MUR_ACCESS_LOCK || win->is_messaging)
        return false;
    target = &win->targets[rank];
    is_exclusive = target->held == MUR_HELD_EXCLUSIVE;
    if (!target->control || (!is_exclusive && target->held != MUR_HELD_SHARED))
        return false;
    target->held = MUR_HELD_NONE;
    target->is_taken = target->is_open = false;
    if (--win->locks == 0)
        win->access = MUR_ACCESS_NONE;
    if (__builtin_expect(mur_control_unlock(target->control, is_exclusive, win->rank), 0))
        mur_rma_rouse(win);
    return true;
}

/* One element of a predefined type of four or eight bytes, and the commonest operations; `result` may be NULL. */
bool mur_quick_fetch(struct mur_win *win, int rank, MPI_Aint displacement, const struct mur_type *type,
                     const struct mur_op *op, const void *origin, void *result);
bool mur_quick_swap(struct mur_win *win, int rank, MPI_Aint displacement, const struct mur_type *type,
                    const void *compare, const void *origin, void *result);

#endif
