/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of integers and logicals. Only minimum and maximum care for the sign; all others are computed on unsigned
 * numbers, which wrap around where signed ones would be undefined. Built with -O3, which vectorises the loops. */
#include "datatype/reduce.h"

#define KERNEL(name, type, expression)                                                                                 \
    static void name(const void *in_, void *inout_, size_t count)                                                      \
    {                                                                                                                  \
        const type *restrict in = in_;                                                                                 \
        type *restrict inout = inout_;                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type a = in[i], b = inout[i];                                                                              \
            inout[i] = (type)(expression);                                                                             \
        }                                                                                                              \
    }

#define ORDER_KERNELS(suffix, type)                                                                                    \
    KERNEL(min_##suffix, type, a < b ? a : b)                                                                          \
    KERNEL(max_##suffix, type, a > b ? a : b)

/* The product's 1u keeps 16-bit factors from being multiplied as (signed) int. A truth value is 0 or 1. */
#define UNSIGNED_KERNELS(suffix, type)                                                                                 \
    KERNEL(sum_##suffix, type, a + b)                                                                                  \
    KERNEL(prod_##suffix, type, 1u * a * b)                                                                            \
    KERNEL(band_##suffix, type, a &b)                                                                                  \
    KERNEL(bor_##suffix, type, a | b)                                                                                  \
    KERNEL(bxor_##suffix, type, a ^ b)                                                                                 \
    KERNEL(land_##suffix, type, (a != 0) & (b != 0))                                                                   \
    KERNEL(lor_##suffix, type, (a != 0) | (b != 0))                                                                    \
    KERNEL(lxor_##suffix, type, (a != 0) ^ (b != 0))                                                                   \
    ORDER_KERNELS(suffix, type)

ORDER_KERNELS(i8, int8_t)
ORDER_KERNELS(i16, int16_t)
ORDER_KERNELS(i32, int32_t)
ORDER_KERNELS(i64, int64_t)
UNSIGNED_KERNELS(u8, uint8_t)
UNSIGNED_KERNELS(u16, uint16_t)
UNSIGNED_KERNELS(u32, uint32_t)
UNSIGNED_KERNELS(u64, uint64_t)
#ifdef __SIZEOF_INT128__
ORDER_KERNELS(i128, __int128)
UNSIGNED_KERNELS(u128, unsigned __int128)
#define ROW_128(operation, suffix)                                                                                     \
    [MUR_MACHINE_INT128] = operation##_##suffix##128, [MUR_MACHINE_UINT128] = operation##_u128,
#else
#define ROW_128(operation, suffix)
#endif

/* `suffix` is how signed numbers are treated: i as they are, u as unsigned ones. */
#define ROW(operation, suffix)                                                                                         \
    {                                                                                                                  \
        [MUR_MACHINE_INT8] = operation##_##suffix##8, [MUR_MACHINE_INT16] = operation##_##suffix##16,                  \
        [MUR_MACHINE_INT32] = operation##_##suffix##32, [MUR_MACHINE_INT64] = operation##_##suffix##64,                \
        [MUR_MACHINE_UINT8] = operation##_u8, [MUR_MACHINE_UINT16] = operation##_u16,                                  \
        [MUR_MACHINE_UINT32] = operation##_u32, [MUR_MACHINE_UINT64] = operation##_u64, ROW_128(operation, suffix)     \
    }

mur_reduce_table MUR_REDUCE_NAME(mur_reduce_integers) = {
    [MUR_REDUCE_SUM] = ROW(sum, u),   [MUR_REDUCE_PROD] = ROW(prod, u), [MUR_REDUCE_MIN] = ROW(min, i),
    [MUR_REDUCE_MAX] = ROW(max, i),   [MUR_REDUCE_BAND] = ROW(band, u), [MUR_REDUCE_BOR] = ROW(bor, u),
    [MUR_REDUCE_BXOR] = ROW(bxor, u), [MUR_REDUCE_LAND] = ROW(land, u), [MUR_REDUCE_LOR] = ROW(lor, u),
    [MUR_REDUCE_LXOR] = ROW(lxor, u),
};
