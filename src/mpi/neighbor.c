/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives (MPI-5.0 §8.6 to §8.8), blocking, nonblocking and persistent. The communicator's topology
 * says how many blocks there are, so the arrays are checked here. */
#include "base/error.h"
#include "coll/collective.h"
#include "mpi/bodies.h"
#include "mpi/check.h"
#include "object/topology.h"

static int find_neighbours(const struct mur_comm *comm, const void *sendbuf, struct mur_neighbours *neighbours)
{
    if (!comm->topology)
        return mur_error(MPI_ERR_TOPOLOGY, "the communicator has no topology, so there are no neighbors");
    if (sendbuf == MPI_IN_PLACE)
        return mur_error(MPI_ERR_BUFFER, "sendbuf is MPI_IN_PLACE, which neighborhood collectives do not take");
    *neighbours = mur_topology_neighbours(comm->topology, comm->rank);
    return MPI_SUCCESS;
}

/* How messages call the arrays of one side. */
struct names {
    const char *counts, *displacements, *types;
};
static const struct names send_names = {"sendcounts", "sdispls", "sendtypes"};
static const struct names receive_names = {"recvcounts", "rdispls", "recvtypes"};
static const struct names gather_names = {.counts = "recvcounts", .displacements = "displs"};

static int check_blocks(const struct mur_blocks *blocks, int count, const struct names *names)
{
    int rc;

    if (!blocks->is_irregular)
        return MPI_SUCCESS;
    rc = mur_check_counts(names->counts, blocks->counts, count);
    if (!rc)
        rc = mur_check_array(names->displacements, blocks->displacements.array, count);
    if (!rc && names->types && !blocks->type)
        rc = mur_check_types(names->types, blocks->types, blocks->counts, count);
    return rc;
}

static int allgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, struct mur_blocks to,
                     struct mur_comm *comm, enum mur_form form, MPI_Request *request)
{
    struct mur_collective c = {
        .kind = MUR_NEIGHBOR_ALLGATHER, .from = mur_blocks_regular(sendbuf, sendcount, sendtype), .to = to};
    struct mur_neighbours neighbours = {0};
    int rc = find_neighbours(comm, sendbuf, &neighbours);

    if (!rc)
        rc = check_blocks(&to, neighbours.indegree, &gather_names);
    if (rc)
        return rc;
    return mur_collective(&c, comm, form, request);
}

static int alltoall(struct mur_blocks from, struct mur_blocks to, struct mur_comm *comm, enum mur_form form,
                    MPI_Request *request)
{
    struct mur_collective c = {.kind = MUR_NEIGHBOR_ALLTOALL, .from = from, .to = to};
    struct mur_neighbours neighbours = {0};
    int rc = find_neighbours(comm, from.buffer, &neighbours);

    if (!rc)
        rc = check_blocks(&from, neighbours.outdegree, &send_names);
    if (!rc)
        rc = check_blocks(&to, neighbours.indegree, &receive_names);
    if (rc)
        return rc;
    return mur_collective(&c, comm, form, request);
}

/* The displacements of neighbor_alltoallw, which are addresses in both forms. */
static struct mur_counts bytes(const MPI_Aint *displacements)
{
    return (struct mur_counts){displacements, sizeof *displacements};
}

int mur_mpi_neighbor_allgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                               MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), comm, MUR_BLOCKING,
                     NULL);
}

int mur_mpi_ineighbor_allgather(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                                MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm,
                                MPI_Request *request)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), comm,
                     MUR_NONBLOCKING, request);
}

int mur_mpi_neighbor_allgather_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                                    MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm,
                                    struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_regular(recvbuf, recvcount, recvtype), comm,
                     MUR_PERSISTENT, request);
}

int mur_mpi_neighbor_allgatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                                struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                                struct mur_comm *comm)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), comm,
                     MUR_BLOCKING, NULL);
}

int mur_mpi_ineighbor_allgatherv(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                                 struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                                 struct mur_comm *comm, MPI_Request *request)
{
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), comm,
                     MUR_NONBLOCKING, request);
}

