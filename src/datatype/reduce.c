/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the compiled kernels this processor can run: asked once, at the first reduction. */
#include "datatype/reduce.h"

struct tables {
    mur_reduce_table *integers, *floats, *pairs;
};

static const struct tables portable = {&mur_reduce_integers, &mur_reduce_floats, &mur_reduce_pairs};

static const struct tables *choose(void)
{
#if MUR_HAVE_REDUCE_AVX
    static const struct tables avx2 = {&mur_reduce_integers_avx2, &mur_reduce_floats_avx2, &mur_reduce_pairs_avx2};
    static const struct tables avx512 = {&mur_reduce_integers_avx512, &mur_reduce_floats_avx512,
                                         &mur_reduce_pairs_avx512};

    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &avx512;
    if (__builtin_cpu_supports("avx2"))
        return &avx2;
#endif
    return &portable;
}

mur_reduce_function *mur_reduce_kernel(enum mur_reduction reduction, enum mur_machine machine)
{
    static const struct tables *tables; /* any thread finds the same */

    if (__builtin_expect(!tables, 0))
        tables = choose();
    if (machine >= MUR_MACHINE_FLOAT_INT)
        return (*tables->pairs)[reduction][machine];
    if (machine >= MUR_MACHINE_FLOAT)
        return (*tables->floats)[reduction][machine];
    return (*tables->integers)[reduction][machine];
}
