/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests' random numbers for programs in Fortran: call random_start after MPI_Init, then draw(limit) gives 0 to
 * limit - 1, alike on all ranks. */
#include "random.h"

void random_start_(void);
int draw_(const int *limit);

void random_start_(void)
{
    random_start();
}

int draw_(const int *limit)
{
    return random_below(*limit);
}
