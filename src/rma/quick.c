/* SPDX-License-Identifier: BSD-3-Clause */
/* Single elements of four and eight bytes. They hold the same stripes as all other accumulates. */
#include "rma/quick.h"

#include <string.h>

#include "datatype/basic.h"

enum quick { QUICK_NONE, QUICK_INT, QUICK_LONG, QUICK_FLOAT, QUICK_DOUBLE };

static inline enum quick kind_of(const struct mur_type *type)
{
    if (!type->object.predefined)
        return QUICK_NONE;
    switch (mur_basics[type->basic].machine) {
    case MUR_MACHINE_INT32:
    case MUR_MACHINE_UINT32:
        return QUICK_INT;
    case MUR_MACHINE_INT64:
    case MUR_MACHINE_UINT64:
        return QUICK_LONG;
    case MUR_MACHINE_FLOAT:
        return QUICK_FLOAT;
    case MUR_MACHINE_DOUBLE:
        return QUICK_DOUBLE;
    default:
        return QUICK_NONE;
    }
}

/* Memory may lie at any address: it is copied, which is one load or store. */
#define ADD(type)                                                                                                      \
    do {                                                                                                               \
        type sum, term;                                                                                                \
        memcpy(&sum, memory, sizeof sum);                                                                              \
        memcpy(&term, origin, sizeof term);                                                                            \
        sum += term;                                                                                                   \
        memcpy(memory, &sum, sizeof sum);                                                                              \
    } while (0)

static inline void copy_word(void *out, const void *in, bool is_long)
{
    if (is_long)
        memcpy(out, in, 8);
    else
        memcpy(out, in, 4);
}

static inline void add(enum quick kind, char *memory, const void *origin)
{
    if (kind == QUICK_LONG)
        ADD(uint64_t);
    else if (kind == QUICK_DOUBLE)
        ADD(double);
    else if (kind == QUICK_INT)
        ADD(uint32_t);
    else
        ADD(float);
}

static inline bool is_quick_op(const struct mur_op *op, const struct mur_type *type)
{
    if (!op->object.predefined)
        return false;
    if (op->reduction == MUR_REDUCE_SUM) { /* not of logicals and bytes */
        enum mur_class class = mur_basics[type->basic].class;

        return class == MUR_CLASS_C_INTEGER || class == MUR_CLASS_FLOATING || class == MUR_CLASS_ANY_INTEGER ||
               class == MUR_CLASS_FORTRAN_INTEGER;
    }
    return op->reduction == MUR_REDUCE_REPLACE || op->reduction == MUR_REDUCE_NO_OP;
}

bool mur_quick_fetch(struct mur_win *win, int rank, MPI_Aint displacement, const struct mur_type *type,
                     const struct mur_op *op, const void *origin, void *result)
{
    enum quick kind = kind_of(type);
    bool is_long = kind == QUICK_LONG || kind == QUICK_DOUBLE;
    _Atomic uint32_t *stripe;
    MPI_Count place;
    char *memory;

    if (kind == QUICK_NONE || !is_quick_op(op, type))
        return false;
    memory = mur_quick_memory(win, rank, displacement, is_long ? 8 : 4, &place);
    if (!memory)
        return false;
    stripe = mur_control_stripe(win->targets[rank].control, (uint64_t)place);
    mur_control_stripe_lock(stripe);
    if (result)
        copy_word(result, memory, is_long);
    if (op->reduction == MUR_REDUCE_SUM)
        add(kind, memory, origin);
    else if (op->reduction == MUR_REDUCE_REPLACE)
        copy_word(memory, origin, is_long);
    mur_control_stripe_unlock(stripe);
    mur_quick_count(++mur_counters.accumulates);
    return true;
}

bool mur_quick_swap(struct mur_win *win, int rank, MPI_Aint displacement, const struct mur_type *type,
                    const void *compare, const void *origin, void *result)
{
    enum quick kind = kind_of(type);
    bool is_long = kind == QUICK_LONG;
    uint64_t before = 0, wanted = 0;
    _Atomic uint32_t *stripe;
    MPI_Count place;
    char *memory;

    if (kind != QUICK_INT && kind != QUICK_LONG)
        return false;
    memory = mur_quick_memory(win, rank, displacement, is_long ? 8 : 4, &place);
    if (!memory)
        return false;
    copy_word(&wanted, compare, is_long);
    stripe = mur_control_stripe(win->targets[rank].control, (uint64_t)place);
    mur_control_stripe_lock(stripe);
    copy_word(&before, memory, is_long);
    if (before == wanted)
        copy_word(memory, origin, is_long);
    mur_control_stripe_unlock(stripe);
    mur_quick_count(++mur_counters.accumulates);
    copy_word(result, &before, is_long);
    return true;
}
