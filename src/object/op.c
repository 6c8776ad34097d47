/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations: which types they take, and how they are applied. */
#include "object/op.h"

#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/settings.h"
#include "datatype/logical.h"
#include "engine/lock.h"
#include "object/type_predefined.h"

#define CLASS(name) (1u << MUR_CLASS_##name)
#define C_INTEGERS  (CLASS(C_INTEGER) | CLASS(ANY_INTEGER) | CLASS(CHAR))
#define INTEGERS    (C_INTEGERS | CLASS(FORTRAN_INTEGER))

/* MPI_REPLACE and MPI_NO_OP are for one-sided communication only: no class of type goes with them here. */
static const struct {
    MPI_Op handle;
    const char *name;
    unsigned classes;
} rows[MUR_REDUCTIONS] = {
    [MUR_REDUCE_SUM] = {MPI_SUM, "MPI_SUM", INTEGERS | CLASS(FLOATING) | CLASS(COMPLEX)},
    [MUR_REDUCE_PROD] = {MPI_PROD, "MPI_PROD", INTEGERS | CLASS(FLOATING) | CLASS(COMPLEX)},
    [MUR_REDUCE_MIN] = {MPI_MIN, "MPI_MIN", INTEGERS | CLASS(FLOATING)},
    [MUR_REDUCE_MAX] = {MPI_MAX, "MPI_MAX", INTEGERS | CLASS(FLOATING)},
    [MUR_REDUCE_BAND] = {MPI_BAND, "MPI_BAND", INTEGERS | CLASS(BYTE)},
    [MUR_REDUCE_BOR] = {MPI_BOR, "MPI_BOR", INTEGERS | CLASS(BYTE)},
    [MUR_REDUCE_BXOR] = {MPI_BXOR, "MPI_BXOR", INTEGERS | CLASS(BYTE)},
    [MUR_REDUCE_LAND] = {MPI_LAND, "MPI_LAND", C_INTEGERS | CLASS(LOGICAL)},
    [MUR_REDUCE_LOR] = {MPI_LOR, "MPI_LOR", C_INTEGERS | CLASS(LOGICAL)},
    [MUR_REDUCE_LXOR] = {MPI_LXOR, "MPI_LXOR", C_INTEGERS | CLASS(LOGICAL)},
    [MUR_REDUCE_MINLOC] = {MPI_MINLOC, "MPI_MINLOC", CLASS(PAIR)},
    [MUR_REDUCE_MAXLOC] = {MPI_MAXLOC, "MPI_MAXLOC", CLASS(PAIR)},
    [MUR_REDUCE_REPLACE] = {MPI_REPLACE, "MPI_REPLACE", 0},
    [MUR_REDUCE_NO_OP] = {MPI_NO_OP, "MPI_NO_OP", 0},
};

static struct mur_pool ops = MUR_POOL(MUR_KIND_OP, struct mur_op, "op");
static struct mur_op predefined[MUR_REDUCTIONS];

int mur_op_setup(void)
{
    for (int i = 0; i < MUR_REDUCTIONS; i++) {
        struct mur_op *op = &predefined[i];
        op->object.kind = MUR_KIND_OP;
        op->object.references = 1;
        op->object.predefined = (uint32_t)(uintptr_t)rows[i].handle;
        op->is_commutative = i != MUR_REDUCE_REPLACE && i != MUR_REDUCE_NO_OP;
        op->reduction = i;
        op->name = rows[i].name;
        mur_predefined[op->object.predefined] = &op->object;
    }
    return MPI_SUCCESS;
}

int mur_op_create(MPI_User_function *user, MPI_User_function_c *user_large, bool is_commutative, struct mur_op **op_p)
{
    struct mur_op *op = mur_pool_get(&ops);

    if (!op)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a reduction operation");
    op->is_commutative = is_commutative;
    op->reduction = -1;
    op->user = user;
    op->user_large = user_large;
    op->stateful = (struct mur_stateful_op){.function = NULL};
    op->name = "user operation";
    *op_p = op;
    return MPI_SUCCESS;
}

int mur_op_create_stateful(const struct mur_stateful_op *stateful, bool is_commutative, struct mur_op **op_p)
{
    int rc = mur_op_create(NULL, NULL, is_commutative, op_p);

    if (!rc)
        (*op_p)->stateful = *stateful;
    return rc;
}

void mur_op_release(struct mur_op *op)
{
    if (op->object.predefined || --op->object.references > 0)
        return;
    free(op->stateful.state);
    mur_pool_put(&ops, op);
}

int mur_op_check(const struct mur_op *op, const struct mur_type *type)
{
    const struct mur_basic_row *row;

    if (!type->is_supported)
        return mur_error(MPI_ERR_TYPE, "the datatype %s is not supported on this platform", type->name);
    if (!op->object.predefined)
        return MPI_SUCCESS;
    if (!rows[op->reduction].classes)
        return mur_error(MPI_ERR_OP, "%s is for one-sided communication only", op->name);
    if (type->recipe.combiner == MPI_COMBINER_VALUE_INDEX && (rows[op->reduction].classes & CLASS(PAIR)))
        return MPI_SUCCESS;
    if (!type->object.predefined && (!type->is_permanent || type->recipe.combiner == MPI_COMBINER_VALUE_INDEX))
        return mur_error(MPI_ERR_OP, "%s takes predefined datatypes only, but the datatype is a derived one", op->name);
    row = &mur_basics[type->basic];
    if (!(rows[op->reduction].classes >> row->class & 1) || (row->class == MUR_CLASS_CHAR && mur_is_strict()))
        return mur_error(MPI_ERR_OP, "%s does not apply to the datatype %s", op->name, row->name);
    return MPI_SUCCESS;
}

static void call_user(const struct mur_op *op, void *in, void *inout, MPI_Count count, MPI_Datatype handle)
{
    int small = (int)count;

    if (op->user)
        op->user(in, inout, &small, &handle);
    else if (op->user_large)
        op->user_large(in, inout, &count, &handle);
    else
        op->stateful.function(op->stateful.state, in, inout, count, handle);
}

/* Functions made for int counts get the elements in pieces. The user's function runs without the engine's lock. */
static void apply_user(const struct mur_op *op, const char *in, char *inout, MPI_Count count, struct mur_type *type)
{
    MPI_Count most = op->user_large || op->stateful.takes_large ? count : INT_MAX;

    mur_engine_unlock();
    while (count > 0) {
        MPI_Count piece = count < most ? count : most;

        call_user(op, (void *)(uintptr_t)in, inout, piece, mur_object_handle(type));
        in += piece * type->extent;
        inout += piece * type->extent;
        count -= piece;
    }
    mur_engine_lock();
}

void mur_op_apply(const struct mur_op *op, const void *in, void *inout, MPI_Count count, struct mur_type *type)
{
    if (count == 0)
        return;
    if (!op->object.predefined)
        apply_user(op, in, inout, count, type);
    else if (__builtin_expect(type->recipe.combiner == MPI_COMBINER_VALUE_INDEX, 0))
        mur_type_reduce_pairs(type, op->reduction == MUR_REDUCE_MAXLOC, in, inout, count);
    else
        mur_reduce_kernel_of(op->reduction, &mur_basics[type->basic])(in, inout, (size_t)count);
}
