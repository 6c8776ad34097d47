/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends (MPI-5.0 §3.4, §3.6): the bodies. Buffers belong to a communicator or to the process. */
#include "pt2pt/buffered.h"

#include "base/error.h"
#include "mpi/bodies.h"
#include "pt2pt/pt2pt.h"

int mur_mpi_bsend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag, struct mur_comm *comm)
{
    struct mur_request *started;

    return mur_ibsend(buf, count, datatype, dest, tag, comm, &started);
}

int mur_mpi_ibsend(const void *buf, MPI_Count count, struct mur_type *datatype, int dest, int tag,
                   struct mur_comm *comm, MPI_Request *request)
{
    struct mur_request *started = NULL;
    int rc = mur_ibsend(buf, count, datatype, dest, tag, comm, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

/* `place` is where the address goes, whatever its type. */
static int detach(struct mur_comm *comm, void *place, MPI_Count *size)
{
    mur_send_buffer_detach(mur_send_buffer_of(comm), place, size);
    return MPI_SUCCESS;
}

static int iflush(struct mur_comm *comm, MPI_Request *request)
{
    struct mur_request *started = NULL;
    int rc = mur_send_buffer_iflush(*mur_send_buffer_of(comm), &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

int mur_mpi_buffer_attach(void *buffer, MPI_Count size)
{
    return mur_send_buffer_attach(mur_send_buffer_of(NULL), buffer, size);
}

int mur_mpi_buffer_detach(void *buffer_addr, MPI_Count *size)
{
    return detach(NULL, buffer_addr, size);
}

int mur_mpi_buffer_flush(void)
{
    mur_send_buffer_flush(*mur_send_buffer_of(NULL));
    return MPI_SUCCESS;
}

int mur_mpi_buffer_iflush(MPI_Request *request)
{
    return iflush(NULL, request);
}

int mur_mpi_comm_attach_buffer(struct mur_comm *comm, void *buffer, MPI_Count size)
{
    return mur_send_buffer_attach(mur_send_buffer_of(comm), buffer, size);
}

int mur_mpi_comm_detach_buffer(struct mur_comm *comm, void *buffer_addr, MPI_Count *size)
{
    return detach(comm, buffer_addr, size);
}

int mur_mpi_comm_flush_buffer(struct mur_comm *comm)
{
    mur_send_buffer_flush(*mur_send_buffer_of(comm));
    return MPI_SUCCESS;
}

int mur_mpi_comm_iflush_buffer(struct mur_comm *comm, MPI_Request *request)
{
    return iflush(comm, request);
}
