/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the predefined reductions. They know machine types only: which MPI types an operation takes is
 * decided in object/op.c. */
#ifndef MUR_DATATYPE_REDUCE_H
#define MUR_DATATYPE_REDUCE_H

#include <stddef.h>

#include "datatype/basic.h"

enum mur_reduction {
    MUR_REDUCE_SUM,
    MUR_REDUCE_PROD,
    MUR_REDUCE_MIN,
    MUR_REDUCE_MAX,
    MUR_REDUCE_BAND,
    MUR_REDUCE_BOR,
    MUR_REDUCE_BXOR,
    MUR_REDUCE_LAND,
    MUR_REDUCE_LOR,
    MUR_REDUCE_LXOR,
    MUR_REDUCE_MINLOC,
    MUR_REDUCE_MAXLOC,
    MUR_REDUCE_REPLACE, /* no kernel */
    MUR_REDUCE_NO_OP,   /* no kernel */
    MUR_REDUCTIONS
};

/* inout[i] = in[i] op inout[i] for `count` elements; the buffers do not overlap. */
typedef void mur_reduce_function(const void *in, void *inout, size_t count);

/* The kernels of one file; NULL where the operation makes no sense. */
extern mur_reduce_function *const mur_reduce_integers[MUR_REDUCTIONS][MUR_MACHINES]; /* reduce_integer.c */
extern mur_reduce_function *const mur_reduce_floats[MUR_REDUCTIONS][MUR_MACHINES];   /* reduce_float.c */
extern mur_reduce_function *const mur_reduce_pairs[MUR_REDUCTIONS][MUR_MACHINES];    /* reduce_pair.c */

static inline mur_reduce_function *mur_reduce_kernel(enum mur_reduction reduction, enum mur_machine machine)
{
    if (machine >= MUR_MACHINE_FLOAT_INT)
        return mur_reduce_pairs[reduction][machine];
    if (machine >= MUR_MACHINE_FLOAT)
        return mur_reduce_floats[reduction][machine];
    return mur_reduce_integers[reduction][machine];
}

#endif
