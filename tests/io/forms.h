/* SPDX-License-Identifier: BSD-3-Clause */
/* One access in any of the forms that MPI has for it. */
#ifndef MUR_IO_FORMS_H
#define MUR_IO_FORMS_H

#include "test.h"

enum form { AT, AT_LATER, OWN, OWN_LATER, AT_ALL, AT_ALL_LATER, OWN_ALL, OWN_ALL_LATER, SPLIT, SPLIT_AT, FORMS };

static inline int form_is_collective(enum form form)
{
    return form >= AT_ALL;
}

static inline int form_wait(int rc, MPI_Request *request, MPI_Status *status)
{
    return rc ? rc : MPI_Wait(request, status);
}

/* From the offset on, in etypes. */
static inline int form_write(MPI_File file, enum form form, MPI_Offset offset, const void *data, int count,
                             MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    int rc;

    CHECK(MPI_File_seek(file, offset, MPI_SEEK_SET) == MPI_SUCCESS);
    switch (form) {
    case AT:
        return MPI_File_write_at(file, offset, data, count, type, status);
    case AT_LATER:
        return form_wait(MPI_File_iwrite_at(file, offset, data, count, type, &request), &request, status);
    case OWN:
        return MPI_File_write(file, data, count, type, status);
    case OWN_LATER:
        return form_wait(MPI_File_iwrite(file, data, count, type, &request), &request, status);
    case AT_ALL:
        return MPI_File_write_at_all(file, offset, data, count, type, status);
    case AT_ALL_LATER:
        return form_wait(MPI_File_iwrite_at_all(file, offset, data, count, type, &request), &request, status);
    case OWN_ALL:
        return MPI_File_write_all(file, data, count, type, status);
    case OWN_ALL_LATER:
        return form_wait(MPI_File_iwrite_all(file, data, count, type, &request), &request, status);
    case SPLIT:
        rc = MPI_File_write_all_begin(file, data, count, type);
        return rc ? rc : MPI_File_write_all_end(file, data, status);
    default:
        rc = MPI_File_write_at_all_begin(file, offset, data, count, type);
        return rc ? rc : MPI_File_write_at_all_end(file, data, status);
    }
}

static inline int form_read(MPI_File file, enum form form, MPI_Offset offset, void *data, int count, MPI_Datatype type,
                            MPI_Status *status)
{
    MPI_Request request;
    int rc;

    CHECK(MPI_File_seek(file, offset, MPI_SEEK_SET) == MPI_SUCCESS);
    switch (form) {
    case AT:
        return MPI_File_read_at(file, offset, data, count, type, status);
    case AT_LATER:
        return form_wait(MPI_File_iread_at(file, offset, data, count, type, &request), &request, status);
    case OWN:
        return MPI_File_read(file, data, count, type, status);
    case OWN_LATER:
        return form_wait(MPI_File_iread(file, data, count, type, &request), &request, status);
    case AT_ALL:
        return MPI_File_read_at_all(file, offset, data, count, type, status);
    case AT_ALL_LATER:
        return form_wait(MPI_File_iread_at_all(file, offset, data, count, type, &request), &request, status);
    case OWN_ALL:
        return MPI_File_read_all(file, data, count, type, status);
    case OWN_ALL_LATER:
        return form_wait(MPI_File_iread_all(file, data, count, type, &request), &request, status);
    case SPLIT:
        rc = MPI_File_read_all_begin(file, data, count, type);
        return rc ? rc : MPI_File_read_all_end(file, data, status);
    default:
        rc = MPI_File_read_at_all_begin(file, offset, data, count, type);
        return rc ? rc : MPI_File_read_at_all_end(file, data, status);
    }
}

#endif
