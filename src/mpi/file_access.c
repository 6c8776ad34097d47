/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing files (MPI-5.0 §14.4): every form is one access (io/access.h), at an offset that is given, or
 * taken from the individual or the shared file pointer; by this rank alone or by all; blocking, nonblocking, or split
 * in begin and end. */
#include "io/access.h"

#include "base/error.h"
#include "io/pointer.h"
#include "mpi/bodies.h"
#include "mpi/file.h"
#include "object/look.h"
#include "pt2pt/pt2pt.h"

enum where { AT, OWN, SHARED, ORDERED }; /* whence the offset comes */

/* Split collectives end with what they began with. */
enum split { READ_ALL = 1, READ_AT_ALL, READ_ORDERED, WRITE_ALL, WRITE_AT_ALL, WRITE_ORDERED };

/* An access as the user asked for it. */
struct request {
    struct mur_file *file;
    enum where where;
    bool is_write, is_collective;
    MPI_Offset offset;
    void *buffer;
    MPI_Count count;
    struct mur_type *type;
};

static void set_status(MPI_Status *status, size_t bytes)
{
    struct mur_result result = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .bytes = (MPI_Count)bytes};

    mur_status_set(status, &result);
}

static int check(const struct request *wanted)
{
    const struct mur_file *file = wanted->file;
    MPI_Offset offset = wanted->where == AT ? wanted->offset : file->pointer;
    MPI_Count bytes;

    if (wanted->is_write && file->amode & MPI_MODE_RDONLY)
        return mur_error(MPI_ERR_READ_ONLY, "file '%s' was opened with MPI_MODE_RDONLY", file->name);
    if (!wanted->is_write && file->amode & MPI_MODE_WRONLY)
        return mur_error(MPI_ERR_ACCESS, "file '%s' was opened with MPI_MODE_WRONLY", file->name);
    if (wanted->offset < 0)
        return mur_error(MPI_ERR_ARG, "offset is %lld, but must be 0 or more", (long long)wanted->offset);
    if (__builtin_mul_overflow(wanted->count, wanted->type->size, &bytes) || bytes % file->etype->size)
        return mur_error(MPI_ERR_ARG,
                         "%lld elements of %lld bytes are to be moved, but it must be whole etypes of "
                         "%lld bytes",
                         (long long)wanted->count, (long long)wanted->type->size, (long long)file->etype->size);
    if (wanted->where != AT && wanted->where != OWN)
        return MPI_SUCCESS;
    if (!mur_view_has_place(file, offset, bytes / file->etype->size))
        return mur_error(MPI_ERR_ARG, "the offset, %lld, is beyond where any file can end", (long long)offset);
    return mur_file_check_random(file);
}

/* The pointers move on by what is asked for, also where the file ends before (§14.4.3). */
static int find_offset(struct request *wanted, int rc)
{
    struct mur_file *file = wanted->file;
    MPI_Offset etypes = rc ? 0 : wanted->count * wanted->type->size / file->etype->size;

    switch (wanted->where) {
    case OWN:
        wanted->offset = file->pointer;
        file->pointer += etypes;
        return rc;
    case SHARED:
        return rc ? rc : mur_pointer_take(file, etypes, &wanted->offset);
    case ORDERED:
        return mur_pointer_take_ordered(file, rc, etypes, &wanted->offset);
    default:
        return rc;
    }
}

/* What is asked for becomes an access, if it has not been refused already. An error keeps it from moving data: what is
 * collective is performed all the same, so that the other ranks hear of it. */
static int begin(struct request *wanted, int refused, struct mur_access *access)
{
    struct mur_file *file = wanted->file;
    int rc = find_offset(wanted, refused ? refused : check(wanted)), begun;

    begun = mur_access_begin(access, file, wanted->is_write, wanted->is_collective, rc ? 0 : wanted->offset,
                             wanted->buffer, rc ? 0 : wanted->count, rc ? mur_type_find(MPI_BYTE) : wanted->type);
    return rc ? rc : begun;
}

static int run(int refused, struct request wanted, MPI_Status *status)
{
    struct mur_access access;
    size_t bytes = 0;
    int rc = wanted.is_collective ? mur_file_check_idle(wanted.file) : MPI_SUCCESS;

    set_status(status, 0);
    if (rc)
        return rc;
    access.error = begin(&wanted, refused, &access);
    rc = mur_access_run(&access, &bytes);
    set_status(status, bytes);
    return rc;
}

/* Who was refused hears of it at once, and so gets no request: what it takes part in ends by itself. */
static int start_refused(const struct mur_access *access, int refused)
{
    struct mur_request *request;

    if (!mur_access_start(access, refused, &request))
        mur_request_detach(request);
    return refused;
}

