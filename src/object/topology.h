/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual topology: who neighbours whom in a communicator (MPI-5.0 §8). */
#ifndef MUR_OBJECT_TOPOLOGY_H
#define MUR_OBJECT_TOPOLOGY_H

#include "mpi.h"

/* A Cartesian grid: ranks are row-major, the last dimension varies fastest. */
struct mur_cart {
    int ndims;
    int *dims;    /* [ndims], 1 or more each */
    int *periods; /* [ndims], 0 or 1 */
    int *coords;  /* [ndims], of this process */
};

struct mur_topology {
    int kind; /* MPI_CART */
    struct mur_cart cart;
};

/* A Cartesian grid whose arrays are not filled in yet; NULL when memory is exhausted. */
struct mur_topology *mur_topology_create(int ndims);

/* A copy, or NULL when memory is exhausted. */
struct mur_topology *mur_topology_dup(const struct mur_topology *topology);

/* NULL is no topology. */
void mur_topology_free(struct mur_topology *topology);

#endif
