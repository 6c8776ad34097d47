/* SPDX-License-Identifier: BSD-3-Clause */
/* What the libraries for other ABIs (compat/) need beside MPI's functions: callbacks that get a state, so that a
 * function of the door's can call the program's with the program's handles; and where objects lie, which makes integers
 * of handles without a call. The doors find all of it, and all functions of MPI, in one table, murmur_door
 * (api/doors.py writes it): the names of MPI are the door's own in a program that has come through it. */
#ifndef MUR_MPI_STATEFUL_H
#define MUR_MPI_STATEFUL_H

#include "object/stateful.h"

/* MPI_Op_create with a state. On success the state, memory of malloc, belongs to the operation. */
int mur_door_op_create(const struct mur_stateful_op *stateful, int commute, MPI_Op *op);

/* MPI_X_create_errhandler with a state, as above. `handle` is one of the kind of object that the handler shall serve:
 * MPI_COMM_NULL, MPI_FILE_NULL, MPI_SESSION_NULL or MPI_WIN_NULL. */
int mur_door_errhandler_create(mur_stateful_errhandler_function *function, void *state, const void *handle,
                               MPI_Errhandler *errhandler);

/* The extra state of this key is memory of malloc, and belongs to the key from now on. */
void mur_door_keyval_own(int keyval);

/* The address of the first object, and the bytes that are there for objects. Each handle that is no constant is a
 * multiple of MUR_OBJECT_ALIGNMENT away from it, and less than 2^30 multiples. Neither changes once there is an object.
 */
uintptr_t mur_door_first_object(size_t *bytes);

#endif
