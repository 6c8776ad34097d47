/* SPDX-License-Identifier: BSD-3-Clause */
/* What persistent and neighbourhood collectives and MPI_Alltoallw refuse, with which class of error, that an empty
 * block needs no datatype, and buffers that must not be MPI_IN_PLACE, or the same. */
#include "test.h"

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

#define FAILS(call, class) CHECK(class_of(call) == (class))

static MPI_Comm self = MPI_COMM_SELF;
static int in[4], out[4];

/* Freeing fails while a request is active, whether it is still under way (the root starts last) or complete. */
static void requests(void)
{
    int rank, size, number = 3;
    MPI_Request request, other;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast_init(&number, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    if (rank == size - 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Startall(1, &request), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    if (rank < size - 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);

    MPI_Ibarrier(MPI_COMM_WORLD, &other);
    FAILS(MPI_Start(&other), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&other), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&other), MPI_ERR_REQUEST);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    request = MPI_REQUEST_NULL;
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
}

static void alltoallw(void)
{
    int one = 1, none = 0, minus = -1;
    MPI_Datatype type = MPI_INT, null = MPI_DATATYPE_NULL, raw;
    MPI_Request request;

    MPI_Type_contiguous(1, MPI_INT, &raw);
    FAILS(MPI_Alltoallw(out, &one, &none, &raw, in, &one, &none, &type, self), MPI_ERR_TYPE);
    FAILS(MPI_Alltoallw(out, &one, &none, &type, in, &one, &none, &raw, self), MPI_ERR_TYPE);
    FAILS(MPI_Ialltoallw(out, &one, &none, &null, in, &one, &none, &type, self, &request), MPI_ERR_TYPE);
    FAILS(MPI_Alltoallw_init(out, &one, &none, &null, in, &one, &none, &type, self, MPI_INFO_NULL, &request),
          MPI_ERR_TYPE);
    MPI_Type_free(&raw);
    FAILS(MPI_Alltoallw(out, &one, &none, NULL, in, &one, &none, &type, self), MPI_ERR_ARG);
    FAILS(MPI_Alltoallw(out, &one, NULL, &type, in, &one, &none, &type, self), MPI_ERR_ARG);
    FAILS(MPI_Alltoallw(out, NULL, &none, &type, in, &one, &none, &type, self), MPI_ERR_ARG);
    FAILS(MPI_Alltoallw(out, &minus, &none, &type, in, &one, &none, &type, self), MPI_ERR_COUNT);
    FAILS(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, &minus, &none, &type, self), MPI_ERR_COUNT);
    CHECK(MPI_Alltoallw(out, &none, &none, &null, in, &none, &none, &null, self) == MPI_SUCCESS);
    CHECK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, &one, &none, &type, self) == MPI_SUCCESS);
}

static void init(void)
{
    int minus = -1, none = 0;
    MPI_Request request;

    FAILS(MPI_Bcast_init(in, -1, MPI_INT, 0, self, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
    FAILS(MPI_Bcast_init(in, 1, MPI_INT, 1, self, MPI_INFO_NULL, &request), MPI_ERR_ROOT);
    FAILS(MPI_Bcast_init(in, 1, MPI_INT, 0, self, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    FAILS(MPI_Barrier_init(MPI_COMM_NULL, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    FAILS(MPI_Allreduce_init(out, in, 1, MPI_CHAR, MPI_SUM, self, MPI_INFO_NULL, &request), MPI_ERR_OP);
    FAILS(MPI_Reduce_scatter_init(out, in, &minus, MPI_INT, MPI_SUM, self, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
    FAILS(MPI_Gatherv_init(out, 1, MPI_INT, in, NULL, &none, MPI_INT, 0, self, MPI_INFO_NULL, &request), MPI_ERR_ARG);
}

static void neighbor(void)
{
    int ones[] = {1, 1}, none[] = {0, 0}, bad[] = {1, -1}, yes = 1;
    MPI_Aint starts[] = {0, 4};
    MPI_Datatype types[] = {MPI_INT, MPI_INT}, nulls[] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Request request;
    MPI_Comm ring;

    FAILS(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, self), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, self, &request), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallw_init(out, ones, starts, types, in, ones, starts, types, self, MPI_INFO_NULL, &request),
          MPI_ERR_TOPOLOGY);
    MPI_Cart_create(self, 1, &yes, &yes, 0, &ring);
    FAILS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, bad, none, MPI_INT, ring), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, ones, NULL, MPI_INT, ring), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoall(out, -1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_alltoallv(out, bad, none, MPI_INT, in, ones, none, MPI_INT, ring), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_alltoallv(out, ones, none, MPI_INT, in, NULL, none, MPI_INT, ring), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoallv(out, ones, none, MPI_DATATYPE_NULL, in, ones, none, MPI_INT, ring), MPI_ERR_TYPE);
    FAILS(MPI_Neighbor_alltoallw(out, ones, starts, nulls, in, ones, starts, types, ring), MPI_ERR_TYPE);
    FAILS(MPI_Neighbor_alltoallw(out, ones, starts, types, in, ones, starts, NULL, ring), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoallw(out, ones, NULL, types, in, ones, starts, types, ring), MPI_ERR_ARG);
    MPI_Comm_free(&ring);
}

/* Without neighbours nothing is read or written. */
static void alone(void)
{
    MPI_Comm comm;

    MPI_Dist_graph_create_adjacent(self, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    CHECK(MPI_Neighbor_allgather(NULL, 9, MPI_INT, NULL, 9, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, comm) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

/* MPI_IN_PLACE for the buffer that it does not stand for, and one buffer for both. */
static void buffers(void)
{
    MPI_Request request;

    FAILS(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    FAILS(MPI_Iallreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self, &request), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 0, self), MPI_ERR_BUFFER);
    FAILS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    FAILS(MPI_Gather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    FAILS(MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    FAILS(MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, self), MPI_ERR_BUFFER);
    FAILS(MPI_Alltoall(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, self), MPI_ERR_BUFFER);
    FAILS(MPI_Exscan(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_scatter_block(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);

    FAILS(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce(in, in, 1, MPI_INT, MPI_SUM, 0, self), MPI_ERR_BUFFER);
    FAILS(MPI_Scan(in, in, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    FAILS(MPI_Alltoall(in, 1, MPI_INT, in, 1, MPI_INT, self), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(in, in, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK(MPI_Allreduce(in, in, 0, MPI_INT, MPI_SUM, self) == MPI_SUCCESS);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    requests();
    alltoallw();
    init();
    neighbor();
    alone();
    buffers();
    MPI_Finalize();
    return 0;
}
