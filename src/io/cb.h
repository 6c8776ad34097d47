/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective buffers as a collective access sees them (io/two_phase_shared.c says what they are for).
 *
 * A collective buffer's life (`turn` is its number times 4, plus the state):
 *   write   FREE -- all ranks have arrived --> FULL -- a rank that waits writes it --> FREE for the collective buffer a
 * ring further read    FREE -- claimed by one rank --> READING -- it has read --> READY -- all have arrived --> FREE,
 * as above sparse  FREE -- all ranks have marked what they want; the last reads that --> READY, as above */
#ifndef MUR_IO_CBS_H
#define MUR_IO_CBS_H

#include "io/access.h"
#include "io/shared_state.h"
#include "io/file.h"

enum { MUR_CB_FREE, MUR_CB_READING, MUR_CB_READY, MUR_CB_FULL };

static inline struct mur_cbs *mur_cb_ring(const struct mur_access *access)
{
    return access->file->shared->cbs;
}

static inline struct mur_cb *mur_cb_state(const struct mur_access *access, uint64_t cb)
{
    return &mur_cb_ring(access)->state[cb % MUR_CBS];
}

/* Collective buffers are numbered through all accesses. */
static inline uint64_t mur_cb_number(const struct mur_access *access, uint64_t cb)
{
    return access->file->shared->cbs_in + cb;
}

/* pairs with the releases that write `turn` */
static inline bool mur_cb_is_in(const struct mur_access *access, uint64_t cb, int state)
{
    uint64_t number = mur_cb_number(access, cb);

    /* pairs with the release in mur_cb_enter */
    return atomic_load_explicit(&mur_cb_state(access, number)->turn, memory_order_acquire) ==
           number * 4 + (uint64_t)state;
}

static inline void mur_cb_enter(const struct mur_access *access, uint64_t number, int state)
{
    struct mur_cb *cb = mur_cb_state(access, number);

    /* pairs with the acquires in mur_cb_is_in and is_turn (cb_read.c) */
    atomic_store_explicit(&cb->turn, number * 4 + (uint64_t)state, memory_order_release);
    mur_shared_state_rouse(access->file->shared);
}

/* The part of the file that a collective buffer is for. */
static inline MPI_Offset mur_cb_start(const struct mur_access *access, uint64_t cb)
{
    return access->plan.origin + (MPI_Offset)(cb * mur_cb_ring(access)->bytes);
}

static inline MPI_Offset mur_cb_end(const struct mur_access *access, uint64_t cb)
{
    MPI_Offset end = mur_cb_start(access, cb + 1);

    return end < access->plan.all.end ? end : access->plan.all.end;
}

/* Of that part, what lies between the first byte that any rank wants and the last. */
static inline struct mur_view_segment mur_cb_segment(const struct mur_access *access, uint64_t cb)
{
    MPI_Offset start = mur_cb_start(access, cb);
    MPI_Offset first = start > access->plan.all.first ? start : access->plan.all.first;

    return (struct mur_view_segment){first, (size_t)(mur_cb_end(access, cb) - first)};
}

/* Of this rank's data, the bytes that lie before a byte of the file, from `done` of them on. */
static inline size_t mur_cb_bytes(const struct mur_access *access, size_t done, MPI_Offset end)
{
    MPI_Offset position;

    if (access->plan.is_alone || done == access->memory.bytes)
        return 0;
    position = mur_view_position(access->file, end) - access->start;
    if (position <= (MPI_Offset)done)
        return 0;
    return ((size_t)position < access->memory.bytes ? (size_t)position : access->memory.bytes) - done;
}

static inline void mur_access_tell_failure(const struct mur_access *access, int number)
{
    struct mur_shared_state *shared = access->file->shared;
    uint64_t none = 0, verdict = (uint64_t)number << 32 | (uint32_t)(shared->rank + 1);

    atomic_compare_exchange_strong(&shared->memory->verdict[access->shared.number % 2], &none, verdict);
}

static inline bool mur_access_has_failed(const struct mur_access *access)
{
    return atomic_load_explicit(&access->file->shared->memory->verdict[access->shared.number % 2],
                                memory_order_relaxed) != 0;
}

/* True when this rank has passed all collective buffers. */
bool mur_cbs_write(struct mur_access *access);
bool mur_cbs_read(struct mur_access *access);

/* Writes one full collective buffer; false: there is none, or somebody writes. */
bool mur_cbs_write_next(struct mur_access *access);

#endif
