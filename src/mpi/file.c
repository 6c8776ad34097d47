/* SPDX-License-Identifier: BSD-3-Clause */
/* Files (MPI-5.0 §14): the bodies of opening, views, pointers, reading and writing. A collective access is each
 * rank's own access to its part of the file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "io/file.h"
#include "mpi/bodies.h"
#include "mpi/errors.h"
#include "object/comm.h"
#include "object/group.h"
#include "object/info.h"
#include "object/request.h"

int mur_mpi_file_open(struct mur_comm *comm, const char *filename, int amode, struct mur_info *info, MPI_File *fh)
{
    struct mur_file *file = NULL;
    int rc = mur_file_open(comm, filename, amode, info, *mur_file_errhandler(MPI_FILE_NULL), &file);

    if (!rc)
        *fh = (MPI_File)file;
    return rc;
}

int mur_mpi_file_close(MPI_File *fh)
{
    struct mur_file *file = mur_object_find(*fh, MUR_KIND_FILE);

    if (!file)
        return mur_error(MPI_ERR_FILE, *fh == MPI_FILE_NULL ? "fh is MPI_FILE_NULL, which cannot be closed"
                                                            : "fh is no live file; has it been closed already?");
    *fh = MPI_FILE_NULL;
    return mur_file_close(file);
}

int mur_mpi_file_delete(const char *filename, struct mur_info *info)
{
    (void)info;
    return unlink(filename) ? mur_file_error(errno, "delete", filename) : MPI_SUCCESS;
}

int mur_mpi_file_get_size(struct mur_file *fh, MPI_Offset *size)
{
    return mur_file_size(fh, size);
}

static int check_size(const struct mur_file *file, MPI_Offset size)
{
    if (size < 0)
        return mur_error(MPI_ERR_ARG, "size is %lld bytes, but must be 0 or more", (long long)size);
    if (file->amode & MPI_MODE_RDONLY)
        return mur_error(MPI_ERR_READ_ONLY, "file '%s' was opened with MPI_MODE_RDONLY", file->name);
    return MPI_SUCCESS;
}

int mur_mpi_file_set_size(struct mur_file *fh, MPI_Offset size)
{
    int rc = check_size(fh, size);

    return rc ? rc : mur_file_change_size(fh, size, ftruncate, "set the size of");
}

static int allocate(int fd, off_t size)
{
    int number = size ? posix_fallocate(fd, 0, size) : 0;

    errno = number;
    return number ? -1 : 0;
}

int mur_mpi_file_preallocate(struct mur_file *fh, MPI_Offset size)
{
    int rc = check_size(fh, size);

    return rc ? rc : mur_file_change_size(fh, size, allocate, "allocate space for");
}

int mur_mpi_file_get_amode(struct mur_file *fh, int *amode)
{
    *amode = fh->amode;
    return MPI_SUCCESS;
}

int mur_mpi_file_get_group(struct mur_file *fh, MPI_Group *group)
{
    mur_group_retain(fh->comm->group);
    *group = mur_object_handle(fh->comm->group);
    return MPI_SUCCESS;
}

/* Hints can change nothing once the file is open: file_perm is all that is acted upon. */
int mur_mpi_file_set_info(struct mur_file *fh, struct mur_info *info)
{
    (void)fh;
    (void)info;
    return MPI_SUCCESS;
}

int mur_mpi_file_get_info(struct mur_file *fh, MPI_Info *info_used)
{
    struct mur_info *copy;
    int rc = mur_info_dup(fh->info, &copy);

    if (!rc)
        *info_used = (MPI_Info)copy;
    return rc;
}

int mur_mpi_file_set_view(struct mur_file *fh, MPI_Offset disp, struct mur_type *etype, struct mur_type *filetype,
                          const char *datarep, struct mur_info *info)
{
    (void)info;
    if (disp == MPI_DISPLACEMENT_CURRENT)
        return mur_error(MPI_ERR_ARG, "disp is MPI_DISPLACEMENT_CURRENT, which is for files opened with "
                                      "MPI_MODE_SEQUENTIAL");
    return mur_view_set(fh, disp, etype, filetype, datarep);
}

static MPI_Datatype give_type(struct mur_type *type)
{
    mur_type_retain(type);
    return mur_type_hand_out(type);
}

int mur_mpi_file_get_view(struct mur_file *fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                          char *datarep)
{
    *disp = fh->displacement;
    *etype = give_type(fh->etype);
    *filetype = give_type(fh->filetype);
    strcpy(datarep, fh->datarep);
    return MPI_SUCCESS;
}

static int check_pointer_use(const struct mur_file *file)
{
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return mur_error(MPI_ERR_UNSUPPORTED_OPERATION,
                         "file '%s' was opened with MPI_MODE_SEQUENTIAL: it has a shared "
                         "file pointer only",
                         file->name);
    return MPI_SUCCESS;
}

