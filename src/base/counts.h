/* SPDX-License-Identifier: BSD-3-Clause */
/* An array of counts or displacements as the caller passed it: of int, or of MPI_Count or MPI_Aint in the large-count
 * form. So that one body serves both forms. */
#ifndef MUR_BASE_COUNTS_H
#define MUR_BASE_COUNTS_H

#include "mpi.h"

struct mur_counts {
    const void *array;
    int width; /* bytes of an element: 4 or 8 */
};

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "an array of either is read as MPI_Count");

static inline MPI_Count mur_counts_at(struct mur_counts counts, MPI_Count i)
{
    return counts.width == (int)sizeof(int) ? ((const int *)counts.array)[i] : ((const MPI_Count *)counts.array)[i];
}

static inline struct mur_counts mur_counts_large(const MPI_Count *array)
{
    return (struct mur_counts){array, sizeof *array};
}

#endif
