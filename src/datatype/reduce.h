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
typedef mur_reduce_function *const mur_reduce_table[MUR_REDUCTIONS][MUR_MACHINES];
extern mur_reduce_table mur_reduce_integers; /* reduce_integer.c */
extern mur_reduce_table mur_reduce_floats;   /* reduce_float.c */
extern mur_reduce_table mur_reduce_pairs;    /* reduce_pair.c */

/* The same files compiled for later processors (reduce_avx2.c, reduce_avx512.c) have the same tables by other names. */
#if defined(__x86_64__) && defined(__GNUC__)
#define MUR_HAVE_REDUCE_AVX 1
extern mur_reduce_table mur_reduce_integers_avx2, mur_reduce_floats_avx2, mur_reduce_pairs_avx2;
extern mur_reduce_table mur_reduce_integers_avx512, mur_reduce_floats_avx512, mur_reduce_pairs_avx512;
#else
#define MUR_HAVE_REDUCE_AVX 0
#endif

/* What reduce_avx2.c and its like put behind the names. */
#ifndef MUR_REDUCE_NAME
#define MUR_REDUCE_NAME(name) name
#endif

/* The kernel for this processor. */
mur_reduce_function *mur_reduce_kernel(enum mur_reduction reduction, enum mur_machine machine);

#endif
