/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations (MPI-5.0 §6.9.5, §6.9.7). */
#include "object/op.h"

#include "base/error.h"
#include "mpi/bodies.h"

static int create(MPI_User_function *user, MPI_User_function_c *user_large, int commute, MPI_Op *handle)
{
    struct mur_op *op = NULL;
    int rc = mur_op_create(user, user_large, commute != 0, &op);

    if (!rc)
        *handle = mur_object_handle(op);
    return rc;
}

int mur_mpi_op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return create(user_fn, NULL, commute, op);
}

int mur_mpi_op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return create(NULL, user_fn, commute, op);
}

int mur_mpi_op_free(MPI_Op *handle)
{
    struct mur_op *op = mur_op_find(*handle);

    if (!op)
        return mur_error(MPI_ERR_OP, "%s, but must be a live operation",
                         *handle == MPI_OP_NULL ? "the operation is MPI_OP_NULL" : "the handle is not an operation's");
    if (op->object.predefined)
        return mur_error(MPI_ERR_OP, "%s is predefined and cannot be freed", op->name);
    mur_op_release(op);
    *handle = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_op_commutative(struct mur_op *op, int *commute)
{
    *commute = op->is_commutative;
    return MPI_SUCCESS;
}

int mur_mpi_reduce_local(const void *inbuf, void *inoutbuf, MPI_Count count, struct mur_type *datatype,
                         struct mur_op *op)
{
    MPI_Count bytes;
    int rc = mur_op_check(op, datatype);

    if (!rc && __builtin_mul_overflow(count, datatype->size, &bytes))
        return mur_error(MPI_ERR_COUNT, "count is %lld, of a type of %lld bytes: no memory is that large",
                         (long long)count, (long long)datatype->size);
    if (!rc && count && inbuf == inoutbuf && inbuf && datatype->is_dense)
        return mur_error(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same memory");
    if (!rc)
        mur_op_apply(op, inbuf, inoutbuf, count, datatype);
    return rc;
}
