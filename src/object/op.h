/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction operation: a predefined one, with a kernel for each basic type it allows, or a user's function. */
#ifndef MUR_OBJECT_OP_H
#define MUR_OBJECT_OP_H

#include "base/pool.h"
#include "mpi.h"
#include "object/stateful.h"
#include "object/type.h"

struct mur_op {
    struct mur_object object;
    bool is_commutative;
    int reduction;                   /* enum mur_reduction, for predefined operations */
    MPI_User_function *user;         /* NULL unless made by MPI_Op_create */
    MPI_User_function_c *user_large; /* NULL unless made by MPI_Op_create_c */
    struct mur_stateful_op stateful; /* its function is NULL unless another ABI's library has made the operation */
    const char *name;
};

static inline struct mur_op *mur_op_find(MPI_Op handle)
{
    return mur_object_find(handle, MUR_KIND_OP);
}

static inline void mur_op_retain(struct mur_op *op)
{
    if (!op->object.predefined)
        op->object.references++;
}

/* Drops a reference; the last one frees the operation. Predefined operations are never freed. */
void mur_op_release(struct mur_op *op);
int mur_op_setup(void);

/* An operation of a user's: one of the two functions is NULL. */
int mur_op_create(MPI_User_function *user, MPI_User_function_c *user_large, bool is_commutative, struct mur_op **op_p);

/* The same with a state, which belongs to the operation unless this fails. */
int mur_op_create_stateful(const struct mur_stateful_op *stateful, bool is_commutative, struct mur_op **op_p);

/* MPI_SUCCESS, or the error that the operation does not go with the type (MPI-5.0 §6.9.2). */
int mur_op_check(const struct mur_op *op, const struct mur_type *type);

/* inout[i] = in[i] op inout[i] for `count` elements; the pair has passed mur_op_check. Buffers do not overlap.
 * User functions are called with at most INT_MAX elements at a time. */
void mur_op_apply(const struct mur_op *op, const void *in, void *inout, MPI_Count count, struct mur_type *type);

#endif
