/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks with a state, for libraries of other ABIs. */
#include "mpi/stateful.h"

#include "base/error.h"
#include "engine/lock.h"
#include "object/attribute.h"
#include "object/errhandler.h"
#include "object/op.h"

int mur_door_op_create(const struct mur_stateful_op *stateful, int commute, MPI_Op *handle)
{
    struct mur_op *op = NULL;
    int rc;

    mur_engine_lock_any_time();
    rc = mur_op_create_stateful(stateful, commute != 0, &op);
    mur_engine_unlock_any_time();
    if (!rc)
        *handle = mur_object_handle(op);
    return rc;
}

static uint32_t kind_of_null(const void *handle)
{
    if (handle == MPI_COMM_NULL)
        return MUR_KIND_COMM;
    if (handle == MPI_FILE_NULL)
        return MUR_KIND_FILE;
    return handle == MPI_WIN_NULL ? MUR_KIND_WIN : MUR_KIND_SESSION;
}

int mur_door_errhandler_create(mur_stateful_errhandler_function *function, void *state, const void *handle,
                               MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler;

    mur_engine_lock_any_time();
    handler = mur_errhandler_create(kind_of_null(handle));
    mur_engine_unlock_any_time();
    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.stateful = function;
    handler->state = state;
    *errhandler = mur_object_handle(handler);
    return MPI_SUCCESS;
}

void mur_door_keyval_own(int keyval)
{
    mur_engine_lock_any_time();
    mur_attribute_keyval_own_state(keyval);
    mur_engine_unlock_any_time();
}

uintptr_t mur_door_first_object(size_t *bytes)
{
    *bytes = mur_arena.bytes;
    return mur_arena.base;
}
