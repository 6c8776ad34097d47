/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of real and complex numbers. Complex products use the plain formula, without C's rules for infinite
 * factors, as Fortran does. Where one of two numbers is no number, minimum and maximum give `b`, the one in place.
 * Built with -O3, which vectorises the loops. */
#include "datatype/reduce.h"

#define REAL_KERNEL(name, type, expression)                                                                            \
    static void name(const void *in_, void *inout_, size_t count)                                                      \
    {                                                                                                                  \
        const type *restrict in = in_;                                                                                 \
        type *restrict inout = inout_;                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type a = in[i], b = inout[i];                                                                              \
            inout[i] = expression;                                                                                     \
        }                                                                                                              \
    }

#define REAL_KERNELS(suffix, type)                                                                                     \
    REAL_KERNEL(sum_##suffix, type, a + b)                                                                             \
    REAL_KERNEL(prod_##suffix, type, a *b)                                                                             \
    REAL_KERNEL(min_##suffix, type, a < b ? a : b)                                                                     \
    REAL_KERNEL(max_##suffix, type, a > b ? a : b)

#define COMPLEX_KERNEL(name, type, real, imaginary)                                                                    \
    static void name(const void *in_, void *inout_, size_t count)                                                      \
    {                                                                                                                  \
        const type *restrict in = in_;                                                                                 \
        type *restrict inout = inout_;                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type a = in[i], b = inout[i];                                                                              \
            inout[i].re = real;                                                                                        \
            inout[i].im = imaginary;                                                                                   \
        }                                                                                                              \
    }

#define COMPLEX_KERNELS(suffix, type)                                                                                  \
    COMPLEX_KERNEL(sum_##suffix, type, a.re + b.re, a.im + b.im)                                                       \
    COMPLEX_KERNEL(prod_##suffix, type, a.re *b.re - a.im * b.im, a.re * b.im + a.im * b.re)

REAL_KERNELS(float, float)
REAL_KERNELS(double, double)
REAL_KERNELS(long_double, long double)
COMPLEX_KERNELS(float_complex, struct mur_float_complex)
COMPLEX_KERNELS(double_complex, struct mur_double_complex)
COMPLEX_KERNELS(long_double_complex, struct mur_long_double_complex)
#if MUR_HAVE_FLOAT128
REAL_KERNELS(float128, mur_float128)
COMPLEX_KERNELS(float128_complex, struct mur_float128_complex)
#define REAL_128(operation)    [MUR_MACHINE_FLOAT128] = operation##_float128,
#define COMPLEX_128(operation) [MUR_MACHINE_FLOAT128_COMPLEX] = operation##_float128_complex,
#else
#define REAL_128(operation)
#define COMPLEX_128(operation)
#endif

#define REAL_ROW(operation)                                                                                            \
    [MUR_MACHINE_FLOAT] = operation##_float, [MUR_MACHINE_DOUBLE] = operation##_double,                                \
    [MUR_MACHINE_LONG_DOUBLE] = operation##_long_double, REAL_128(operation)

#define COMPLEX_ROW(operation)                                                                                         \
    [MUR_MACHINE_FLOAT_COMPLEX] = operation##_float_complex,                                                           \
    [MUR_MACHINE_DOUBLE_COMPLEX] = operation##_double_complex,                                                         \
    [MUR_MACHINE_LONG_DOUBLE_COMPLEX] = operation##_long_double_complex, COMPLEX_128(operation)

mur_reduce_table MUR_REDUCE_NAME(mur_reduce_floats) = {
    [MUR_REDUCE_SUM] = {REAL_ROW(sum) COMPLEX_ROW(sum)},
    [MUR_REDUCE_PROD] = {REAL_ROW(prod) COMPLEX_ROW(prod)},
    [MUR_REDUCE_MIN] = {REAL_ROW(min)},
    [MUR_REDUCE_MAX] = {REAL_ROW(max)},
};