static int start(int refused, struct request wanted, struct mur_request **started)
{
    struct mur_access access;
    size_t bytes;
    int rc = wanted.is_collective ? mur_file_check_idle(wanted.file) : MPI_SUCCESS;

    if (rc)
        return rc;
    rc = begin(&wanted, refused, &access);
    if (refused)
        return start_refused(&access, refused);
    if (!rc || wanted.is_collective)
        return mur_access_start(&access, rc, started);
    access.error = rc;
    return mur_access_end(&access, &bytes);
}

static int start_for_user(int refused, struct request wanted, MPI_Request *request)
{
    struct mur_request *started = NULL;
    int rc = start(refused, wanted, &started);

    if (!rc)
        *request = (MPI_Request)started;
    return rc;
}

static int begin_split(int refused, struct request wanted, enum split kind)
{
    int rc = start(refused, wanted, &wanted.file->split);

    if (rc)
        return rc;
    wanted.file->split_kind = kind;
    wanted.file->split_buffer = wanted.buffer;
    return MPI_SUCCESS;
}

static int end_split(struct mur_file *file, const void *buffer, enum split kind, MPI_Status *status)
{
    struct mur_request *request = file->split;

    if (!request || file->split_kind != (int)kind)
        return mur_error(MPI_ERR_IO,
                         request ? "another kind of split collective access to file '%s' has begun"
                                 : "no split collective access to file '%s' has begun",
                         file->name);
    if (file->split_buffer != buffer)
        return mur_error(MPI_ERR_BUFFER, "buf is %p, but the access began with %p", buffer, file->split_buffer);
    mur_wait_for(&request->is_complete, mur_describe_request, request);
    file->split = NULL;
    return mur_request_finish(request, status);
}

int mur_mpi_file_read_at(struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count, struct mur_type *datatype,
                         MPI_Status *status)
{
    return run(MPI_SUCCESS, (struct request){fh, AT, false, false, offset, buf, count, datatype}, status);
}

int mur_mpi_file_iread_at(struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count, struct mur_type *datatype,
                          MPI_Request *request)
{
    return start_for_user(MPI_SUCCESS, (struct request){fh, AT, false, false, offset, buf, count, datatype}, request);
}

int mur_mpi_file_read_at_all(int refused, struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                             struct mur_type *datatype, MPI_Status *status)
{
    return run(refused, (struct request){fh, AT, false, true, offset, buf, count, datatype}, status);
}

int mur_mpi_file_iread_at_all(int refused, struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                              struct mur_type *datatype, MPI_Request *request)
{
    return start_for_user(refused, (struct request){fh, AT, false, true, offset, buf, count, datatype}, request);
}

int mur_mpi_file_read_at_all_begin(int refused, struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                                   struct mur_type *datatype)
{
    return begin_split(refused, (struct request){fh, AT, false, true, offset, buf, count, datatype}, READ_AT_ALL);
}

int mur_mpi_file_read_at_all_end(struct mur_file *fh, void *buf, MPI_Status *status)
{
    return end_split(fh, buf, READ_AT_ALL, status);
}

int mur_mpi_file_read(struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype, MPI_Status *status)
{
    return run(MPI_SUCCESS, (struct request){fh, OWN, false, false, 0, buf, count, datatype}, status);
}

int mur_mpi_file_iread(struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype, MPI_Request *request)
{
    return start_for_user(MPI_SUCCESS, (struct request){fh, OWN, false, false, 0, buf, count, datatype}, request);
}

int mur_mpi_file_read_all(int refused, struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype,
                          MPI_Status *status)
{
    return run(refused, (struct request){fh, OWN, false, true, 0, buf, count, datatype}, status);
}

int mur_mpi_file_iread_all(int refused, struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype,
                           MPI_Request *request)
{
    return start_for_user(refused, (struct request){fh, OWN, false, true, 0, buf, count, datatype}, request);
}

int mur_mpi_file_read_all_begin(int refused, struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype)
{
    return begin_split(refused, (struct request){fh, OWN, false, true, 0, buf, count, datatype}, READ_ALL);
}

int mur_mpi_file_read_all_end(struct mur_file *fh, void *buf, MPI_Status *status)
{
    return end_split(fh, buf, READ_ALL, status);
}

int mur_mpi_file_read_shared(struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype,
                             MPI_Status *status)
{
    return run(MPI_SUCCESS, (struct request){fh, SHARED, false, false, 0, buf, count, datatype}, status);
}

int mur_mpi_file_iread_shared(struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype,
                              MPI_Request *request)
{
    return start_for_user(MPI_SUCCESS, (struct request){fh, SHARED, false, false, 0, buf, count, datatype}, request);
}

int mur_mpi_file_read_ordered(int refused, struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype,
                              MPI_Status *status)
{
    return run(refused, (struct request){fh, ORDERED, false, true, 0, buf, count, datatype}, status);
}

int mur_mpi_file_read_ordered_begin(int refused, struct mur_file *fh, void *buf, MPI_Count count,
                                    struct mur_type *datatype)
{
    return begin_split(refused, (struct request){fh, ORDERED, false, true, 0, buf, count, datatype}, READ_ORDERED);
}

