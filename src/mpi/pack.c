/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking (MPI-5.0 §5.2, §5.3), and the elements that a status counts (§5.1.11, §13.3). */
#include <string.h>

#include "base/error.h"
#include "datatype/elements.h"
#include "datatype/external.h"
#include "datatype/layout.h"
#include "mpi/bodies.h"
#include "object/request.h"

/* The bytes of packed data, which must fit between the position and the end of the packed buffer. */
static int check_room(MPI_Count count, MPI_Count each, MPI_Count size, MPI_Count position, MPI_Count *bytes)
{
    if (position < 0 || position > size)
        return mur_error(MPI_ERR_ARG, "*position is %lld, but must be from 0 to the buffer's size, %lld",
                         (long long)position, (long long)size);
    if (__builtin_mul_overflow(count, each, bytes) || *bytes > size - position)
        return mur_error(MPI_ERR_ARG,
                         "%lld elements of %lld bytes do not fit into the packed buffer: it has %lld bytes, and "
                         "position is %lld",
                         (long long)count, (long long)each, (long long)size, (long long)position);
    return MPI_SUCCESS;
}

static int check_datarep(const char *datarep)
{
    if (!strcmp(datarep, "external32"))
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ARG, "datarep is \"%s\", but must be \"external32\"", datarep);
}

static int size_of(MPI_Count count, MPI_Count each, MPI_Count *size)
{
    if (__builtin_mul_overflow(count, each, size))
        return mur_error(MPI_ERR_COUNT, "%lld elements of %lld bytes are more than memory can hold", (long long)count,
                         (long long)each);
    return MPI_SUCCESS;
}

int mur_mpi_pack_size(MPI_Count incount, struct mur_type *datatype, struct mur_comm *comm, MPI_Count *size)
{
    (void)comm;
    return size_of(incount, datatype->size, size);
}

int mur_mpi_pack(const void *inbuf, MPI_Count incount, struct mur_type *datatype, void *outbuf, MPI_Count outsize,
                 MPI_Count *position, struct mur_comm *comm)
{
    struct mur_cursor cursor;
    MPI_Count bytes = 0;
    int rc = check_room(incount, datatype->size, outsize, *position, &bytes);

    (void)comm;
    if (rc)
        return rc;
    mur_cursor_start(&cursor, inbuf, incount, datatype);
    mur_cursor_pack(&cursor, (char *)outbuf + *position, (size_t)bytes);
    *position += bytes;
    return MPI_SUCCESS;
}

int mur_mpi_unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                   struct mur_type *datatype, struct mur_comm *comm)
{
    struct mur_cursor cursor;
    MPI_Count bytes = 0;
    int rc = check_room(outcount, datatype->size, insize, *position, &bytes);

    (void)comm;
    if (rc)
        return rc;
    mur_cursor_start(&cursor, outbuf, outcount, datatype);
    mur_cursor_unpack(&cursor, (const char *)inbuf + *position, (size_t)bytes);
    *position += bytes;
    return MPI_SUCCESS;
}

int mur_mpi_pack_external_size(const char *datarep, MPI_Count incount, struct mur_type *datatype, MPI_Count *size)
{
    int rc = check_datarep(datarep);

    return rc ? rc : size_of(incount, mur_external_size(datatype), size);
}

int mur_mpi_pack_external(const char *datarep, const void *inbuf, MPI_Count incount, struct mur_type *datatype,
                          void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    MPI_Count bytes = 0;
    int rc = check_datarep(datarep);

    if (rc || (rc = check_room(incount, mur_external_size(datatype), outsize, *position, &bytes)))
        return rc;
    rc = mur_external_pack(inbuf, incount, datatype, (char *)outbuf + *position);
    if (!rc)
        *position += bytes;
    return rc;
}

int mur_mpi_unpack_external(const char *datarep, const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                            MPI_Count outcount, struct mur_type *datatype)
{
    MPI_Count bytes = 0;
    int rc = check_datarep(datarep);

    if (rc || (rc = check_room(outcount, mur_external_size(datatype), insize, *position, &bytes)))
        return rc;
    rc = mur_external_unpack((const char *)inbuf + *position, outbuf, outcount, datatype);
    if (!rc)
        *position += bytes;
    return rc;
}

int mur_mpi_get_elements(const MPI_Status *status, struct mur_type *datatype, MPI_Count *count)
{
    *count = mur_elements_of_bytes(datatype, mur_status_bytes(status));
    return MPI_SUCCESS;
}

int mur_mpi_get_elements_x(const MPI_Status *status, struct mur_type *datatype, MPI_Count *count)
{
    return mur_mpi_get_elements(status, datatype, count);
}

int mur_mpi_status_set_elements(MPI_Status *status, struct mur_type *datatype, MPI_Count count)
{
    MPI_Count bytes = count < 0 ? -1 : mur_bytes_of_elements(datatype, count);

    if (bytes < 0)
        return mur_error(MPI_ERR_COUNT, "count is %lld, which is no number of basic elements of %s", (long long)count,
                         datatype->name[0] ? datatype->name : "the datatype");
    memcpy(&status->MPI_internal[0], &bytes, sizeof bytes);
    return MPI_SUCCESS;
}

int mur_mpi_status_set_elements_x(MPI_Status *status, struct mur_type *datatype, MPI_Count count)
{
    return mur_mpi_status_set_elements(status, datatype, count);
}

int mur_mpi_status_set_cancelled(MPI_Status *status, int flag)
{
    status->MPI_internal[2] = flag != 0;
    return MPI_SUCCESS;
}
