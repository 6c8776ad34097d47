/* SPDX-License-Identifier: BSD-3-Clause */
/* Users' functions that get a state, for the libraries of other ABIs (compat/): a function of theirs then knows which
 * function of the program to call. A state is memory of malloc, and belongs to the object that has the function. */
#ifndef MUR_OBJECT_STATEFUL_H
#define MUR_OBJECT_STATEFUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

typedef void mur_stateful_op_function(void *state, void *in, void *inout, MPI_Count count, MPI_Datatype datatype);

struct mur_stateful_op {
    mur_stateful_op_function *function;
    void *state;
    bool takes_large; /* counts; else it gets at most INT_MAX elements at a time */
};

/* `handle` is that of the object in which the error was raised. Returns the code that the call shall return. */
typedef int mur_stateful_errhandler_function(void *state, void *handle, int code);

#endif