int mur_mpi_file_read_ordered_end(struct mur_file *fh, void *buf, MPI_Status *status)
{
    return end_split(fh, buf, READ_ORDERED, status);
}

int mur_mpi_file_write_at(struct mur_file *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          struct mur_type *datatype, MPI_Status *status)
{
    return run(MPI_SUCCESS, (struct request){fh, AT, true, false, offset, (void *)buf, count, datatype}, status);
}

int mur_mpi_file_iwrite_at(struct mur_file *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                           struct mur_type *datatype, MPI_Request *request)
{
    return start_for_user(MPI_SUCCESS, (struct request){fh, AT, true, false, offset, (void *)buf, count, datatype},
                          request);
}

int mur_mpi_file_write_at_all(int refused, struct mur_file *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              struct mur_type *datatype, MPI_Status *status)
{
    return run(refused, (struct request){fh, AT, true, true, offset, (void *)buf, count, datatype}, status);
}

int mur_mpi_file_iwrite_at_all(int refused, struct mur_file *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                               struct mur_type *datatype, MPI_Request *request)
{
    return start_for_user(refused, (struct request){fh, AT, true, true, offset, (void *)buf, count, datatype}, request);
}

int mur_mpi_file_write_at_all_begin(int refused, struct mur_file *fh, MPI_Offset offset, const void *buf,
                                    MPI_Count count, struct mur_type *datatype)
{
    return begin_split(refused, (struct request){fh, AT, true, true, offset, (void *)buf, count, datatype},
                       WRITE_AT_ALL);
}

int mur_mpi_file_write_at_all_end(struct mur_file *fh, const void *buf, MPI_Status *status)
{
    return end_split(fh, buf, WRITE_AT_ALL, status);
}

int mur_mpi_file_write(struct mur_file *fh, const void *buf, MPI_Count count, struct mur_type *datatype,
                       MPI_Status *status)
{
    return run(MPI_SUCCESS, (struct request){fh, OWN, true, false, 0, (void *)buf, count, datatype}, status);
}

int mur_mpi_file_iwrite(struct mur_file *fh, const void *buf, MPI_Count count, struct mur_type *datatype,
                        MPI_Request *request)
{
    return start_for_user(MPI_SUCCESS, (struct request){fh, OWN, true, false, 0, (void *)buf, count, datatype},
                          request);
}

int mur_mpi_file_write_all(int refused, struct mur_file *fh, const void *buf, MPI_Count count,
                           struct mur_type *datatype, MPI_Status *status)
{
    return run(refused, (struct request){fh, OWN, true, true, 0, (void *)buf, count, datatype}, status);
}

int mur_mpi_file_iwrite_all(int refused, struct mur_file *fh, const void *buf, MPI_Count count,
                            struct mur_type *datatype, MPI_Request *request)
{
    return start_for_user(refused, (struct request){fh, OWN, true, true, 0, (void *)buf, count, datatype}, request);
}

int mur_mpi_file_write_all_begin(int refused, struct mur_file *fh, const void *buf, MPI_Count count,
                                 struct mur_type *datatype)
{
    return begin_split(refused, (struct request){fh, OWN, true, true, 0, (void *)buf, count, datatype}, WRITE_ALL);
}

int mur_mpi_file_write_all_end(struct mur_file *fh, const void *buf, MPI_Status *status)
{
    return end_split(fh, buf, WRITE_ALL, status);
}

int mur_mpi_file_write_shared(struct mur_file *fh, const void *buf, MPI_Count count, struct mur_type *datatype,
                              MPI_Status *status)
{
    return run(MPI_SUCCESS, (struct request){fh, SHARED, true, false, 0, (void *)buf, count, datatype}, status);
}

int mur_mpi_file_iwrite_shared(struct mur_file *fh, const void *buf, MPI_Count count, struct mur_type *datatype,
                               MPI_Request *request)
{
    return start_for_user(MPI_SUCCESS, (struct request){fh, SHARED, true, false, 0, (void *)buf, count, datatype},
                          request);
}

int mur_mpi_file_write_ordered(int refused, struct mur_file *fh, const void *buf, MPI_Count count,
                               struct mur_type *datatype, MPI_Status *status)
{
    return run(refused, (struct request){fh, ORDERED, true, true, 0, (void *)buf, count, datatype}, status);
}

int mur_mpi_file_write_ordered_begin(int refused, struct mur_file *fh, const void *buf, MPI_Count count,
                                     struct mur_type *datatype)
{
    return begin_split(refused, (struct request){fh, ORDERED, true, true, 0, (void *)buf, count, datatype},
                       WRITE_ORDERED);
}

int mur_mpi_file_write_ordered_end(struct mur_file *fh, const void *buf, MPI_Status *status)
{
    return end_split(fh, buf, WRITE_ORDERED, status);
}
