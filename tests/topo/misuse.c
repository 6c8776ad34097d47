/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls of topologies refuse, and with which class of error; nothing of it crashes. */
#include "test.h"

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

#define FAILS(call, class) CHECK(class_of(call) == (class))

static int size;
static MPI_Comm world = MPI_COMM_WORLD, made;

static void cart(void)
{
    int dims[] = {1, 1}, periods[] = {0, 1}, coords[2], rank, zero = 0;
    int large[] = {size, 2};
    MPI_Comm grid, plain;

    FAILS(MPI_Cart_create(world, -1, dims, periods, 0, &made), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(world, 2, large, periods, 0, &made), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(world, 1, &zero, periods, 0, &made), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(world, 1, NULL, periods, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(world, 1, dims, periods, 0, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(MPI_COMM_NULL, 1, dims, periods, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Cart_map(world, -1, dims, periods, &rank), MPI_ERR_DIMS);
    FAILS(MPI_Cart_map(world, 2, large, periods, &rank), MPI_ERR_DIMS);

    MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &grid);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    FAILS(MPI_Cart_rank(grid, (int[]){1, 0}, &rank), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(grid, NULL, &rank), MPI_ERR_ARG);
    FAILS(MPI_Cart_coords(grid, 1, 2, coords), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(grid, -1, 2, coords), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(grid, 0, 1, coords), MPI_ERR_ARG);
    FAILS(MPI_Cart_shift(grid, 2, 1, &rank, &rank), MPI_ERR_ARG);
    FAILS(MPI_Cart_shift(grid, -1, 1, &rank, &rank), MPI_ERR_ARG);
    FAILS(MPI_Cart_sub(grid, NULL, &plain), MPI_ERR_ARG);
    FAILS(MPI_Graphdims_get(grid, &rank, &rank), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Dist_graph_neighbors_count(grid, &rank, &rank, &rank), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&grid);
    FAILS(MPI_Cartdim_get(world, &rank), MPI_ERR_TOPOLOGY);
}

static void graph(void)
{
    int ends[] = {1, 2}, edges[] = {0, 0}, a, b;
    MPI_Comm comm;

    FAILS(MPI_Graph_create(world, -1, ends, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, size + 1, ends, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, 1, NULL, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, 1, ends, NULL, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, 1, (int[]){-1}, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, 1, ends, (int[]){1}, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, 1, ends, (int[]){-1}, 0, &made), MPI_ERR_ARG);
    if (size > 1)
        FAILS(MPI_Graph_create(world, 2, (int[]){2, 1}, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_map(world, size + 1, ends, edges, &a), MPI_ERR_ARG);

    MPI_Graph_create(MPI_COMM_SELF, 1, (int[]){2}, edges, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    FAILS(MPI_Graph_get(comm, 0, 2, ends, edges), MPI_ERR_ARG);
    FAILS(MPI_Graph_get(comm, 1, 1, ends, edges), MPI_ERR_ARG);
    FAILS(MPI_Graph_neighbors_count(comm, 1, &a), MPI_ERR_RANK);
    FAILS(MPI_Graph_neighbors(comm, -1, 2, edges), MPI_ERR_RANK);
    FAILS(MPI_Graph_neighbors(comm, 0, 1, edges), MPI_ERR_ARG);
    FAILS(MPI_Cartdim_get(comm, &a), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&comm);
    FAILS(MPI_Graphdims_get(world, &a, &b), MPI_ERR_TOPOLOGY);
}

static void adjacency(void)
{
    int ranks[] = {0, size}, weights[] = {1, -1}, degrees[] = {2};

    FAILS(MPI_Dist_graph_create_adjacent(world, -1, ranks, weights, 0, ranks, weights, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(world, 0, ranks, weights, -2, ranks, weights, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(world, 2, ranks, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                         &made),
          MPI_ERR_RANK);
    FAILS(MPI_Dist_graph_create_adjacent(world, 1, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                         &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(world, 1, ranks, NULL, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(world, 1, ranks, weights + 1, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                         &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(world, 1, ranks, weights, 1, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(world, -1, ranks, degrees, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(world, 1, ranks, degrees, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          MPI_ERR_RANK);
    FAILS(MPI_Dist_graph_create(world, 1, ranks, (int[]){-1}, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(world, 1, ranks, (int[]){1}, ranks, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(world, 1, ranks, (int[]){1}, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
}

/* Some ranks with weights and some without: all of them are told. */
static void mixed_weights(void)
{
    int rank, one = 1;

    MPI_Comm_rank(world, &rank);
    if (size > 1)
        FAILS(
            MPI_Dist_graph_create(world, 1, &rank, &one, &rank, rank ? &one : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
            MPI_ERR_ARG);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    cart();
    graph();
    adjacency();
    mixed_weights();
    MPI_Finalize();
    return 0;
}
