/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of topologies. Each is one block of memory, the arrays behind the structure. */
#include "object/topology.h"

#include <stdlib.h>
#include <string.h>

static struct mur_topology *create(int kind, size_t length)
{
    struct mur_topology *topology = malloc(sizeof *topology + length * sizeof(int));

    if (!topology)
        return NULL;
    topology->kind = kind;
    topology->length = length;
    return topology;
}

struct mur_topology *mur_topology_create_cart(int ndims)
{
    struct mur_topology *topology = create(MPI_CART, 5 * (size_t)ndims);

    if (!topology)
        return NULL;
    topology->cart.ndims = ndims;
    topology->cart.dims = topology->data;
    topology->cart.periods = topology->cart.dims + ndims;
    topology->cart.coords = topology->cart.periods + ndims;
    topology->cart.neighbours = topology->cart.coords + ndims;
    return topology;
}

struct mur_topology *mur_topology_create_graph(int nnodes, int nedges)
{
    struct mur_topology *topology = create(MPI_GRAPH, (size_t)nnodes + (size_t)nedges);

    if (!topology)
        return NULL;
    topology->graph = (struct mur_graph){
        .nnodes = nnodes, .nedges = nedges, .ends = topology->data, .edges = topology->data + nnodes};
    return topology;
}

struct mur_topology *mur_topology_create_adjacency(int indegree, int outdegree, bool is_weighted)
{
    size_t edges = (size_t)indegree + (size_t)outdegree;
    struct mur_topology *topology = create(MPI_DIST_GRAPH, is_weighted ? 2 * edges : edges);
    int *weights;

    if (!topology)
        return NULL;
    weights = is_weighted ? topology->data + edges : NULL;
    topology->adjacency = (struct mur_adjacency){
        .indegree = indegree,
        .outdegree = outdegree,
        .is_weighted = is_weighted,
        .sources = topology->data,
        .destinations = topology->data + indegree,
        .source_weights = weights,
        .destination_weights = is_weighted ? weights + indegree : NULL,
    };
    return topology;
}

struct mur_topology *mur_topology_dup(const struct mur_topology *topology)
{
    struct mur_topology *copy;

    if (topology->kind == MPI_CART)
        copy = mur_topology_create_cart(topology->cart.ndims);
    else if (topology->kind == MPI_GRAPH)
        copy = mur_topology_create_graph(topology->graph.nnodes, topology->graph.nedges);
    else
        copy = mur_topology_create_adjacency(topology->adjacency.indegree, topology->adjacency.outdegree,
                                             topology->adjacency.is_weighted);
    if (copy)
        memcpy(copy->data, topology->data, topology->length * sizeof(int));
    return copy;
}

void mur_topology_free(struct mur_topology *topology)
{
    free(topology);
}

int mur_topology_graph_neighbours(const struct mur_graph *graph, int node, const int **neighbours_p)
{
    int first = node ? graph->ends[node - 1] : 0;

    *neighbours_p = graph->edges + first;
    return graph->ends[node] - first;
}

struct mur_neighbours mur_topology_neighbours(const struct mur_topology *topology, int rank)
{
    struct mur_neighbours neighbours = {0};

    if (topology->kind == MPI_CART) {
        neighbours.is_paired = true;
        neighbours.indegree = neighbours.outdegree = 2 * topology->cart.ndims;
        neighbours.sources = neighbours.destinations = topology->cart.neighbours;
    } else if (topology->kind == MPI_GRAPH) {
        neighbours.indegree = neighbours.outdegree =
            mur_topology_graph_neighbours(&topology->graph, rank, &neighbours.sources);
        neighbours.destinations = neighbours.sources;
    } else {
        neighbours.indegree = topology->adjacency.indegree;
        neighbours.sources = topology->adjacency.sources;
        neighbours.outdegree = topology->adjacency.outdegree;
        neighbours.destinations = topology->adjacency.destinations;
    }
    return neighbours;
}
