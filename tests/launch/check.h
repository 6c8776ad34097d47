/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of the launcher: a check that counts, and random numbers from a printed seed. */
#ifndef MUR_TESTS_LAUNCH_CHECK_H
#define MUR_TESTS_LAUNCH_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Seeds rand() from the first argument, or with 1, and prints the seed. */
static inline void check_seed(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

    printf("seed %u\n", seed);
    srand(seed);
}

#endif
