/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective communication (MPI-5.0 §6), blocking: each function says what it is, coll/collective.c does it. */
#include "coll/collective.h"
#include "mpi/bodies.h"
#include "mpi/check.h"

int mur_mpi_barrier(struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_BARRIER};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_bcast(void *buffer, MPI_Count count, struct mur_type *datatype, int root, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_BCAST, .to = mur_blocks_regular(buffer, count, datatype), .root = root};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_gather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                   MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_GATHER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype),
                               .root = root};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_gatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                    struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype, int root,
                    struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_GATHER,
                               .is_irregular = true,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype),
                               .root = root};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_scatter(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                    MPI_Count recvcount, struct mur_type *recvtype, int root, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_SCATTER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype),
                               .root = root};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_scatterv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts displs,
                     struct mur_type *sendtype, void *recvbuf, MPI_Count recvcount, struct mur_type *recvtype, int root,
                     struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_SCATTER,
                               .is_irregular = true,
                               .from = mur_blocks_irregular(sendbuf, sendcounts, displs, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype),
                               .root = root};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_allgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                      MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_ALLGATHER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype)};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_allgatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                       struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                       struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_ALLGATHER,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype)};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_alltoall(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                     MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_ALLTOALL,
                               .from = mur_blocks_regular(sendbuf, sendcount, sendtype),
                               .to = mur_blocks_regular(recvbuf, recvcount, recvtype)};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_alltoallv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                      struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts, struct mur_counts rdispls,
                      struct mur_type *recvtype, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_ALLTOALL,
                               .is_irregular = true,
                               .from = mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype)};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_alltoallw(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                      const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                      struct mur_counts rdispls, const MPI_Datatype recvtypes[], struct mur_comm *comm)
{
    int rc = mur_check_w_types(sendbuf, sendcounts, sendtypes, recvcounts, recvtypes, comm);
    struct mur_collective c = {.kind = MUR_ALLTOALL,
                               .is_irregular = true,
                               .from = mur_blocks_typed(sendbuf, sendcounts, sdispls, sendtypes),
                               .to = mur_blocks_typed(recvbuf, recvcounts, rdispls, recvtypes)};

    return rc ? rc : mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_reduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                   int root, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_REDUCE,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op,
                               .root = root};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                      struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_ALLREDUCE,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_reduce_scatter(const void *sendbuf, void *recvbuf, struct mur_counts recvcounts, struct mur_type *datatype,
                           struct mur_op *op, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_REDUCE_SCATTER,
                               .from = mur_blocks_regular(sendbuf, 0, datatype),
                               .to = mur_blocks_irregular(recvbuf, recvcounts, recvcounts, datatype),
                               .op = op};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, struct mur_type *datatype,
                                 struct mur_op *op, struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_REDUCE_SCATTER,
                               .from = mur_blocks_regular(sendbuf, recvcount, datatype),
                               .to = mur_blocks_regular(recvbuf, recvcount, datatype),
                               .op = op};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_scan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                 struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_SCAN,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

int mur_mpi_exscan(const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *datatype, struct mur_op *op,
                   struct mur_comm *comm)
{
    struct mur_collective c = {.kind = MUR_EXSCAN,
                               .from = mur_blocks_regular(sendbuf, count, datatype),
                               .to = mur_blocks_regular(recvbuf, count, datatype),
                               .op = op};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}
