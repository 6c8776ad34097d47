/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that never goes back, for how long things take. */
#ifndef MUR_BASE_CLOCK_H
#define MUR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t mur_clock_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
