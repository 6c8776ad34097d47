/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between makers of processors so much that defaults depend on it. */
#ifndef MUR_BASE_CPU_H
#define MUR_BASE_CPU_H

#include <stdbool.h>

/* AMD's: groups of cores with a fast last cache each, and none between them. */
static inline bool mur_cpu_is_amd(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

#endif
