/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process takes which place of a topology (MPI-5.0 §8.5.8). */
#ifndef MUR_TOPO_MAP_H
#define MUR_TOPO_MAP_H

#include "object/comm.h"

/* The place of this process in a topology of `places` nodes; MPI_UNDEFINED where it has none. The creating functions
 * ask with the program's `reorder`, the mapping ones with true.
 *
 * Every process keeps its rank, also where the program allows another order: mpiexec places consecutive ranks near each
 * other, and data that the program has read or computed before it makes the topology stay where they are. */
static inline int mur_topo_place(const struct mur_comm *comm, int places, bool may_reorder)
{
    (void)may_reorder;
    return comm->rank < places ? comm->rank : MPI_UNDEFINED;
}

#endif
