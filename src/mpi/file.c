/* SPDX-License-Identifier: BSD-3-Clause */
/* Files (MPI-5.0 §14): the bodies of opening, views, and individual pointers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "io/datarep.h"
#include "io/driver.h"
#include "io/file.h"
#include "io/pointer.h"
#include "mpi/bodies.h"
#include "mpi/errors.h"
#include "mpi/file.h"
#include "object/comm.h"
#include "object/group.h"
#include "object/info.h"
#include "object/request.h"

int mur_mpi_file_open(int refused, struct mur_comm *comm, const char *filename, int amode, struct mur_info *info,
                      MPI_File *fh)
{
    struct mur_file *file = NULL;
    int rc = mur_file_open(comm, filename, amode, info, *mur_file_errhandler(MPI_FILE_NULL), refused, &file);

    if (!rc)
        *fh = (MPI_File)file;
    return rc;
}

int mur_mpi_file_close(MPI_File *fh)
{
    struct mur_file *file = mur_object_find(*fh, MUR_KIND_FILE);
    int rc;

    if (!file)
        return mur_error(MPI_ERR_FILE, *fh == MPI_FILE_NULL ? "fh is MPI_FILE_NULL, which cannot be closed"
                                                            : "fh is no live file; has it been closed already?");
    rc = mur_file_check_idle(file);
    if (rc)
        return rc;
    *fh = MPI_FILE_NULL;
    return mur_file_close(file);
}

int mur_mpi_file_delete(const char *filename, struct mur_info *info)
{
    const struct mur_driver *driver;

    (void)info;
    filename = mur_driver_prefix(filename, &driver);
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
    return mur_file_check_random(file);
}

/* All ranks must have asked for the same. */
static int change_size(int refused, struct mur_file *file, MPI_Offset size, int (*change)(int fd, off_t size),
                       const char *what)
{
    bool is_same = true;
    int rc = mur_file_agree(file, refused ? refused : check_size(file, size), what);

    if (!rc && file->comm->size > 1)
        rc = mur_file_compare(file, size, &is_same);
    if (rc)
        return rc;
    if (!is_same)
        return mur_error(MPI_ERR_NOT_SAME, "size is %lld bytes here, but must be the same at all ranks",
                         (long long)size);
    return mur_file_change_size(file, size, change, what);
}

int mur_mpi_file_set_size(int refused, struct mur_file *fh, MPI_Offset size)
{
    return change_size(refused, fh, size, ftruncate, "set the size of");
}

/* A signal undoes all of a call on some file systems: where it would never end, it is done by shorter ones. */
static int allocate(int fd, off_t size)
{
    const off_t least = 4096;
    off_t done = 0, piece = size;

    while (done < size) {
        int number = posix_fallocate(fd, done, piece < size - done ? piece : size - done);

        if (number == EINTR) {
            piece = piece > 2 * least ? (piece / 2 + least - 1) / least * least : least;
        } else if (number) {
            errno = number;
            return -1;
        } else {
            done += piece < size - done ? piece : size - done;
        }
    }
    return 0;
}

