/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual topology: who neighbours whom in a communicator (MPI-5.0 §8). */
#ifndef MUR_OBJECT_TOPOLOGY_H
#define MUR_OBJECT_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi.h"

/* A Cartesian grid: ranks are row-major, the last dimension varies fastest. */
struct mur_cart {
    int ndims;
    int *dims;       /* [ndims], 1 or more each */
    int *periods;    /* [ndims], 0 or 1 */
    int *coords;     /* [ndims], of this process */
    int *neighbours; /* [2 * ndims], of this process: along each dimension the lower one, then the upper one */
};

/* A graph that every process knows all of. */
struct mur_graph {
    int nnodes, nedges;
    int *ends;  /* [nnodes] the edges of node i end before edges[ends[i]] */
    int *edges; /* [nedges] */
};

/* The edges of a distributed graph that come to this process and leave it. */
struct mur_adjacency {
    int indegree, outdegree;
    bool is_weighted;
    int *sources, *source_weights;           /* [indegree]; the weights only where it is weighted */
    int *destinations, *destination_weights; /* [outdegree] */
};

struct mur_topology {
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    union {
        struct mur_cart cart;
        struct mur_graph graph;
        struct mur_adjacency adjacency;
    };
    size_t length; /* of `data`, in which all the arrays lie */
    int data[];
};

/* A topology whose arrays are not filled in yet; NULL when memory is exhausted. */
struct mur_topology *mur_topology_create_cart(int ndims);
struct mur_topology *mur_topology_create_graph(int nnodes, int nedges);
struct mur_topology *mur_topology_create_adjacency(int indegree, int outdegree, bool is_weighted);

/* A copy, or NULL when memory is exhausted. */
struct mur_topology *mur_topology_dup(const struct mur_topology *topology);

/* NULL is no topology. */
void mur_topology_free(struct mur_topology *topology);

/* The neighbours of a process, in the order of the blocks of neighbourhood collectives. */
struct mur_neighbours {
    int indegree, outdegree;
    const int *sources, *destinations; /* MPI_PROC_NULL where a grid ends */
    /* Of a grid: what leaves as block i, towards one side, arrives as block i ^ 1, from the other side. Else the k-th
     * of several edges between two processes is the k-th at both of them. */
    bool is_paired;
};

/* Those of `rank`, which is this process; the arrays are the topology's. */
struct mur_neighbours mur_topology_neighbours(const struct mur_topology *topology, int rank);

/* The edges of a node of a graph. */
int mur_topology_graph_neighbours(const struct mur_graph *graph, int node, const int **neighbours_p);

#endif
