/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator of random numbers that all tests use: linear and congruential, so that a seed repeats a run on any
 * machine. Whoever draws by itself (a thread, one rank) keeps a state of its own. */
#ifndef MUR_TEST_DRAW_H
#define MUR_TEST_DRAW_H

#include <stdlib.h>

/* 0..2^24-1 */
static inline unsigned draw_next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* What MUR_TEST_SEED says, else always the same, so that two runs of the tests do the same. tools/soak sets fresh
 * seeds. The caller prints it. */
static inline unsigned draw_seed(void)
{
    const char *given = getenv("MUR_TEST_SEED");

    return given ? (unsigned)strtoul(given, NULL, 10) : 1;
}

#endif
