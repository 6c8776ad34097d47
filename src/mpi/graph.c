/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph and distributed graph topologies (MPI-5.0 §8.5.3 to §8.5.5). */
#include "topo/graph.h"

#include <string.h>

#include "base/error.h"
#include "coll/schedule/schedule.h"
#include "comm/create.h"
#include "mpi/bodies.h"
#include "mpi/check.h"
#include "object/comm.h"
#include "topo/map.h"

static void fill(int *to, const int *from, int count)
{
    if (count)
        memcpy(to, from, (size_t)count * sizeof *to);
}

static int find_graph(const struct mur_comm *comm, const struct mur_graph **graph_p)
{
    if (!comm->topology || comm->topology->kind != MPI_GRAPH)
        return mur_error(MPI_ERR_TOPOLOGY, "the communicator has no graph topology");
    *graph_p = &comm->topology->graph;
    return MPI_SUCCESS;
}

static int find_adjacency(const struct mur_comm *comm, const struct mur_adjacency **adjacency_p)
{
    if (!comm->topology || comm->topology->kind != MPI_DIST_GRAPH)
        return mur_error(MPI_ERR_TOPOLOGY, "the communicator has no distributed graph topology");
    *adjacency_p = &comm->topology->adjacency;
    return MPI_SUCCESS;
}

/* Where there is no memory for what is to be made, the others wait. */
static int no_memory(const struct mur_comm *comm)
{
    return mur_collective_result(mur_error(MPI_ERR_NO_MEM, "no memory for a topology"), comm->size);
}

int mur_mpi_graph_create(int refused, struct mur_comm *comm_old, int nnodes, const int indx[], const int edges[],
                         int reorder, MPI_Comm *comm_graph)
{
    int place, failed = refused, rc;
    struct mur_topology *topology;
    struct mur_comm *made = NULL;

    if (!failed)
        failed = mur_graph_check(nnodes, indx, edges, comm_old->size);
    if (failed) {
        mur_comm_split(comm_old, MPI_UNDEFINED, 0, true, &made);
        return failed;
    }
    topology = mur_graph_new(nnodes, indx, edges);
    if (!topology)
        return no_memory(comm_old);
    place = mur_topo_place(comm_old, nnodes, reorder != 0);
    rc = mur_comm_split(comm_old, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0, place, false, &made);
    if (made)
        made->topology = topology;
    else
        mur_topology_free(topology);
    *comm_graph = made ? mur_object_handle(made) : MPI_COMM_NULL;
    return mur_collective_result(rc, comm_old->size);
}

int mur_mpi_graph_map(struct mur_comm *comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    int rc = mur_graph_check(nnodes, indx, edges, comm->size);

    if (!rc)
        *newrank = mur_topo_place(comm, nnodes, true);
    return rc;
}

int mur_mpi_graphdims_get(struct mur_comm *comm, int *nnodes, int *nedges)
{
    const struct mur_graph *graph = NULL;
    int rc = find_graph(comm, &graph);

    if (rc)
        return rc;
    *nnodes = graph->nnodes;
    *nedges = graph->nedges;
    return MPI_SUCCESS;
}

int mur_mpi_graph_get(struct mur_comm *comm, int maxindex, int maxedges, int indx[], int edges[])
{
    const struct mur_graph *graph = NULL;
    int rc = find_graph(comm, &graph);

    if (rc)
        return rc;
    if (maxindex < graph->nnodes)
        return mur_error(MPI_ERR_ARG, "maxindex is %d, but the graph has %d nodes", maxindex, graph->nnodes);
    if (maxedges < graph->nedges)
        return mur_error(MPI_ERR_ARG, "maxedges is %d, but the graph has %d edges", maxedges, graph->nedges);
    fill(indx, graph->ends, graph->nnodes);
    fill(edges, graph->edges, graph->nedges);
    return MPI_SUCCESS;
}

static int check_rank(const struct mur_comm *comm, int rank)
{
    if (rank >= 0 && rank < comm->size)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_RANK, "rank is %d, but must be from 0 to %d", rank, comm->size - 1);
}

