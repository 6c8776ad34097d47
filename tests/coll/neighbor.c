/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives in all forms, on random grids (with periodic dimensions of size one and two), graphs and
 * distributed graphs with loops and parallel edges; and, on the graph where each rank is everyone's neighbour, the
 * ordinary collectives that must then do the same. */
#include "exchange.h"
#include "../topo/edges.h"

enum { ROUNDS = 40 };
enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, OPERATIONS };

static int rank, size;

/* Tells all ranks of `comm` all lists. */
static void collect(struct neighbours *all, MPI_Comm comm, int is_grid, int in, const int *sources, int out,
                    const int *destinations)
{
    int mine[DEGREE_MOST], me;

    memset(all, 0, sizeof *all);
    MPI_Comm_rank(comm, &me);
    all->is_grid = is_grid;
    MPI_Allgather(&in, 1, MPI_INT, all->indegree, 1, MPI_INT, comm);
    MPI_Allgather(&out, 1, MPI_INT, all->outdegree, 1, MPI_INT, comm);
    memset(mine, 0, sizeof mine);
    memcpy(mine, sources, (size_t)in * sizeof *mine);
    MPI_Allgather(mine, DEGREE_MOST, MPI_INT, all->sources, DEGREE_MOST, MPI_INT, comm);
    memset(mine, 0, sizeof mine);
    memcpy(mine, destinations, (size_t)out * sizeof *mine);
    MPI_Allgather(mine, DEGREE_MOST, MPI_INT, all->destinations, DEGREE_MOST, MPI_INT, comm);
}

static void run_neighbor(struct exchange *x, MPI_Comm comm, int me, int operation, int form)
{
    if (operation == ALLGATHER)
        EXCHANGE_RUN(Neighbor_allgather, Ineighbor_allgather, EXCHANGE_ALLGATHER);
    else if (operation == ALLGATHERV)
        EXCHANGE_RUN(Neighbor_allgatherv, Ineighbor_allgatherv, EXCHANGE_ALLGATHERV);
    else if (operation == ALLTOALL)
        EXCHANGE_RUN(Neighbor_alltoall, Ineighbor_alltoall, EXCHANGE_ALLTOALL);
    else if (operation == ALLTOALLV)
        EXCHANGE_RUN(Neighbor_alltoallv, Ineighbor_alltoallv, EXCHANGE_ALLTOALLV);
    else
        EXCHANGE_RUN(Neighbor_alltoallw, Ineighbor_alltoallw, EXCHANGE_NEIGHBOR_ALLTOALLW);
}

static void run_plain(struct exchange *x, MPI_Comm comm, int me, int operation, int form)
{
    if (operation == ALLGATHER)
        EXCHANGE_RUN(Allgather, Iallgather, EXCHANGE_ALLGATHER);
    else if (operation == ALLGATHERV)
        EXCHANGE_RUN(Allgatherv, Iallgatherv, EXCHANGE_ALLGATHERV);
    else if (operation == ALLTOALL)
        EXCHANGE_RUN(Alltoall, Ialltoall, EXCHANGE_ALLTOALL);
    else if (operation == ALLTOALLV)
        EXCHANGE_RUN(Alltoallv, Ialltoallv, EXCHANGE_ALLTOALLV);
    else
        EXCHANGE_RUN(Alltoallw, Ialltoallw, EXCHANGE_ALLTOALLW);
}

static void check_all(const struct neighbours *all, MPI_Comm comm, int is_plain)
{
    int me;

    MPI_Comm_rank(comm, &me);
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int form = 0; form < EXCHANGE_FORMS; form++) {
            int is_regular = operation == ALLGATHER || operation == ALLTOALL;
            struct exchange x;

            exchange_create(&x, all, me, operation <= ALLGATHERV, is_regular, operation == ALLTOALLW);
            exchange_fill(&x, me, 7);
            (is_plain ? run_plain : run_neighbor)(&x, comm, me, operation, form);
            exchange_check(&x);
            free(x.out);
        }
}

static void check_grid(void)
{
    int dims[3] = {0}, periods[3] = {0}, list[6], ndims = random_below(4), cells = ndims ? 1 + random_below(size) : 1;
    struct neighbours all;
    MPI_Comm comm;

    if (ndims)
        MPI_Dims_create(cells, ndims, dims);
    for (int i = 0; i < ndims; i++)
        periods[i] = random_below(3) > 0;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    for (int i = 0; i < ndims; i++)
        MPI_Cart_shift(comm, i, 1, &list[2 * i], &list[2 * i + 1]);
    collect(&all, comm, 1, 2 * ndims, list, 2 * ndims, list);
    check_all(&all, comm, 0);
    MPI_Comm_free(&comm);
}

/* Every edge has its opposite, as these collectives need it. */
static void check_graph(void)
{
    int nodes = 1 + random_below(size), ends[RANKS_MOST], list[2 * EDGES_MOST], weights[EDGES_MOST], count = 0;
    int mine[EDGES_MOST], degree = 0;
    struct neighbours all;
    struct edges edges;
    MPI_Comm comm;

    edges_draw(&edges, nodes);
    edges.count /= 4;
    for (int i = edges.count; i < 2 * edges.count; i++) {
        edges.from[i] = edges.to[i - edges.count];
        edges.to[i] = edges.from[i - edges.count];
    }
    edges.count *= 2;
    for (int node = 0; node < nodes; node++) {
        count += edges_leaving(&edges, node, list + count, weights);
        ends[node] = count;
    }
    MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, list, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Graph_neighbors_count(comm, rank, &degree);
    MPI_Graph_neighbors(comm, rank, EDGES_MOST, mine);
    collect(&all, comm, 0, degree, mine, degree, mine);
    check_all(&all, comm, 0);
    MPI_Comm_free(&comm);
}

static void check_dist_graph(void)
{
    int in[EDGES_MOST], out[EDGES_MOST], indegree, outdegree, is_weighted;
    struct neighbours all;
    struct edges edges;
    MPI_Comm comm;

    edges_draw(&edges, size);
    comm =
        random_below(2) ? edges_comm_adjacent(&edges, MPI_COMM_WORLD, 0) : edges_comm_named(&edges, MPI_COMM_WORLD, 1);
    MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &is_weighted);
    MPI_Dist_graph_neighbors(comm, EDGES_MOST, in, MPI_UNWEIGHTED, EDGES_MOST, out, MPI_UNWEIGHTED);
    collect(&all, comm, 0, indegree, in, outdegree, out);
    check_all(&all, comm, 0);
    MPI_Comm_free(&comm);
}

static void check_complete(void)
{
    int list[RANKS_MOST];
    struct neighbours all;

    for (int i = 0; i < size; i++)
        list[i] = i;
    collect(&all, MPI_COMM_WORLD, 0, size, list, size, list);
    check_all(&all, MPI_COMM_WORLD, 1);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS_MOST);
    random_start();
    exchange_setup();
    for (int i = 0; i < ROUNDS; i++) {
        static void (*const checks[])(void) = {check_grid, check_graph, check_dist_graph, check_complete};
        unsigned before = random_state;

        checks[i % 4]();
        random_state = before + (unsigned)i + 1; /* ranks outside of a topology have drawn less */
    }
    MPI_Type_free(&exchange_types[1]);
    MPI_Finalize();
    return 0;
}
