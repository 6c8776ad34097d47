/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: random ones with loops and parallel edges come back as they were given, at every rank, for every node, and
 * from copies; ranks beyond the last node get no communicator; a graph without nodes is none. */
#include "edges.h"

enum { ROUNDS = 20 };

static int rank, size;

static void check_graph(MPI_Comm comm, int nnodes, const int *ends, const int *edges)
{
    int nedges = ends[nnodes - 1], kind = -1, got_nodes = -1, got_edges = -1;
    int got_ends[EDGES_MOST], got_list[EDGES_MOST];

    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_GRAPH);
    MPI_Graphdims_get(comm, &got_nodes, &got_edges);
    CHECK(got_nodes == nnodes && got_edges == nedges);
    MPI_Graph_get(comm, EDGES_MOST, EDGES_MOST, got_ends, got_list);
    CHECK(memcmp(got_ends, ends, (size_t)nnodes * sizeof *ends) == 0);
    CHECK(memcmp(got_list, edges, (size_t)nedges * sizeof *edges) == 0);
    for (int node = 0; node < nnodes; node++) {
        int first = node ? ends[node - 1] : 0, degree = -1;

        MPI_Graph_neighbors_count(comm, node, &degree);
        CHECK(degree == ends[node] - first);
        MPI_Graph_neighbors(comm, node, degree, got_list);
        CHECK(memcmp(got_list, edges + first, (size_t)degree * sizeof *edges) == 0);
    }
}

static void check_random(int nnodes, int reorder)
{
    int ends[EDGES_MOST], list[EDGES_MOST], weights[EDGES_MOST], count = 0, place = -1;
    struct edges edges;
    MPI_Comm comm, copy;

    edges_draw(&edges, nnodes);
    for (int node = 0; node < nnodes; node++) {
        count += edges_leaving(&edges, node, list + count, weights);
        ends[node] = count;
    }
    MPI_Graph_map(MPI_COMM_WORLD, nnodes, ends, list, &place);
    CHECK(place == MPI_UNDEFINED || (place >= 0 && place < nnodes));
    MPI_Graph_create(MPI_COMM_WORLD, nnodes, ends, list, reorder, &comm);
    if (!reorder)
        CHECK((comm == MPI_COMM_NULL) == (rank >= nnodes));
    if (comm == MPI_COMM_NULL)
        return;
    check_graph(comm, nnodes, ends, list);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    check_graph(copy, nnodes, ends, list);
    MPI_Comm_free(&copy);
}

int main(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int kind = -1;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED);
    for (int i = 0; i < ROUNDS; i++)
        check_random(1 + random_below(size), i % 2);
    MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Finalize();
    return 0;
}