int mur_mpi_graph_neighbors_count(struct mur_comm *comm, int rank, int *nneighbors)
{
    const struct mur_graph *graph = NULL;
    const int *neighbours;
    int rc = find_graph(comm, &graph);

    if (!rc)
        rc = check_rank(comm, rank);
    if (!rc)
        *nneighbors = mur_topology_graph_neighbours(graph, rank, &neighbours);
    return rc;
}

int mur_mpi_graph_neighbors(struct mur_comm *comm, int rank, int maxneighbors, int neighbors[])
{
    const struct mur_graph *graph = NULL;
    const int *neighbours;
    int count, rc = find_graph(comm, &graph);

    if (!rc)
        rc = check_rank(comm, rank);
    if (rc)
        return rc;
    count = mur_topology_graph_neighbours(graph, rank, &neighbours);
    if (maxneighbors < count)
        return mur_error(MPI_ERR_ARG, "maxneighbors is %d, but rank %d has %d neighbors", maxneighbors, rank, count);
    fill(neighbors, neighbours, count);
    return MPI_SUCCESS;
}

static int check_ranks(const struct mur_comm *comm, const char *name, const int *ranks, MPI_Count count)
{
    if (count > 0 && !mur_is_memory(ranks))
        return mur_fault_address(name, ranks);
    for (MPI_Count i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= comm->size)
            return mur_error(MPI_ERR_RANK, "%s[%lld] is %d, but must be from 0 to %d", name, (long long)i, ranks[i],
                             comm->size - 1);
    return MPI_SUCCESS;
}

/* Where there are no edges, any of the weights' addresses will do. */
static int check_weights(const char *name, const int *weights, MPI_Count count)
{
    if (!count || weights == MPI_UNWEIGHTED)
        return MPI_SUCCESS;
    if (weights == MPI_WEIGHTS_EMPTY)
        return mur_error(MPI_ERR_ARG, "%s is MPI_WEIGHTS_EMPTY, but there are %lld edges", name, (long long)count);
    if (!mur_is_memory(weights))
        return mur_fault_address(name, weights);
    for (MPI_Count i = 0; i < count; i++)
        if (weights[i] < 0)
            return mur_error(MPI_ERR_ARG, "%s[%lld] is %d, but must be 0 or more", name, (long long)i, weights[i]);
    return MPI_SUCCESS;
}

/* A communicator of the same processes with this topology, which it then owns. */
static int create_with(struct mur_comm *comm, struct mur_topology *topology, MPI_Comm *handle)
{
    struct mur_comm *made = NULL;
    int rc = mur_comm_create_from(comm, comm->group, false, &made);

    if (rc) {
        mur_topology_free(topology);
        return mur_collective_result(rc, comm->size);
    }
    made->topology = topology;
    *handle = mur_object_handle(made);
    return MPI_SUCCESS;
}

static int check_degree(const char *name, int degree)
{
    return degree >= 0 ? MPI_SUCCESS : mur_error(MPI_ERR_ARG, "%s is %d, but must be 0 or more", name, degree);
}

static int check_adjacent(const struct mur_comm *comm, int indegree, const int *sources, const int *source_weights,
                          int outdegree, const int *destinations, const int *destination_weights)
{
    int rc = check_degree("indegree", indegree);

    if (!rc)
        rc = check_degree("outdegree", outdegree);
    if (!rc)
        rc = check_ranks(comm, "sources", sources, indegree);
    if (!rc)
        rc = check_ranks(comm, "destinations", destinations, outdegree);
    if (!rc)
        rc = check_weights("sourceweights", source_weights, indegree);
    if (!rc)
        rc = check_weights("destweights", destination_weights, outdegree);
    if (!rc && indegree && outdegree && (source_weights == MPI_UNWEIGHTED) != (destination_weights == MPI_UNWEIGHTED))
        rc = mur_error(MPI_ERR_ARG, "one of sourceweights and destweights is MPI_UNWEIGHTED, but both or none must be");
    return rc;
}

