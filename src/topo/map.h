/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process takes which place of a topology (MPI-5.0 §8.5.8). */
#ifndef MUR_TOPO_MAP_H
#define MUR_TOPO_MAP_H

#include "object/comm.h"

/* The place of this process in a topology of `places` nodes; MPI_UNDEFINED where it has none. The creating functions
 * ask with the program's `reorder`, the mapping ones with true.
 *
 * All processes share one node and run on any of its cores, so no two of them are nearer than others, and the order of
 * ranks is as good as any; that also keeps data where a program has put it before it makes the topology. */
static inline int mur_topo_place(const struct mur_comm *comm, int places, bool may_reorder)
{
    (void)may_reorder;
    return comm->rank < places ? comm->rank : MPI_UNDEFINED;
}

#endif