int mur_mpi_file_preallocate(int refused, struct mur_file *fh, MPI_Offset size)
{
    return change_size(refused, fh, size, allocate, "allocate space for");
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

int mur_mpi_file_set_info(int refused, struct mur_file *fh, struct mur_info *info)
{
    int rc = mur_file_agree(fh, refused, "set the hints of");

    mur_request_drain(fh->comm); /* what all ranks have started goes by the hints of then */
    return rc ? rc : mur_hints_set(fh, info);
}

int mur_mpi_file_get_info(struct mur_file *fh, MPI_Info *info_used)
{
    struct mur_info *copy;
    int rc = mur_info_dup(fh->info, &copy);

    if (!rc)
        *info_used = (MPI_Info)copy;
    return rc;
}

/* Where a file can only be passed through, a view begins where the shared file pointer is. */
static int find_displacement(struct mur_file *file, MPI_Offset *disp)
{
    MPI_Offset pointer;
    int rc;

    if (!(file->amode & MPI_MODE_SEQUENTIAL))
        return *disp == MPI_DISPLACEMENT_CURRENT
                   ? mur_error(MPI_ERR_ARG, "disp is MPI_DISPLACEMENT_CURRENT, which is for files opened with "
                                            "MPI_MODE_SEQUENTIAL")
                   : MPI_SUCCESS;
    if (*disp != MPI_DISPLACEMENT_CURRENT)
        return mur_error(MPI_ERR_ARG,
                         "disp is %lld, but must be MPI_DISPLACEMENT_CURRENT for a file that was opened with "
                         "MPI_MODE_SEQUENTIAL",
                         (long long)*disp);
    rc = mur_pointer_add(file, 0, &pointer);
    *disp = mur_view_byte(file, pointer * file->unit);
    return rc;
}

int mur_mpi_file_set_view(int refused, struct mur_file *fh, MPI_Offset disp, struct mur_type *etype,
                          struct mur_type *filetype, const char *datarep, struct mur_info *info)
{
    int rc = refused;

    if (!rc)
        rc = mur_file_check_idle(fh);
    if (!rc)
        rc = find_displacement(fh, &disp);
    rc = mur_file_agree(fh, rc, "set the view of");
    if (!rc)
        rc = mur_view_set(fh, disp, etype, filetype, datarep);
    if (!rc)
        rc = mur_hints_set(fh, info);
    return rc ? rc : mur_pointer_set(fh, 0);
}

int mur_mpi_file_get_type_extent(struct mur_file *fh, struct mur_type *datatype, MPI_Count *extent)
{
    struct mur_type *shape;
    int rc;

    *extent = datatype->extent;
    if (!fh->rep)
        return MPI_SUCCESS;
    rc = mur_shape_create(fh->rep, datatype, &shape);
    if (rc)
        return rc;
    *extent = shape->extent;
    mur_type_release(shape);
    return MPI_SUCCESS;
}

int mur_mpi_file_set_atomicity(struct mur_file *fh, int flag)
{
    bool is_same;
    int rc = mur_file_compare(fh, flag != 0, &is_same);

    if (rc)
        return rc;
    if (!is_same)
        return mur_error(MPI_ERR_NOT_SAME, "flag is %d here, but must be the same at all ranks", flag);
    fh->is_atomic = flag != 0;
    return MPI_SUCCESS;
}

int mur_mpi_file_get_atomicity(struct mur_file *fh, int *flag)
{
    *flag = fh->is_atomic;
    return MPI_SUCCESS;
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

int mur_file_check_random(const struct mur_file *file)
{
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return mur_error(MPI_ERR_UNSUPPORTED_OPERATION,
                         "file '%s' was opened with MPI_MODE_SEQUENTIAL: it has a shared "
                         "file pointer only",
                         file->name);
    return MPI_SUCCESS;
}

int mur_file_check_idle(const struct mur_file *file)
{
    if (file->split)
        return mur_error(MPI_ERR_IO, "a split collective access to file '%s' has begun and not ended", file->name);
    return MPI_SUCCESS;
}

int mur_file_seek(struct mur_file *file, MPI_Offset current, MPI_Offset offset, int whence, MPI_Offset *place)
{
    MPI_Offset size;
    int rc;

    *place = 0;
    if (whence == MPI_SEEK_CUR) {
        *place = current;
    } else if (whence == MPI_SEEK_END) {
        rc = mur_file_size(file, &size);
        if (rc)
            return rc;
        *place = (mur_view_position(file, size) + file->unit - 1) / file->unit;
    } else if (whence != MPI_SEEK_SET) {
        return mur_error(MPI_ERR_ARG, "whence is %d, but must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    }
    if (__builtin_add_overflow(*place, offset, place))
        return mur_error(MPI_ERR_ARG, "the file pointer would become larger than any, by an offset of %lld",
                         (long long)offset);
    if (*place < 0)
        return mur_error(MPI_ERR_ARG, "the file pointer would become %lld, but must be 0 or more", (long long)*place);
    return MPI_SUCCESS;
}

int mur_mpi_file_seek(struct mur_file *fh, MPI_Offset offset, int whence)
{
    MPI_Offset place;
    int rc = mur_file_check_random(fh);

    if (!rc)
        rc = mur_file_seek(fh, fh->pointer, offset, whence, &place);
    if (!rc)
        fh->pointer = place;
    return rc;
}

int mur_mpi_file_get_position(struct mur_file *fh, MPI_Offset *offset)
{
    int rc = mur_file_check_random(fh);

    *offset = fh->pointer;
    return rc;
}

int mur_mpi_file_get_byte_offset(struct mur_file *fh, MPI_Offset offset, MPI_Offset *disp)
{
    if (offset < 0)
        return mur_error(MPI_ERR_ARG, "offset is %lld, but must be 0 or more", (long long)offset);
    if (!mur_view_has_place(fh, offset, 0))
        return mur_error(MPI_ERR_ARG, "offset is %lld, which is beyond where any file can end", (long long)offset);
    *disp = fh->shape->size ? mur_view_byte(fh, offset * fh->unit) : fh->displacement;
    return MPI_SUCCESS;
}

/* Collective, so that what one rank has written is on disk before another one goes on (§14.6.1). */
int mur_mpi_file_sync(struct mur_file *fh)
{
    int rc = mur_file_check_idle(fh);

    fh->is_dirty = false;
    if (!rc && fh->driver->sync(fh->fd))
        rc = mur_file_error(errno, "sync", fh->name);
    rc = mur_file_agree(fh, rc, "sync");
    fh->is_stale = true; /* others may have written out more since this rank looked again */
    return rc;
}