int mur_mpi_file_seek(struct mur_file *fh, MPI_Offset offset, int whence)
{
    MPI_Offset base = 0, size;
    int rc = check_pointer_use(fh);

    if (rc)
        return rc;
    if (whence == MPI_SEEK_CUR) {
        base = fh->pointer;
    } else if (whence == MPI_SEEK_END) {
        rc = mur_file_size(fh, &size);
        if (rc)
            return rc;
        base = (mur_view_position(fh, size) + fh->etype->size - 1) / fh->etype->size;
    } else if (whence != MPI_SEEK_SET) {
        return mur_error(MPI_ERR_ARG, "whence is %d, but must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    }
    if (base + offset < 0)
        return mur_error(MPI_ERR_ARG, "the file pointer would become %lld, but must be 0 or more",
                         (long long)(base + offset));
    fh->pointer = base + offset;
    return MPI_SUCCESS;
}

int mur_mpi_file_get_position(struct mur_file *fh, MPI_Offset *offset)
{
    int rc = check_pointer_use(fh);

    *offset = fh->pointer;
    return rc;
}

int mur_mpi_file_get_byte_offset(struct mur_file *fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct mur_cursor walk;
    struct mur_segment segment = {.offset = fh->displacement};

    if (offset < 0)
        return mur_error(MPI_ERR_ARG, "offset is %lld, but must be 0 or more", (long long)offset);
    if (fh->filetype->size) {
        mur_view_start(fh, offset * fh->etype->size, &walk);
        mur_view_segments(&walk, &segment, 1, 1);
    }
    *disp = segment.offset;
    return MPI_SUCCESS;
}

int mur_mpi_file_sync(struct mur_file *fh)
{
    if (fh->amode & MPI_MODE_RDONLY)
        return MPI_SUCCESS;
    return fsync(fh->fd) ? mur_file_error(errno, "sync", fh->name) : MPI_SUCCESS;
}

static void set_status(MPI_Status *status, size_t bytes)
{
    struct mur_result result = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .bytes = (MPI_Count)bytes};

    mur_status_set(status, &result);
}

static int check_access(const struct mur_file *file, MPI_Offset offset, const struct mur_type *type, MPI_Count count,
                        bool is_write)
{
    if (is_write && file->amode & MPI_MODE_RDONLY)
        return mur_error(MPI_ERR_READ_ONLY, "file '%s' was opened with MPI_MODE_RDONLY", file->name);
    if (!is_write && file->amode & MPI_MODE_WRONLY)
        return mur_error(MPI_ERR_ACCESS, "file '%s' was opened with MPI_MODE_WRONLY", file->name);
    if (offset < 0)
        return mur_error(MPI_ERR_ARG, "offset is %lld, but must be 0 or more", (long long)offset);
    if (count * type->size % file->etype->size)
        return mur_error(MPI_ERR_ARG, "%lld bytes are to be moved, but it must be whole etypes of %lld bytes",
                         (long long)(count * type->size), (long long)file->etype->size);
    return check_pointer_use(file);
}

static int read_at(struct mur_file *file, MPI_Offset offset, void *buffer, MPI_Count count, struct mur_type *type,
                   MPI_Status *status)
{
    size_t moved = 0;
    int rc = check_access(file, offset, type, count, false);

    if (!rc)
        rc = mur_file_read(file, offset, buffer, count, type, &moved);
    set_status(status, moved);
    return rc;
}

static int write_at(struct mur_file *file, MPI_Offset offset, const void *buffer, MPI_Count count,
                    struct mur_type *type, MPI_Status *status)
{
    size_t moved = 0;
    int rc = check_access(file, offset, type, count, true);

    if (!rc)
        rc = mur_file_write(file, offset, buffer, count, type, &moved);
    set_status(status, moved);
    return rc;
}

/* The individual pointer moves by what was asked for, also where the file ends before. */
static MPI_Offset advance(struct mur_file *file, MPI_Count count, const struct mur_type *type)
{
    MPI_Offset before = file->pointer;

    file->pointer += count * type->size / file->etype->size;
    return before;
}

int mur_mpi_file_read_at(struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count, struct mur_type *datatype,
                         MPI_Status *status)
{
    return read_at(fh, offset, buf, count, datatype, status);
}

int mur_mpi_file_read_at_all(struct mur_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                             struct mur_type *datatype, MPI_Status *status)
{
    return read_at(fh, offset, buf, count, datatype, status);
}

int mur_mpi_file_write_at(struct mur_file *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          struct mur_type *datatype, MPI_Status *status)
{
    return write_at(fh, offset, buf, count, datatype, status);
}

int mur_mpi_file_write_at_all(struct mur_file *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              struct mur_type *datatype, MPI_Status *status)
{
    return write_at(fh, offset, buf, count, datatype, status);
}

int mur_mpi_file_read(struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype, MPI_Status *status)
{
    return read_at(fh, advance(fh, count, datatype), buf, count, datatype, status);
}

int mur_mpi_file_read_all(struct mur_file *fh, void *buf, MPI_Count count, struct mur_type *datatype,
                          MPI_Status *status)
{
    return read_at(fh, advance(fh, count, datatype), buf, count, datatype, status);
}

int mur_mpi_file_write(struct mur_file *fh, const void *buf, MPI_Count count, struct mur_type *datatype,
                       MPI_Status *status)
{
    return write_at(fh, advance(fh, count, datatype), buf, count, datatype, status);
}

int mur_mpi_file_write_all(struct mur_file *fh, const void *buf, MPI_Count count, struct mur_type *datatype,
                           MPI_Status *status)
{
    return write_at(fh, advance(fh, count, datatype), buf, count, datatype, status);
}
