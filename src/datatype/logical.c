/* SPDX-License-Identifier: BSD-3-Clause */
/* Logical reductions of Fortran's LOGICAL where .TRUE. is not 1 or .FALSE. not 0. C's and C++'s truth values are always
 * 1 and 0. What is not .FALSE. is taken for true, and results are one of the two. */
#include "datatype/logical.h"

#include <string.h>

struct mur_logical mur_logical = {.yes = 1};

#define KERNEL(name, type, expression)                                                                                 \
    static void name(const void *in_, void *inout_, size_t count)                                                      \
    {                                                                                                                  \
        const type *restrict in = in_, yes = (type)mur_logical.yes, no = (type)mur_logical.no;                         \
        type *restrict inout = inout_;                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            bool a = in[i] != no, b = inout[i] != no;                                                                  \
            inout[i] = (expression) ? yes : no;                                                                        \
        }                                                                                                              \
    }

#define KERNELS(suffix, type)                                                                                          \
    KERNEL(land_##suffix, type, a &&b)                                                                                 \
    KERNEL(lor_##suffix, type, a || b)                                                                                 \
    KERNEL(lxor_##suffix, type, a != b)

KERNELS(8, int8_t)
KERNELS(16, int16_t)
KERNELS(32, int32_t)
KERNELS(64, int64_t)
#ifdef __SIZEOF_INT128__
KERNELS(128, __int128)
#define ROW_128(operation) [MUR_MACHINE_UINT128] = operation##_128,
#else
#define ROW_128(operation)
#endif

#define ROW(operation)                                                                                                 \
    {                                                                                                                  \
        [MUR_MACHINE_UINT8] = operation##_8, [MUR_MACHINE_UINT16] = operation##_16,                                    \
        [MUR_MACHINE_UINT32] = operation##_32, [MUR_MACHINE_UINT64] = operation##_64, ROW_128(operation)               \
    }

static mur_reduce_table kernels = {
    [MUR_REDUCE_LAND] = ROW(land), [MUR_REDUCE_LOR] = ROW(lor), [MUR_REDUCE_LXOR] = ROW(lxor)};

static bool is_fortran(const struct mur_basic_row *row)
{
    return row->class == MUR_CLASS_LOGICAL && row != &mur_basics[MUR_BASIC_C_BOOL] &&
           row != &mur_basics[MUR_BASIC_CXX_BOOL];
}

mur_reduce_function *mur_reduce_kernel_of(enum mur_reduction reduction, const struct mur_basic_row *row)
{
    if (__builtin_expect(mur_logical.is_unusual, 0) && is_fortran(row))
        return kernels[reduction][row->machine];
    return mur_reduce_kernel(reduction, row->machine);
}
