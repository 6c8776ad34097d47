/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective communication (MPI-5.0 §6), blocking and nonblocking. Each operation builds its schedule once, in
 * build_<operation>; the blocking form runs it, the nonblocking one starts it. */
#include "base/error.h"
#include "coll/coll.h"
#include "mpi/bodies.h"
#include "mpi/check.h"

/* Ends a body: with a request the schedule is started, without one it is run. */
static int launch(struct mur_schedule *s, MPI_Request *request)
{
    return request ? mur_schedule_start(s, request) : mur_schedule_run(s);
}

/* Where MPI_IN_PLACE must not be: between two groups, and where the other end of a rooted operation is meant. */
static int check_in_place(const void *buffer, bool is_allowed, const struct mur_comm *comm)
{
    if (buffer != MPI_IN_PLACE || (is_allowed && !comm->remote))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_BUFFER, comm->remote ? "MPI_IN_PLACE cannot be used with an intercommunicator"
                                                  : "MPI_IN_PLACE can be used at the root only");
}

static int barrier(struct mur_comm *comm, MPI_Request *request)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    if (s)
        mur_coll_barrier(s);
    return launch(s, request);
}

static int bcast(void *buffer, MPI_Count count, struct mur_type *type, int root, struct mur_comm *comm,
                 MPI_Request *request)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    if (s)
        mur_coll_bcast(s, buffer, count, type, root);
    return launch(s, request);
}

static int gather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, struct mur_blocks blocks,
                  int root, struct mur_comm *comm, MPI_Request *request)
{
    int rc = check_in_place(sendbuf, comm->rank == root, comm);
    struct mur_schedule *s;

    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_gather(s, sendbuf, sendcount, sendtype, &blocks, root);
    return launch(s, request);
}

static int scatter(struct mur_blocks blocks, void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype, int root,
                   struct mur_comm *comm, MPI_Request *request)
{
    int rc = check_in_place(recvbuf, comm->rank == root, comm);
    struct mur_schedule *s;

    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_scatter(s, &blocks, recvbuf, recvcount, recvtype, root);
    return launch(s, request);
}

static int allgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, struct mur_blocks blocks,
                     struct mur_comm *comm, MPI_Request *request)
{
    int rc = check_in_place(sendbuf, true, comm);
    struct mur_schedule *s;

    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_allgather(s, sendbuf, sendcount, sendtype, &blocks);
    return launch(s, request);
}

static int alltoall(struct mur_blocks from, struct mur_blocks to, struct mur_comm *comm, MPI_Request *request)
{
    int rc = check_in_place(from.buffer, true, comm);
    struct mur_schedule *s;

    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_alltoall(s, &from, &to);
    return launch(s, request);
}

static int reduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type, struct mur_op *op,
                  int root, struct mur_comm *comm, MPI_Request *request)
{
    int rc = op ? mur_op_check(op, type) : MPI_SUCCESS; /* NULL: not significant */
    struct mur_schedule *s;

    if (rc || (rc = check_in_place(sendbuf, comm->rank == root, comm)))
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_reduce(s, sendbuf, recvbuf, count, type, op, root);
    return launch(s, request);
}

static int allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type, struct mur_op *op,
                     struct mur_comm *comm, MPI_Request *request)
{
    int rc = mur_op_check(op, type);
    struct mur_schedule *s;

    if (rc || (rc = check_in_place(sendbuf, true, comm)))
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_allreduce(s, sendbuf, recvbuf, count, type, op);
    return launch(s, request);
}

static int reduce_scatter(const void *sendbuf, void *recvbuf, struct mur_blocks blocks, struct mur_op *op,
                          struct mur_comm *comm, MPI_Request *request)
{
    int rc = mur_op_check(op, blocks.type);
    struct mur_schedule *s;

    if (rc || (rc = check_in_place(sendbuf, true, comm)))
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_reduce_scatter(s, sendbuf, recvbuf, &blocks, op);
    return launch(s, request);
}

static int scan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type, struct mur_op *op,
                bool is_inclusive, struct mur_comm *comm, MPI_Request *request)
{
    int rc = mur_op_check(op, type);
    struct mur_schedule *s;

    if (rc)
        return rc;
    if (comm->remote)
        return mur_error(MPI_ERR_COMM, "comm is an intercommunicator, for which there is no scan");
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_scan(s, sendbuf, recvbuf, count, type, op, is_inclusive);
    return launch(s, request);
}

int mur_mpi_barrier(struct mur_comm *comm)
{
    return barrier(comm, NULL);
}

int mur_mpi_ibarrier(struct mur_comm *comm, MPI_Request *request)
{
    return barrier(comm, request);
}

int mur_mpi_bcast(void *buffer, MPI_Count count, struct mur_type *datatype, int root, struct mur_comm *comm)
{
    return bcast(buffer, count, datatype, root, comm, NULL);
}

int mur_mpi_ibcast(void *buffer, MPI_Count count, struct mur_type *datatype, int root, struct mur_comm *comm,
                   MPI_Request *request)
{
    return bcast(buffer, count, datatype, root, comm, request);
}

int mur_mpi_gather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                   MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm)
{
    return gather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), root, comm, NULL);
}

int mur_mpi_igather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                    MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm,
                    MPI_Request *request)
{
    return gather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), root, comm, request);
}

int mur_mpi_gatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                    struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype, int root,
                    struct mur_comm *comm)
{
    return gather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), root, comm,
                  NULL);
}

int mur_mpi_igatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                     struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype, int root,
                     struct mur_comm *comm, MPI_Request *request)
{
    return gather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), root, comm,
                  request);
}

