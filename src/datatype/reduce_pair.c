/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_MINLOC and MPI_MAXLOC on pairs of a value and an index: of equal values, the smaller index. */
#include "datatype/reduce.h"

#define PAIR_KERNEL(name, type, is_better)                                                                             \
    static void name(const void *in_, void *inout_, size_t count)                                                      \
    {                                                                                                                  \
        const type *restrict in = in_;                                                                                 \
        type *restrict inout = inout_;                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type a = in[i], b = inout[i];                                                                              \
            if (a.value is_better b.value) {                                                                           \
                inout[i].value = a.value;                                                                              \
                inout[i].index = a.index;                                                                              \
            } else if (a.value == b.value && a.index < b.index) {                                                      \
                inout[i].index = a.index;                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

#define PAIR_KERNELS(suffix, type)                                                                                     \
    PAIR_KERNEL(minloc_##suffix, type, <)                                                                              \
    PAIR_KERNEL(maxloc_##suffix, type, >)

PAIR_KERNELS(float_int, struct mur_float_int)
PAIR_KERNELS(double_int, struct mur_double_int)
PAIR_KERNELS(long_int, struct mur_long_int)
PAIR_KERNELS(int_int, struct mur_int_int)
PAIR_KERNELS(short_int, struct mur_short_int)
PAIR_KERNELS(long_double_int, struct mur_long_double_int)
PAIR_KERNELS(float_float, struct mur_float_float)
PAIR_KERNELS(double_double, struct mur_double_double)

#define PAIR_ROW(operation)                                                                                            \
    {                                                                                                                  \
        [MUR_MACHINE_FLOAT_INT] = operation##_float_int, [MUR_MACHINE_DOUBLE_INT] = operation##_double_int,            \
        [MUR_MACHINE_LONG_INT] = operation##_long_int, [MUR_MACHINE_INT_INT] = operation##_int_int,                    \
        [MUR_MACHINE_SHORT_INT] = operation##_short_int, [MUR_MACHINE_LONG_DOUBLE_INT] = operation##_long_double_int,  \
        [MUR_MACHINE_FLOAT_FLOAT] = operation##_float_float, [MUR_MACHINE_DOUBLE_DOUBLE] = operation##_double_double,  \
    }

mur_reduce_table MUR_REDUCE_NAME(mur_reduce_pairs) = {
    [MUR_REDUCE_MINLOC] = PAIR_ROW(minloc),
    [MUR_REDUCE_MAXLOC] = PAIR_ROW(maxloc),
};
