/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed graphs: random ones with loops and parallel edges, made both ways, weighted or not, return their edges
 * in the order they were given, to the extent that there is room; copies have them, too. */
#include "edges.h"

enum { ROUNDS = 20, UNTOUCHED = -5 };

static int rank, size;

static void check_list(const int *list, int room, const int *expected, int count)
{
    for (int i = 0; i < room; i++)
        CHECK(list[i] == (i < count ? expected[i] : UNTOUCHED));
}

static void clear(int *list)
{
    for (int i = 0; i < EDGES_MOST; i++)
        list[i] = UNTOUCHED;
}

static void check_graph(MPI_Comm comm, const struct edges *edges, int is_weighted)
{
    int in[EDGES_MOST], in_weights[EDGES_MOST], out[EDGES_MOST], out_weights[EDGES_MOST];
    int sources[EDGES_MOST], source_weights[EDGES_MOST], destinations[EDGES_MOST], destination_weights[EDGES_MOST];
    int indegree = edges_coming(edges, rank, in, in_weights), outdegree = edges_leaving(edges, rank, out, out_weights);
    int got_in = UNTOUCHED, got_out = UNTOUCHED, got_weighted = UNTOUCHED, kind = UNTOUCHED, compared = UNTOUCHED;

    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_DIST_GRAPH);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &compared);
    CHECK(compared == MPI_CONGRUENT);
    MPI_Dist_graph_neighbors_count(comm, &got_in, &got_out, &got_weighted);
    CHECK(got_in == indegree && got_out == outdegree && !got_weighted == !is_weighted);

    for (int room = EDGES_MOST; room >= 0; room = room ? room / 8 : -1) {
        clear(sources);
        clear(source_weights);
        clear(destinations);
        clear(destination_weights);
        MPI_Dist_graph_neighbors(comm, room, sources, source_weights, room, destinations, destination_weights);
        check_list(sources, EDGES_MOST, in, indegree < room ? indegree : room);
        check_list(destinations, EDGES_MOST, out, outdegree < room ? outdegree : room);
        check_list(source_weights, EDGES_MOST, in_weights, !is_weighted ? 0 : indegree < room ? indegree : room);
        check_list(destination_weights, EDGES_MOST, out_weights,
                   !is_weighted       ? 0
                   : outdegree < room ? outdegree
                                      : room);
    }
    MPI_Dist_graph_neighbors(comm, EDGES_MOST, sources, MPI_UNWEIGHTED, EDGES_MOST, destinations, MPI_UNWEIGHTED);
    check_list(sources, indegree, in, indegree);
}

static void check_both(const struct edges *edges, int is_weighted)
{
    MPI_Comm comms[3];

    comms[0] = edges_comm_adjacent(edges, MPI_COMM_WORLD, is_weighted);
    comms[1] = edges_comm_named(edges, MPI_COMM_WORLD, is_weighted);
    MPI_Comm_dup(comms[1], &comms[2]);
    for (int i = 0; i < 3; i++) {
        check_graph(comms[i], edges, is_weighted);
        MPI_Comm_free(&comms[i]);
    }
}

/* Where a rank has no edges, it says with MPI_WEIGHTS_EMPTY that the others' have weights; a null pointer does, too. */
static void check_empty(void)
{
    int in = -1, out = -1, weighted = -1, none = 0;
    MPI_Comm comm;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 1, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 0 && out == 0 && weighted == 1);
    MPI_Dist_graph_neighbors(comm, 0, NULL, NULL, 0, NULL, NULL);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 0 && out == 0 && weighted == 0);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &none, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 0 && out == 0 && weighted == 1);
    MPI_Comm_free(&comm);
}

/* A rank may have more neighbours than there are ranks. */
static void check_many(void)
{
    enum { MANY = 1000 };
    int ranks[MANY], back[MANY], in, out, weighted;
    MPI_Comm comm;

    for (int i = 0; i < MANY; i++)
        ranks[i] = rank;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, MANY, ranks, MPI_UNWEIGHTED, MANY, ranks, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == MANY && out == MANY && !weighted);
    MPI_Dist_graph_neighbors(comm, MANY, back, NULL, 0, NULL, NULL);
    for (int i = 0; i < MANY; i++)
        CHECK(back[i] == rank);
    MPI_Comm_free(&comm);
}

int main(void)
{
    struct edges edges;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int i = 0; i < ROUNDS; i++) {
        edges_draw(&edges, size);
        check_both(&edges, i % 2);
    }
    check_empty();
    check_many();
    MPI_Finalize();
    return 0;
}