int mur_mpi_neighbor_allgatherv_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                                     struct mur_counts recvcounts, struct mur_counts displs, struct mur_type *recvtype,
                                     struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return allgather(sendbuf, sendcount, sendtype, mur_blocks_irregular(recvbuf, recvcounts, displs, recvtype), comm,
                     MUR_PERSISTENT, request);
}

int mur_mpi_neighbor_alltoall(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                              MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm)
{
    return alltoall(mur_blocks_regular(sendbuf, sendcount, sendtype), mur_blocks_regular(recvbuf, recvcount, recvtype),
                    comm, MUR_BLOCKING, NULL);
}

int mur_mpi_ineighbor_alltoall(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                               MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm,
                               MPI_Request *request)
{
    return alltoall(mur_blocks_regular(sendbuf, sendcount, sendtype), mur_blocks_regular(recvbuf, recvcount, recvtype),
                    comm, MUR_NONBLOCKING, request);
}

int mur_mpi_neighbor_alltoall_init(const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype, void *recvbuf,
                                   MPI_Count recvcount, struct mur_type *recvtype, struct mur_comm *comm,
                                   struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return alltoall(mur_blocks_regular(sendbuf, sendcount, sendtype), mur_blocks_regular(recvbuf, recvcount, recvtype),
                    comm, MUR_PERSISTENT, request);
}

int mur_mpi_neighbor_alltoallv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                               struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts,
                               struct mur_counts rdispls, struct mur_type *recvtype, struct mur_comm *comm)
{
    return alltoall(mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                    mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype), comm, MUR_BLOCKING, NULL);
}

int mur_mpi_ineighbor_alltoallv(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                                struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts,
                                struct mur_counts rdispls, struct mur_type *recvtype, struct mur_comm *comm,
                                MPI_Request *request)
{
    return alltoall(mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                    mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype), comm, MUR_NONBLOCKING, request);
}

int mur_mpi_neighbor_alltoallv_init(const void *sendbuf, struct mur_counts sendcounts, struct mur_counts sdispls,
                                    struct mur_type *sendtype, void *recvbuf, struct mur_counts recvcounts,
                                    struct mur_counts rdispls, struct mur_type *recvtype, struct mur_comm *comm,
                                    struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return alltoall(mur_blocks_irregular(sendbuf, sendcounts, sdispls, sendtype),
                    mur_blocks_irregular(recvbuf, recvcounts, rdispls, recvtype), comm, MUR_PERSISTENT, request);
}

int mur_mpi_neighbor_alltoallw(const void *sendbuf, struct mur_counts sendcounts, const MPI_Aint sdispls[],
                               const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], struct mur_comm *comm)
{
    return alltoall(mur_blocks_typed(sendbuf, sendcounts, bytes(sdispls), sendtypes),
                    mur_blocks_typed(recvbuf, recvcounts, bytes(rdispls), recvtypes), comm, MUR_BLOCKING, NULL);
}

int mur_mpi_ineighbor_alltoallw(const void *sendbuf, struct mur_counts sendcounts, const MPI_Aint sdispls[],
                                const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], struct mur_comm *comm,
                                MPI_Request *request)
{
    return alltoall(mur_blocks_typed(sendbuf, sendcounts, bytes(sdispls), sendtypes),
                    mur_blocks_typed(recvbuf, recvcounts, bytes(rdispls), recvtypes), comm, MUR_NONBLOCKING, request);
}

int mur_mpi_neighbor_alltoallw_init(const void *sendbuf, struct mur_counts sendcounts, const MPI_Aint sdispls[],
                                    const MPI_Datatype sendtypes[], void *recvbuf, struct mur_counts recvcounts,
                                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], struct mur_comm *comm,
                                    struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return alltoall(mur_blocks_typed(sendbuf, sendcounts, bytes(sdispls), sendtypes),
                    mur_blocks_typed(recvbuf, recvcounts, bytes(rdispls), recvtypes), comm, MUR_PERSISTENT, request);
}
