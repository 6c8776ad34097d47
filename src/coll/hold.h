/* SPDX-License-Identifier: BSD-3-Clause */
/* What a collective holds on to that goes on after its call has returned, or starts later: copies of the arrays of
 * counts, displacements and types, and a reference to each type and to the operation. The program may change or free
 * its own right after the call. The standard allows that of types and operations only, but MPICH and Open MPI copy the
 * arrays, too, and programs rely on it. */
#ifndef MUR_COLL_HOLD_H
#define MUR_COLL_HOLD_H

#include "coll/collective.h"

/* The elements of the arrays of each side that matter at this rank; see mur_collective_array_length. */
struct mur_held {
    int from, to;
};

/* Returns how many bytes the arrays have; 0: there are none. */
size_t mur_hold_measure(const struct mur_collective *c, const struct mur_comm *comm, struct mur_held *held);

/* Copies the arrays to `memory`, which has room for them and lives as long as the collective. */
void mur_hold_arrays(struct mur_collective *c, const struct mur_held *held, void *memory);

/* References to what it uses, once the arrays are copied. */
void mur_hold_retain(const struct mur_collective *c, const struct mur_held *held);
void mur_hold_release(const struct mur_collective *c, const struct mur_held *held);

/* Arrays and references together, in memory and steps of the schedule. */
void mur_hold_in_schedule(struct mur_schedule *schedule, struct mur_collective *c);

#endif
