/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collective operations (MPI-5.0 §6.13): each is the schedule of the operation, kept by its request. All
 * arguments are read here, once; only the buffers' contents matter later. The info argument may say that ranks start
 * operations in one order, which is of no use here. */
#include "coll/coll.h"
#include "mpi/bodies.h"
#include "mpi/check.h"

int mur_mpi_barrier_init(struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_barrier(s);
    return mur_schedule_keep(s, request);
}

int mur_mpi_bcast_init(void *buffer, MPI_Count count, struct mur_type *datatype, int root, struct mur_comm *comm,
                       struct mur_info *info, MPI_Request *request)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_bcast(s, buffer, count, datatype, root);
    return mur_schedule_keep(s, request);
}

int mur_mpi_gather_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                        MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm,
                        struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_regular(recvbuf, recvcount, recvtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_gather(s, sendbuf, sendcount, sendtype, &blocks, root);
    return mur_schedule_keep(s, request);
}

int mur_mpi_gatherv_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                         struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype, int root,
                         struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_gather(s, sendbuf, sendcount, sendtype, &blocks, root);
    return mur_schedule_keep(s, request);
}

int mur_mpi_scatter_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                         MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm,
                         struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_regular(sendbuf, sendcount, sendtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_scatter(s, &blocks, recvbuf, recvcount, recvtype, root);
    return mur_schedule_keep(s, request);
}

int mur_mpi_scatterv_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts displs,
                          struct mur_type *sendtype, void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype,
                          int root, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_irregular(sendbuf, sendcounts, displs, sendtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_scatter(s, &blocks, recvbuf, recvcount, recvtype, root);
    return mur_schedule_keep(s, request);
}

int mur_mpi_allgather_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                           MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm, struct mur_info *info,
                           MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_regular(recvbuf, recvcount, recvtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_allgather(s, sendbuf, sendcount, sendtype, &blocks);
    return mur_schedule_keep(s, request);
}

int mur_mpi_allgatherv_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                            struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                            struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_allgather(s, sendbuf, sendcount, sendtype, &blocks);
    return mur_schedule_keep(s, request);
}

int mur_mpi_alltoall_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                          MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm, struct mur_info *info,
                          MPI_Request *request)
{
    struct mur_blocks from = mur_blocks_regular(sendbuf, sendcount, sendtype);
    struct mur_blocks to = mur_blocks_regular(recvbuf, recvcount, recvtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_alltoall(s, &from, &to);
    return mur_schedule_keep(s, request);
}

int mur_mpi_alltoallv_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                           struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts,
                           struct mur_counts rdispls, struct mur_type *recvtype, struct mur_comm *comm,
                           struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks from = mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype);
    struct mur_blocks to = mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype);
    struct mur_schedule *s = mur_schedule_create(comm);

    (void)info;
    if (s)
        mur_coll_alltoall(s, &from, &to);
    return mur_schedule_keep(s, request);
}

int mur_mpi_alltoallw_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                           const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                           struct mur_counts rdispls, const MPI_Datatype recvtypes[], struct mur_comm *comm,
                           struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks from = mur_blocks_typed(sendbuf, sendcounts, sdispls, sendtypes);
    struct mur_blocks to = mur_blocks_typed(recvbuf, recvcounts, rdispls, recvtypes);
    int rc = mur_check_types("recvtypes", recvtypes, recvcounts, comm->size);
    struct mur_schedule *s;

    (void)info;
    if (!rc && sendbuf != MPI_IN_PLACE)
        rc = mur_check_types("sendtypes", sendtypes, sendcounts, comm->size);
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_alltoall(s, &from, &to);
    return mur_schedule_keep(s, request);
}

int mur_mpi_reduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                        struct mur_op *op, int root, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    int rc = mur_op_check(op, datatype);
    struct mur_schedule *s;

    (void)info;
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_reduce(s, sendbuf, recvbuf, count, datatype, op, root);
    return mur_schedule_keep(s, request);
}

int mur_mpi_allreduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                           struct mur_op *op, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    int rc = mur_op_check(op, datatype);
    struct mur_schedule *s;

    (void)info;
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_allreduce(s, sendbuf, recvbuf, count, datatype, op);
    return mur_schedule_keep(s, request);
}

int mur_mpi_reduce_scatter_init(const void *sendbuf, void *recvbuf, struct mur_counts recvcounts,
                                struct mur_type *datatype, struct mur_op *op, struct mur_comm *comm,
                                struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_irregular(recvbuf, recvcounts, recvcounts, datatype);
    int rc = mur_op_check(op, datatype);
    struct mur_schedule *s;

    (void)info;
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_reduce_scatter(s, sendbuf, recvbuf, &blocks, op);
    return mur_schedule_keep(s, request);
}

int mur_mpi_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                      struct mur_type *datatype, struct mur_op *op, struct mur_comm *comm,
                                      struct mur_info *info, MPI_Request *request)
{
    struct mur_blocks blocks = mur_blocks_regular(recvbuf, recvcount, datatype);
    int rc = mur_op_check(op, datatype);
    struct mur_schedule *s;

    (void)info;
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_reduce_scatter(s, sendbuf, recvbuf, &blocks, op);
    return mur_schedule_keep(s, request);
}

int mur_mpi_scan_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                      struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    int rc = mur_op_check(op, datatype);
    struct mur_schedule *s;

    (void)info;
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_scan(s, sendbuf, recvbuf, count, datatype, op, true);
    return mur_schedule_keep(s, request);
}

int mur_mpi_exscan_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                        struct mur_op *op, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    int rc = mur_op_check(op, datatype);
    struct mur_schedule *s;

    (void)info;
    if (rc)
        return rc;
    s = mur_schedule_create(comm);
    if (s)
        mur_coll_scan(s, sendbuf, recvbuf, count, datatype, op, false);
    return mur_schedule_keep(s, request);
}
