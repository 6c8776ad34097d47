/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction kernels once more, compiled for x86 processors with AVX-512 (src/CMakeLists.txt sets the options). */
#if defined(__x86_64__) && defined(__GNUC__)
#define MUR_REDUCE_NAME(name) name##_avx512
#include "datatype/reduce_float.c"
#include "datatype/reduce_integer.c"
#include "datatype/reduce_pair.c"
#else
typedef int mur_reduce_avx512_is_empty;
#endif
