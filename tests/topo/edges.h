/* SPDX-License-Identifier: BSD-3-Clause */
/* A random graph with loops and parallel edges that all ranks draw alike, as a plain list of edges. */
#ifndef MUR_TEST_EDGES_H
#define MUR_TEST_EDGES_H

#include "random.h"

enum { EDGES_MOST = 64 };

struct edges {
    int count;
    int from[EDGES_MOST], to[EDGES_MOST], weight[EDGES_MOST];
    int namer[EDGES_MOST]; /* the rank that names the edge; they do not decrease */
};

static inline void edges_draw(struct edges *edges, int size)
{
    edges->count = random_below(4) ? random_below(EDGES_MOST) : random_below(4);
    for (int i = 0; i < edges->count; i++) {
        edges->from[i] = random_below(size);
        edges->to[i] = random_below(size);
        edges->weight[i] = random_below(100);
        edges->namer[i] = i * size / edges->count;
    }
}

/* The ends of the edges that leave `rank` (or come to it), in the order of the list; returns how many. */
static inline int edges_leaving(const struct edges *edges, int rank, int *ends, int *weights)
{
    int count = 0;

    for (int i = 0; i < edges->count; i++)
        if (edges->from[i] == rank) {
            weights[count] = edges->weight[i];
            ends[count++] = edges->to[i];
        }
    return count;
}

static inline int edges_coming(const struct edges *edges, int rank, int *ends, int *weights)
{
    int count = 0;

    for (int i = 0; i < edges->count; i++)
        if (edges->to[i] == rank) {
            weights[count] = edges->weight[i];
            ends[count++] = edges->from[i];
        }
    return count;
}

/* A communicator with the edges; each rank passes those that touch it. */
static inline MPI_Comm edges_comm_adjacent(const struct edges *edges, MPI_Comm comm, int is_weighted)
{
    int sources[EDGES_MOST], destinations[EDGES_MOST], in_weights[EDGES_MOST], out_weights[EDGES_MOST], rank, in, out;
    MPI_Comm made;

    MPI_Comm_rank(comm, &rank);
    in = edges_coming(edges, rank, sources, in_weights);
    out = edges_leaving(edges, rank, destinations, out_weights);
    MPI_Dist_graph_create_adjacent(comm, in, sources, is_weighted ? in_weights : MPI_UNWEIGHTED, out, destinations,
                                   is_weighted ? out_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    return made;
}

/* The same; each rank passes the edges that it names. */
static inline MPI_Comm edges_comm_named(const struct edges *edges, MPI_Comm comm, int is_weighted)
{
    int sources[EDGES_MOST], degrees[EDGES_MOST], destinations[EDGES_MOST], weights[EDGES_MOST], rank, n = 0, count = 0;
    MPI_Comm made;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < edges->count; i++) {
        if (edges->namer[i] != rank)
            continue;
        if (n == 0 || sources[n - 1] != edges->from[i] || random_state % 3 == 0) {
            sources[n] = edges->from[i];
            degrees[n++] = 0;
        }
        degrees[n - 1]++;
        weights[count] = edges->weight[i];
        destinations[count++] = edges->to[i];
    }
    MPI_Dist_graph_create(comm, n, sources, degrees, destinations,
                          !is_weighted ? MPI_UNWEIGHTED
                          : count      ? weights
                                       : MPI_WEIGHTS_EMPTY,
                          MPI_INFO_NULL, 0, &made);
    return made;
}

#endif
