/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/lock.h"

#include <errno.h>

#include "engine/lock.h"
#include "io/shared_state.h"
#include "io/driver.h"

int mur_file_lock(struct mur_file *file, bool is_exclusive, MPI_Offset offset, MPI_Offset length)
{
    int rc;

    while (file->is_locked)
        mur_engine_give_way();
    file->is_locked = true;
    rc = file->driver->lock(file->fd, is_exclusive, (off_t)offset, (off_t)length);
    file->is_locked = rc == 0;
    return rc;
}

void mur_file_unlock(struct mur_file *file, MPI_Offset offset, MPI_Offset length)
{
    file->driver->unlock(file->fd, (off_t)offset, (off_t)length);
    file->is_locked = false;
}

static bool has_gate(const struct mur_file *file)
{
    return file->shared && file->driver->is_coherent;
}

bool mur_file_may_sieve_writes(const struct mur_file *file)
{
    return file->amode & MPI_MODE_RDWR && file->hints.ds_write != MUR_DISABLE && !file->is_atomic &&
           (has_gate(file) || file->hints.ds_write == MUR_ENABLE);
}

bool mur_file_must_lock(const struct mur_file *file)
{
    if (file->driver->widens_writes)
        return !file->is_atomic; /* else the whole access is locked */
    return !has_gate(file) && mur_file_may_sieve_writes(file);
}

int mur_io_lock_sieve(struct mur_file *file, MPI_Offset offset, size_t bytes, bool *is_locked)
{
    *is_locked = mur_file_lock(file, true, offset, (MPI_Offset)bytes) == 0;
    return *is_locked || !mur_file_must_lock(file) ? 0 : -1;
}

/* A server may have no locks: that is for users of NFS to know; but sieves of others must not be missed. */
int mur_io_lock_writes_begin(struct mur_file *file, MPI_Offset first, MPI_Offset end, bool *is_locked)
{
    *is_locked = false;
    if (!mur_file_must_lock(file))
        return 0;
    *is_locked = mur_file_lock(file, true, first, end - first) == 0;
    return *is_locked || !mur_file_may_sieve_writes(file) ? 0 : -1;
}

void mur_io_lock_writes_end(struct mur_file *file, MPI_Offset first, MPI_Offset end, bool is_locked)
{
    int number = errno;

    if (is_locked)
        mur_file_unlock(file, first, end - first);
    errno = number;
}

ssize_t mur_io_lock_writes_one(struct mur_file *file, const char *memory, struct mur_view_segment segment,
                               bool is_locked)
{
    ssize_t done;

    if (is_locked)
        return file->driver->write(file->fd, memory, segment.bytes, (off_t)segment.offset);
    mur_shared_state_gate_enter(file->shared, segment.offset, segment.offset + (MPI_Offset)segment.bytes, false);
    done = file->driver->write(file->fd, memory, segment.bytes, (off_t)segment.offset);
    mur_shared_state_gate_leave(file->shared);
    return done;
}

ssize_t mur_file_transfer(struct mur_file *file, char *memory, struct mur_view_segment segment, bool is_write)
{
    MPI_Offset end = segment.offset + (MPI_Offset)segment.bytes;
    bool is_locked;
    ssize_t done;

    if (!is_write)
        return file->driver->read(file->fd, memory, segment.bytes, (off_t)segment.offset);
    if (mur_io_lock_writes_begin(file, segment.offset, end, &is_locked))
        return -1;
    done = mur_io_lock_writes_one(file, memory, segment, is_locked);
    mur_io_lock_writes_end(file, segment.offset, end, is_locked);
    return done;
}
