/* SPDX-License-Identifier: BSD-3-Clause */
/* Panes as a collective access sees them (io/two_phase_shared.c says what they are for).
 *
 * A pane's life (`turn` is its number times 4, plus the state):
 *   write   FREE -- all ranks have arrived --> FULL -- who waits writes it --> FREE for the pane a ring further
 *   read    FREE -- claimed by one rank --> READING -- it has read --> READY -- all have arrived --> FREE, as above
 *   sparse  FREE -- all ranks have marked what they want; the last reads that --> READY, as above */
#ifndef MUR_IO_PANES_H
#define MUR_IO_PANES_H

#include "io/access.h"
#include "io/area.h"
#include "io/file.h"

enum { MUR_PANE_FREE, MUR_PANE_READING, MUR_PANE_READY, MUR_PANE_FULL };

static inline struct mur_panes *mur_pane_ring(const struct mur_access *access)
{
    return access->file->area->panes;
}

static inline struct mur_pane *mur_pane_state(const struct mur_access *access, uint64_t pane)
{
    return &mur_pane_ring(access)->state[pane % MUR_PANES];
}

/* Panes are numbered through all accesses. */
static inline uint64_t mur_pane_number(const struct mur_access *access, uint64_t pane)
{
    return access->file->area->panes_in + pane;
}

/* pairs with the releases that write `turn` */
static inline bool mur_pane_is_in(const struct mur_access *access, uint64_t pane, int state)
{
    uint64_t number = mur_pane_number(access, pane);

    return atomic_load_explicit(&mur_pane_state(access, number)->turn, memory_order_acquire) ==
           number * 4 + (uint64_t)state;
}

static inline void mur_pane_enter(const struct mur_access *access, uint64_t number, int state)
{
    struct mur_pane *pane = mur_pane_state(access, number);

    atomic_store_explicit(&pane->turn, number * 4 + (uint64_t)state, memory_order_release);
    mur_area_rouse(access->file->area);
}

/* The part of the file that a pane is for. */
static inline MPI_Offset mur_pane_start(const struct mur_access *access, uint64_t pane)
{
    return access->plan.origin + (MPI_Offset)(pane * mur_pane_ring(access)->bytes);
}

static inline MPI_Offset mur_pane_end(const struct mur_access *access, uint64_t pane)
{
    MPI_Offset end = mur_pane_start(access, pane + 1);

    return end < access->plan.all.end ? end : access->plan.all.end;
}

/* Of that part, what lies between the first byte that any rank wants and the last. */
static inline struct mur_view_segment mur_pane_segment(const struct mur_access *access, uint64_t pane)
{
    MPI_Offset start = mur_pane_start(access, pane);
    MPI_Offset first = start > access->plan.all.first ? start : access->plan.all.first;

    return (struct mur_view_segment){first, (size_t)(mur_pane_end(access, pane) - first)};
}

/* Of this rank's data, the bytes that lie before a byte of the file, from `done` of them on. */
static inline size_t mur_pane_bytes(const struct mur_access *access, size_t done, MPI_Offset end)
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
    struct mur_area *area = access->file->area;
    uint64_t none = 0, verdict = (uint64_t)number << 32 | (uint32_t)(area->rank + 1);

    atomic_compare_exchange_strong(&area->memory->verdict[access->shared.number % 2], &none, verdict);
}

static inline bool mur_access_has_failed(const struct mur_access *access)
{
    return atomic_load_explicit(&access->file->area->memory->verdict[access->shared.number % 2],
                                memory_order_relaxed) != 0;
}

/* True when this rank has passed all panes. */
bool mur_panes_write(struct mur_access *access);
bool mur_panes_read(struct mur_access *access);

/* Writes one full pane; false: there is none, or somebody writes. */
bool mur_panes_write_next(struct mur_access *access);

#endif
