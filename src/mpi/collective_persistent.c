/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collective communication (MPI-5.0 §6.13). All arguments are read here, once; only the buffers' contents
 * matter later. The info argument may say that ranks start operations in one order, which is of no use here. */
#include "coll/collective.h"
#include "mpi/bodies.h"
#include "mpi/check.h"

int mur_mpi_barrier_init(struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_BARRIER};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_bcast_init(void *buffer, MPI_Count count, struct mur_type *datatype, int root, struct mur_comm *comm,
                       struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_BCAST, .to = mur_blocks_regular(buffer, count, datatype), .root = root};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_gather_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                        MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm,
                        struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_GATHER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype),
                               .root = root};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_gatherv_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                         struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype, int root,
                         struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_GATHER,
                               .is_irregular = true,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype),
                               .root = root};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_scatter_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                         MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm,
                         struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_SCATTER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype),
                               .root = root};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_scatterv_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts displs,
                          struct mur_type *sendtype, void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype,
                          int root, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_SCATTER,
                               .is_irregular = true,
                               .from = mur_blocks_irregular(sendbuf, sendcounts, displs, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype),
                               .root = root};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_allgather_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                           MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm, struct mur_info *info,
                           MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_ALLGATHER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype)};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_allgatherv_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                            struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                            struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_ALLGATHER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype)};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_alltoall_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                          MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm, struct mur_info *info,
                          MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_ALLTOALL,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype)};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_alltoallv_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                           struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts,
                           struct mur_counts rdispls, struct mur_type *recvtype, struct mur_comm *comm,
                           struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_ALLTOALL,
                               .is_irregular = true,
                               .from = mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype)};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_alltoallw_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                           const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                           struct mur_counts rdispls, const MPI_Datatype recvtypes[], struct mur_comm *comm,
                           struct mur_info *info, MPI_Request *request)
{
    int rc = mur_check_w_types(sendbuf, sendcounts, sendtypes, recvcounts, recvtypes, comm);
    struct mur_collective c = {.kind = MUR_ALLTOALL,
                               .is_irregular = true,
                               .from = mur_blocks_typed(sendbuf, sendcounts, sdispls, sendtypes),
                               .to = mur_blocks_typed(recvbuf, recvcounts, rdispls, recvtypes)};

    (void)info;
    return rc ? rc : mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_reduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                        struct mur_op *op, int root, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_REDUCE,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op,
                               .root = root};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_allreduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                           struct mur_op *op, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_ALLREDUCE,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_reduce_scatter_init(const void *sendbuf, void *recvbuf, struct mur_counts recvcounts,
                                struct mur_type *datatype, struct mur_op *op, struct mur_comm *comm,
                                struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_REDUCE_SCATTER,
                               .from = mur_blocks_regular(sendbuf, 0, datatype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, recvcounts, datatype),
                               .op = op};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                      struct mur_type *datatype, struct mur_op *op, struct mur_comm *comm,
                                      struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_REDUCE_SCATTER,
                               .from = mur_blocks_regular(sendbuf, recvcount, datatype),
                               .to = mur_blocks_regular(recvbuf, recvcount, datatype),
                               .op = op};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_scan_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                      struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_SCAN,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}

int mur_mpi_exscan_init(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype,
                        struct mur_op *op, struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_EXSCAN,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op};

    (void)info;
    return mur_collective(&c, comm, MUR_PERSISTENT, request);
}
