/* SPDX-License-Identifier: BSD-3-Clause */
/* File systems whose hosts see each other's writes at once, and those whose clients cache what they have read (NFS) and
 * look again when they take a lock: there sync takes one, and nothing is sieved or written without. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/counters.h"
#include "engine/lock.h"
#include "engine/rest.h"
#include "io/driver.h"

enum {
    LONG_CALL = 64 << 10 /* bytes from which on other threads may enter MPI meanwhile */
};

static ssize_t posix_read(int fd, void *memory, size_t bytes, off_t offset)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t moved = pread(fd, (char *)memory + done, bytes - done, offset + (off_t)done);

        if (moved < 0 && errno != EINTR)
            return -1;
        if (moved == 0)
            break;
        done += moved > 0 ? (size_t)moved : 0;
    }
    return (ssize_t)done;
}

/* A write of no bytes would go on for ever: taken for a full device. */
static ssize_t posix_write(int fd, const void *memory, size_t bytes, off_t offset)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t moved;

        if (mur_driver_is_beyond_limit(offset + (off_t)done + 1)) {
            errno = EFBIG;
            return -1;
        }
        moved = pwrite(fd, (const char *)memory + done, bytes - done, offset + (off_t)done);

        if (moved < 0 && errno != EINTR)
            return -1;
        if (moved == 0) {
            errno = ENOSPC;
            return -1;
        }
        done += moved > 0 ? (size_t)moved : 0;
    }
    return (ssize_t)done;
}

static ssize_t count_read(ssize_t done)
{
    mur_counters.file_reads++;
    mur_counters.file_read_bytes += done > 0 ? (size_t)done : 0;
    return done;
}

static ssize_t count_write(ssize_t done)
{
    mur_counters.file_writes++;
    mur_counters.file_write_bytes += done > 0 ? (size_t)done : 0;
    return done;
}

static ssize_t shared_read(int fd, void *memory, size_t bytes, off_t offset)
{
    ssize_t done;
    int number;

    if (bytes < LONG_CALL)
        return count_read(posix_read(fd, memory, bytes, offset));
    mur_engine_unlock();
    done = posix_read(fd, memory, bytes, offset);
    number = errno;
    mur_engine_lock();
    errno = number;
    return count_read(done);
}

static ssize_t shared_write(int fd, const void *memory, size_t bytes, off_t offset)
{
    ssize_t done;
    int number;

    if (bytes < LONG_CALL)
        return count_write(posix_write(fd, memory, bytes, offset));
    mur_engine_unlock();
    done = posix_write(fd, memory, bytes, offset);
    number = errno;
    mur_engine_lock();
    errno = number;
    return count_write(done);
}

static void posix_fetch(int fd, size_t bytes, off_t offset)
{
    posix_fadvise(fd, offset, (off_t)bytes, POSIX_FADV_WILLNEED);
}

static int posix_sync(int fd)
{
    int rc;

    do
        rc = fsync(fd);
    while (rc && errno == EINTR);
    if (rc && (errno == EINVAL || errno == EROFS)) /* a kind of file that has nothing to sync */
        rc = 0;
    return rc;
}

/* Locks of the open file, not of the process, so that two openings in one process exclude each other, too. Kernels and
 * file systems without them have the other kind. */
struct wanted_lock {
    int fd;
    struct flock lock;
};

static int set_lock(const struct wanted_lock *wanted, bool may_wait)
{
    struct flock lock = wanted->lock;
    int rc;

    do
        rc = fcntl(wanted->fd, may_wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    while (rc && errno == EINTR);
    if (rc && errno == EINVAL)
        do
            rc = fcntl(wanted->fd, may_wait ? F_SETLKW : F_SETLK, &lock);
        while (rc && errno == EINTR);
    return rc;
}

/* Which file, and who has the lock, which the system tells only where that is a lock of a process. */
static void describe_lock(const void *what)
{
    const struct wanted_lock *wanted = what;
    struct mur_look_wait *wait = mur_rest_add(MUR_WAIT_FILE_LOCK);
    struct flock holder = wanted->lock;
    char link[40], path[512];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", wanted->fd);
    length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    mur_rest_name(wait, length < MUR_LOOK_NAME ? path : path + length - MUR_LOOK_NAME + 1); /* its end says more */
    if (fcntl(wanted->fd, F_OFD_GETLK, &holder) == 0 && holder.l_type != F_UNLCK && holder.l_pid > 0)
        wait->holder = holder.l_pid;
}

/* Whom it waits for may be another thread of this process, which needs the engine's lock to go on. Where it has to
 * wait, it says so first. */
static int posix_lock(int fd, bool is_exclusive, off_t offset, off_t length)
{
    struct wanted_lock wanted = {.fd = fd,
                                 .lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = length}};
    int rc, number;

    if (is_exclusive)
        wanted.lock.l_type = F_WRLCK;
    mur_engine_unlock();
    rc = set_lock(&wanted, false);
    number = errno;
    mur_engine_lock();
    if (rc && (number == EAGAIN || number == EACCES)) {
        mur_rest_in_system(describe_lock, &wanted);
        mur_engine_unlock();
        rc = set_lock(&wanted, true);
        number = errno;
        mur_engine_lock();
        mur_rest_in_system_over();
    }
    errno = number;
    return rc;
}

static int posix_unlock(int fd, off_t offset, off_t length)
{
    const struct wanted_lock wanted = {
        .fd = fd, .lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = length}};

    return set_lock(&wanted, false);
}

/* A file opened for writing only cannot be read-locked, but needs no second look either. */
static int nfs_sync(int fd)
{
    int rc = posix_sync(fd);

    if (!rc && posix_lock(fd, false, 0, 0) == 0)
        rc = posix_unlock(fd, 0, 0);
    return rc;
}

const struct mur_driver mur_driver_posix = {.name = "posix",
                                            .is_coherent = true,
                                            .read = shared_read,
                                            .write = shared_write,
                                            .fetch = posix_fetch,
                                            .sync = posix_sync,
                                            .lock = posix_lock,
                                            .unlock = posix_unlock};

const struct mur_driver mur_driver_nfs = {.name = "nfs",
                                          .widens_writes = true,
                                          .read = shared_read,
                                          .write = shared_write,
                                          .fetch = posix_fetch,
                                          .sync = nfs_sync,
                                          .lock = posix_lock,
                                          .unlock = posix_unlock};