int mur_mpi_dist_graph_create_adjacent(int refused, struct mur_comm *comm_old, int indegree, const int sources[],
                                       const int *sourceweights, int outdegree, const int destinations[],
                                       const int *destweights, struct mur_info *info, int reorder,
                                       MPI_Comm *comm_dist_graph)
{
    int failed = refused;
    struct mur_topology *topology;
    struct mur_comm *none;
    bool is_weighted;

    (void)info; /* knows no keys here */
    (void)reorder;
    if (!failed)
        failed = check_adjacent(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights);
    if (failed) {
        mur_comm_create_from(comm_old, comm_old->group, true, &none);
        return failed;
    }
    is_weighted = (indegree ? sourceweights : destweights) != MPI_UNWEIGHTED;
    topology = mur_topology_create_adjacency(indegree, outdegree, is_weighted);
    if (!topology)
        return no_memory(comm_old);
    fill(topology->adjacency.sources, sources, indegree);
    fill(topology->adjacency.destinations, destinations, outdegree);
    if (is_weighted) {
        fill(topology->adjacency.source_weights, sourceweights, indegree);
        fill(topology->adjacency.destination_weights, destweights, outdegree);
    }
    return create_with(comm_old, topology, comm_dist_graph);
}

int mur_mpi_dist_graph_create(int refused, struct mur_comm *comm_old, int n, const int sources[], const int degrees[],
                              const int destinations[], const int *weights, struct mur_info *info, int reorder,
                              MPI_Comm *comm_dist_graph)
{
    struct mur_edges edges = {.count = n, .sources = sources, .degrees = degrees, .destinations = destinations};
    struct mur_topology *topology;
    MPI_Count total = 0;
    int failed = refused, rc;

    (void)info; /* knows no keys here */
    (void)reorder;
    if (!failed)
        failed = check_ranks(comm_old, "sources", sources, n);
    for (int i = 0; i < n && !failed; i++) {
        if (degrees[i] < 0)
            failed = mur_error(MPI_ERR_ARG, "degrees[%d] is %d, but must be 0 or more", i, degrees[i]);
        total += degrees[i];
    }
    if (!failed)
        failed = check_ranks(comm_old, "destinations", destinations, total);
    if (!failed)
        failed = check_weights("weights", weights, total);
    if (failed)
        edges = (struct mur_edges){.has_failed = true};
    edges.is_weighted = weights != MPI_UNWEIGHTED;
    edges.weights = edges.is_weighted && total ? weights : NULL;
    rc = mur_graph_adjacency_gather(comm_old, &edges, &topology);
    if (failed)
        return failed;
    return rc ? mur_collective_result(rc, comm_old->size) : create_with(comm_old, topology, comm_dist_graph);
}

int mur_mpi_dist_graph_neighbors_count(struct mur_comm *comm, int *indegree, int *outdegree, int *weighted)
{
    const struct mur_adjacency *adjacency = NULL;
    int rc = find_adjacency(comm, &adjacency);

    if (rc)
        return rc;
    *indegree = adjacency->indegree;
    *outdegree = adjacency->outdegree;
    *weighted = adjacency->is_weighted;
    return MPI_SUCCESS;
}

/* Weights are written where there are some and the program has room for them. */
static int give_weights(const char *name, int *to, const int *from, int count)
{
    if (!from || !count || to == MPI_UNWEIGHTED || to == MPI_WEIGHTS_EMPTY)
        return MPI_SUCCESS;
    if (!mur_is_memory(to))
        return mur_fault_address(name, to);
    memcpy(to, from, (size_t)count * sizeof *to);
    return MPI_SUCCESS;
}

int mur_mpi_dist_graph_neighbors(struct mur_comm *comm, int maxindegree, int sources[], int *sourceweights,
                                 int maxoutdegree, int destinations[], int *destweights)
{
    const struct mur_adjacency *adjacency = NULL;
    int rc = find_adjacency(comm, &adjacency);
    int in, out;

    if (rc)
        return rc;
    in = maxindegree < adjacency->indegree ? maxindegree : adjacency->indegree;
    out = maxoutdegree < adjacency->outdegree ? maxoutdegree : adjacency->outdegree;
    fill(sources, adjacency->sources, in);
    fill(destinations, adjacency->destinations, out);
    rc = give_weights("sourceweights", sourceweights, adjacency->source_weights, in);
    return rc ? rc : give_weights("destweights", destweights, adjacency->destination_weights, out);
}
