/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that all ranks draw alike, from a seed that is printed; MUR_TEST_SEED repeats one. */
#ifndef MUR_TEST_RANDOM_H
#define MUR_TEST_RANDOM_H

#include "draw.h"
#include "test.h"

static unsigned random_state;

static inline unsigned random_next(void)
{
    return draw_next(&random_state);
}

/* 0..limit-1 */
static inline int random_below(int limit)
{
    return (int)(random_next() % (unsigned)limit);
}

/* To be called by all ranks after MPI_Init. */
static inline void random_start(void)
{
    unsigned seed = draw_seed();
    int rank;

    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("seed %u\n", seed);
        fflush(stdout);
    }
    random_state = seed;
}

#endif
