/* SPDX-License-Identifier: BSD-3-Clause */
/* What a collective holds on to that goes on after its call has returned, or starts later: copies of the arrays of
 * counts, displacements and types, and a reference to each type and to the operation. The program may change or free
 * its own right after the call. The standard allows that of types and operations only, but MPICH and Open MPI copy the
 * arrays, too, and programs rely on it. */
#ifndef MUR_COLL_HOLD_H
#define MUR_COLL_HOLD_H

#include "coll/collective.h"

/* The bytes of the arrays that matter at this rank; 0: there are none. */
size_t mur_hold_bytes(const struct mur_collective *c, const struct mur_comm *comm);

/* Copies the arrays to `memory`, which has room for mur_hold_bytes and lives as long as the collective. */
void mur_hold_arrays(struct mur_collective *c, const struct mur_comm *comm, void *memory);

/* References to what it uses, once the arrays are copied. */
void mur_hold_retain(const struct mur_collective *c, const struct mur_comm *comm);
void mur_hold_release(const struct mur_collective *c, const struct mur_comm *comm);

/* Arrays and references together, in memory and steps of the schedule. */
void mur_hold_in_schedule(struct mur_schedule *schedule, struct mur_collective *c);

#endif
