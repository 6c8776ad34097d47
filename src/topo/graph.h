/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph topologies: making them from what the program says (MPI-5.0 §8.5.3 and §8.5.4). */
#ifndef MUR_TOPO_GRAPH_H
#define MUR_TOPO_GRAPH_H

#include "object/comm.h"
#include "object/topology.h"

/* Whether the arguments describe a graph that fits into `size` processes; an error says why not. */
int mur_graph_check(int nnodes, const int *ends, const int *edges, int size);

/* A graph of arguments that have been checked; NULL when memory is exhausted. */
struct mur_topology *mur_graph_new(int nnodes, const int *ends, const int *edges);

/* Edges as a process names them: from sources[i] lead degrees[i] edges, whose ends lie in `destinations` one source
 * after the other. `weights` runs along with them; NULL for none. */
struct mur_edges {
    int count; /* of sources */
    const int *sources, *degrees, *destinations, *weights;
    bool is_weighted;
    bool has_failed; /* there are none, since the call has failed here: it is to fail everywhere */
};

/* Collective: each process names some edges of the graph, its own or others'; each gets those that touch it, ordered
 * by the rank that named them, then as that rank named them. */
int mur_graph_adjacency_gather(struct mur_comm *comm, const struct mur_edges *edges, struct mur_topology **topology_p);

#endif
