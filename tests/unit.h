/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of single parts share, which run without MPI: checks that are counted, and random numbers from a seed that
 * is printed; MUR_TEST_SEED repeats one. */
#ifndef MUR_TEST_UNIT_H
#define MUR_TEST_UNIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static int failures;
static unsigned unit_state;

/* Goes on after a failure; what fails for ever is not told for ever. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition) && failures++ < 20)                                                                           \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
    } while (0)

/* 0..limit-1 */
static inline unsigned below(size_t limit)
{
    return draw_next(&unit_state) % (unsigned)limit;
}

static inline void unit_start(void)
{
    unit_state = draw_seed();
    printf("seed %u\n", unit_state);
    fflush(stdout);
}

/* The exit code. */
static inline int unit_end(void)
{
    printf("%d failures\n", failures);
    return failures > 0;
}

#endif
