/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent and partitioned communication (MPI-5.0 §3.9, §4): the bodies of the _init functions. Starting is in
 * request.c. */
#include "base/error.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "pt2pt/pt2pt.h"

static int give(int rc, struct mur_request *made, MPI_Request *request)
{
    if (!rc)
        *request = (MPI_Request)made;
    return rc;
}

static int init(enum mur_persistent_mode mode, const void *buf, MPI_Count count, struct mur_type *datatype, int rank,
                int tag, struct mur_comm *comm, MPI_Request *request)
{
    struct mur_request *made = NULL;
    int rc = mur_persistent_init(mode, (void *)buf, count, datatype, rank, tag, comm, &made);

    return give(rc, made, request);
}

int mur_mpi_send_init(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                      struct mur_comm *comm, MPI_Request *request)
{
    return init(MUR_PERSISTENT_STANDARD, buf, count, datatype, dest, tag, comm, request);
}

int mur_mpi_rsend_init(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                       struct mur_comm *comm, MPI_Request *request)
{
    return init(MUR_PERSISTENT_STANDARD, buf, count, datatype, dest, tag, comm, request);
}

int mur_mpi_ssend_init(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                       struct mur_comm *comm, MPI_Request *request)
{
    return init(MUR_PERSISTENT_SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}

int mur_mpi_bsend_init(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                       struct mur_comm *comm, MPI_Request *request)
{
    return init(MUR_PERSISTENT_BUFFERED, buf, count, datatype, dest, tag, comm, request);
}

int mur_mpi_recv_init(void *buf, MPI_Count count, struct mur_type *datatype, int source, int tag, struct mur_comm *comm,
                      MPI_Request *request)
{
    return init(MUR_PERSISTENT_RECEIVE, buf, count, datatype, source, tag, comm, request);
}

static int init_partitioned(bool is_sender, const void *buf, int partitions, MPI_Count count, struct mur_type *datatype,
                            int rank, int tag, struct mur_comm *comm, MPI_Request *request)
{
    struct mur_request *made = NULL;
    int rc;

    if (partitions < 0)
        return mur_error(MPI_ERR_ARG, "partitions is %d, but must be 0 or more", partitions);
    rc = mur_partitioned_init(is_sender, (void *)buf, partitions, count, datatype, rank, tag, comm, &made);
    return give(rc, made, request);
}

int mur_mpi_psend_init(const void *buf, int partitions, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                       struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return init_partitioned(true, buf, partitions, count, datatype, dest, tag, comm, request);
}

int mur_mpi_precv_init(void *buf, int partitions, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                       struct mur_comm *comm, struct mur_info *info, MPI_Request *request)
{
    (void)info;
    return init_partitioned(false, buf, partitions, count, datatype, dest, tag, comm, request);
}

static int find(MPI_Request handle, struct mur_request **request_p)
{
    *request_p = mur_request_find(handle);
    if (!*request_p)
        return mur_error(MPI_ERR_REQUEST, "request is no live request; has it been freed already?");
    return MPI_SUCCESS;
}

int mur_mpi_pready(int partition, MPI_Request request)
{
    struct mur_request *found;
    int rc = find(request, &found);

    return rc ? rc : mur_entry_blame(found->comm, mur_partitioned_ready(found, partition));
}

int mur_mpi_pready_range(int partition_low, int partition_high, MPI_Request request)
{
    struct mur_request *found;
    int rc = find(request, &found);

    for (int i = partition_low; i <= partition_high && !rc; i++)
        rc = mur_entry_blame(found->comm, mur_partitioned_ready(found, i));
    return rc;
}

int mur_mpi_pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    struct mur_request *found;
    int rc = find(request, &found);

    for (int i = 0; i < length && !rc; i++)
        rc = mur_entry_blame(found->comm, mur_partitioned_ready(found, array_of_partitions[i]));
    return rc;
}

/* A null request has arrived (§4.2.3). */
int mur_mpi_parrived(MPI_Request request, int partition, int *flag)
{
    struct mur_request *found;
    int rc;

    *flag = 1;
    if (request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    rc = find(request, &found);
    return rc ? rc : mur_entry_blame(found->comm, mur_partitioned_arrived(found, partition, flag));
}