int mur_mpi_scatter(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                    MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm)
{
    return scatter(mur_blocks_regular(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root, comm, NULL);
}

int mur_mpi_iscatter(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                     MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm,
                     MPI_Request *request)
{
    return scatter(mur_blocks_regular(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root, comm, request);
}

int mur_mpi_scatterv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts displs,
                     struct mur_type *sendtype, void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype, int root,
                     struct mur_comm *comm)
{
    return scatter(mur_blocks_irregular(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount, recvtype, root,
                   comm, NULL);
}

int mur_mpi_iscatterv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts displs,
                      struct mur_type *sendtype, void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype,
                      int root, struct mur_comm *comm, MPI_Request *request)
{
    return scatter(mur_blocks_irregular(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount, recvtype, root,
                   comm, request);
}

int mur_mpi_allgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                      MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), comm, NULL);
}

int mur_mpi_iallgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                       MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm, MPI_Request *request)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), comm, request);
}

int mur_mpi_allgatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                       struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                       struct mur_comm *comm)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), comm,
                     NULL);
}

int mur_mpi_iallgatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                        struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                        struct mur_comm *comm, MPI_Request *request)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), comm,
                     request);
}

int mur_mpi_alltoall(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                     MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm)
{
    return alltoall(mur_blocks_regular(sendbuf, sendcount, sendtype), mur_blocks_regular(recvbuf, recvcount, recvtype),
                    comm, NULL);
}

int mur_mpi_ialltoall(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                      MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm, MPI_Request *request)
{
    return alltoall(mur_blocks_regular(sendbuf, sendcount, sendtype), mur_blocks_regular(recvbuf, recvcount, recvtype),
                    comm, request);
}

int mur_mpi_alltoallv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                      struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts, struct mur_counts rdispls,
                      struct mur_type *recvtype, struct mur_comm *comm)
{
    return alltoall(mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                    mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype), comm, NULL);
}

int mur_mpi_ialltoallv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                       struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts,
                       struct mur_counts rdispls, struct mur_type *recvtype, struct mur_comm *comm,
                       MPI_Request *request)
{
    return alltoall(mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                    mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype), comm, request);
}

static int alltoallw(struct mur_blocks from, struct mur_blocks to, struct mur_comm *comm, MPI_Request *request)
{
    int rc = mur_check_types("recvtypes", to.types, to.counts, comm->size);

    if (!rc && from.buffer != MPI_IN_PLACE)
        rc = mur_check_types("sendtypes", from.types, from.counts, comm->size);
    return rc ? rc : alltoall(from, to, comm, request);
}

int mur_mpi_alltoallw(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                      const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                      struct mur_counts rdispls, const MPI_Datatype recvtypes[], struct mur_comm *comm)
{
    return alltoallw(mur_blocks_typed(sendbuf, sendcounts, sdispls, sendtypes),
                     mur_blocks_typed(recvbuf, recvcounts, rdispls, recvtypes), comm, NULL);
}

int mur_mpi_ialltoallw(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                       const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                       struct mur_counts rdispls, const MPI_Datatype recvtypes[], struct mur_comm *comm,
                       MPI_Request *request)
{
    return alltoallw(mur_blocks_typed(sendbuf, sendcounts, sdispls, sendtypes),
                     mur_blocks_typed(recvbuf, recvcounts, rdispls, recvtypes), comm, request);
}

int mur_mpi_reduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                   int root, struct mur_comm *comm)
{
    return reduce(sendbuf, recvbuf, count, datatype, op, root, comm, NULL);
}

int mur_mpi_ireduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                    int root, struct mur_comm *comm, MPI_Request *request)
{
    return reduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}

int mur_mpi_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                      struct mur_comm *comm)
{
    return allreduce(sendbuf, recvbuf, count, datatype, op, comm, NULL);
}

int mur_mpi_iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                       struct mur_op *op, struct mur_comm *comm, MPI_Request *request)
{
    return allreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int mur_mpi_reduce_scatter(const void *sendbuf, void *recvbuf, struct mur_counts recvcounts, struct mur_type *datatype,
                           struct mur_op *op, struct mur_comm *comm)
{
    return reduce_scatter(sendbuf, recvbuf, mur_blocks_irregular(recvbuf, recvcounts, recvcounts, datatype), op, comm,
                          NULL);
}

int mur_mpi_ireduce_scatter(const void *sendbuf, void *recvbuf, struct mur_counts recvcounts, struct mur_type *datatype,
                            struct mur_op *op, struct mur_comm *comm, MPI_Request *request)
{
    return reduce_scatter(sendbuf, recvbuf, mur_blocks_irregular(recvbuf, recvcounts, recvcounts, datatype), op, comm,
                          request);
}

int mur_mpi_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, struct mur_type *datatype,
                                 struct mur_op *op, struct mur_comm *comm)
{
    return reduce_scatter(sendbuf, recvbuf, mur_blocks_regular(recvbuf, recvcount, datatype), op, comm, NULL);
}

int mur_mpi_ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, struct mur_type *datatype,
                                  struct mur_op *op, struct mur_comm *comm, MPI_Request *request)
{
    return reduce_scatter(sendbuf, recvbuf, mur_blocks_regular(recvbuf, recvcount, datatype), op, comm, request);
}

int mur_mpi_scan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                 struct mur_comm *comm)
{
    return scan(sendbuf, recvbuf, count, datatype, op, true, comm, NULL);
}

int mur_mpi_iscan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                  struct mur_comm *comm, MPI_Request *request)
{
    return scan(sendbuf, recvbuf, count, datatype, op, true, comm, request);
}

int mur_mpi_exscan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                   struct mur_comm *comm)
{
    return scan(sendbuf, recvbuf, count, datatype, op, false, comm, NULL);
}

int mur_mpi_iexscan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                    struct mur_comm *comm, MPI_Request *request)
{
    return scan(sendbuf, recvbuf, count, datatype, op, false, comm, request);
}
