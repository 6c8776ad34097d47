/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing. Rank 0 goes first, so that MPI_MODE_CREATE and MPI_MODE_EXCL happen once; each step's outcome
 * is agreed upon, so that either all ranks have the file or all get an error and none waits for another. */
#define _GNU_SOURCE
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "coll/coll.h"
#include "comm/create.h"
#include "io/access.h"
#include "io/driver.h"
#include "io/pointer.h"
#include "object/errhandler.h"
#include "object/info.h"
#include "object/request.h"

static struct mur_pool file_pool = MUR_POOL(MUR_KIND_FILE, struct mur_file, "files");
static struct mur_file *open_files;

static int class_of(int number)
{
    switch (number) {
    case EACCES:
    case EPERM:
        return MPI_ERR_ACCESS;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
        return MPI_ERR_BAD_FILE;
    case ENOSPC:
    case EFBIG:
        return MPI_ERR_NO_SPACE;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
        return MPI_ERR_FILE_IN_USE;
    case ENOMEM:
        return MPI_ERR_NO_MEM;
    case ESPIPE:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
        return MPI_ERR_IO;
    }
}

/* The end of a long name, so that there is room for what follows. */
struct shown {
    const char *dots, *name;
};

static struct shown shown(const char *name)
{
    const size_t most = 150, length = strlen(name);

    return length <= most ? (struct shown){"", name} : (struct shown){"...", name + length - most};
}

int mur_file_error(int number, const char *what, const char *name)
{
    const struct shown end = shown(name);

    return mur_error(class_of(number), "cannot %s file '%s%s': %s", what, end.dots, end.name, strerror(number));
}

int mur_file_error_at(int number, const char *what, const char *name, int rank)
{
    const struct shown end = shown(name);

    return mur_error(class_of(number), "cannot %s file '%s%s': %s (at rank %d of its communicator)", what, end.dots,
                     end.name, strerror(number), rank);
}

struct mur_file *mur_file_of_context(uint32_t context)
{
    struct mur_file *file = open_files;

    while (file && file->comm->context != context)
        file = file->next_open;
    return file;
}

/* The largest of each of `count` ints over all ranks. */
static int agree_max(struct mur_comm *comm, int *values, int count)
{
    struct mur_schedule *s = mur_file_schedule(comm);

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to open or close a file");
    mur_coll_allreduce(s, MPI_IN_PLACE, values, count, mur_type_find(MPI_INT), mur_op_find(MPI_MAX));
    return mur_schedule_run(s);
}

struct mur_schedule *mur_file_schedule(struct mur_comm *comm)
{
    struct mur_schedule *s = mur_schedule_create_strict(comm);

    if (!s)
        mur_collective_no_memory(comm);
    return s;
}

int mur_file_hear(struct mur_comm *comm, int failed, int rc, const char *what, const char *name)
{
    struct {
        int class;
        char text[400];
    } told = {0};
    struct mur_schedule *s = mur_file_schedule(comm);
    const char *text = rc ? mur_error_text(rc) : NULL;
    int heard;

    if (comm->rank == failed) {
        told.class = mur_error_class(rc);
        snprintf(told.text, sizeof told.text, "%s", text ? text : "it did not say why");
    }
    if (s)
        mur_coll_bcast(s, &told, sizeof told, mur_type_find(MPI_BYTE), failed);
    heard = mur_schedule_run(s);
    if (rc || heard)
        return rc ? rc : heard;
    if (strncmp(told.text, "cannot ", 7) == 0) /* it names the file */
        return mur_error(told.class, "%s (at rank %d of its communicator)", told.text, failed);
    return mur_error(told.class, "cannot %s file '%s%s': rank %d of its communicator failed: %s", what,
                     shown(name).dots, shown(name).name, failed, told.text);
}

/* Success where all ranks had it; a rank's own error, else that of another one. */
static int agree_success(struct mur_comm *comm, int rc, const char *what, const char *name)
{
    int failed = rc ? comm->rank : -1;
    int agreed = agree_max(comm, &failed, 1);

    if (agreed)
        return rc ? rc : agreed;
    return failed < 0 ? MPI_SUCCESS : mur_file_hear(comm, failed, rc, what, name);
}

/* Of the amode ~ turns the order around, as - does, but of all numbers. */
static int check_amode(struct mur_comm *comm, const char *name, int amode, int refused)
{
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    int values[3] = {amode, ~amode, refused ? comm->rank : -1};
    int rc = agree_max(comm, values, 3);

    if (rc)
        return refused ? refused : rc;
    if (values[2] >= 0)
        return mur_file_hear(comm, values[2], refused, "open", name);
    if (values[0] != ~values[1])
        return mur_error(MPI_ERR_NOT_SAME, "amode is %d at one rank and %d at another, but must be the same at all",
                         ~values[1], values[0]);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return mur_error(MPI_ERR_AMODE,
                         "amode must hold exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR");
    if (access == MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return mur_error(MPI_ERR_AMODE, "amode must not hold MPI_MODE_CREATE or MPI_MODE_EXCL with MPI_MODE_RDONLY");
    if (access == MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL)
        return mur_error(MPI_ERR_AMODE, "amode must not hold MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR");
    return MPI_SUCCESS;
}

/* A directory can be opened for reading; what can only be passed through has no places to read and write at. */
static int check_kind(int fd, const char *name)
{
    struct stat status;

    if (fstat(fd, &status))
        return mur_file_error(errno, "open", name);
    if (S_ISDIR(status.st_mode))
        return mur_file_error(EISDIR, "open", name);
    if (S_ISFIFO(status.st_mode) || lseek(fd, 0, SEEK_CUR) < 0)
        return mur_file_error(ESPIPE, "open", name);
    return MPI_SUCCESS;
}

/* Without waiting, as for the other end of a pipe: such a file is refused anyway. */
static int open_one(const char *name, int amode, bool is_first, const struct mur_info *info, int *fd)
{
    int flags = amode & MPI_MODE_RDONLY ? O_RDONLY : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDWR;

    if (is_first && amode & MPI_MODE_CREATE)
        flags |= O_CREAT;
    if (is_first && amode & MPI_MODE_EXCL)
        flags |= O_EXCL;
    mur_driver_learn_limit();
    do
        *fd = open(name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, (mode_t)mur_hints_permissions(info));
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return mur_file_error(errno, "open", name);
    fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
    return check_kind(*fd, name);
}

/* Rank 0 opens first; the others only once it has succeeded. */
static int open_all(struct mur_comm *comm, const char *name, int amode, const struct mur_info *info, int *fd)
{
    int rc = MPI_SUCCESS;

    *fd = -1;
    if (comm->rank == 0)
        rc = open_one(name, amode, true, info, fd);
    rc = agree_success(comm, rc, "open", name);
    if (rc || comm->size == 1)
        return rc;
    if (comm->rank)
        rc = open_one(name, amode, false, info, fd);
    return agree_success(comm, rc, "open", name);
}

static void file_free(struct mur_file *file)
{
    for (struct mur_file **link = &open_files; *link; link = &(*link)->next_open)
        if (*link == file) {
            *link = file->next_open;
            break;
        }
    if (file->fd >= 0)
        close(file->fd);
    mur_shared_state_close(file->shared);
    mur_view_drop_types(file);
    if (file->info)
        mur_info_free(file->info);
    mur_errhandler_release(file->errhandler);
    mur_aggregators_drop(file);
    file->comm->file = NULL;
    mur_comm_release(file->comm);
    mur_exchange_free(file->exchange);
    free(file->staging);
    free(file->name);
    mur_pool_put(&file_pool, file);
}

static int file_create(struct mur_comm *comm, const char *name, int amode, struct mur_errhandler *errhandler,
                       struct mur_file **file_p)
{
    struct mur_file *file = mur_pool_get(&file_pool);
    struct mur_object header;

    if (!file)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a file");
    header = file->object;
    *file = (struct mur_file){.object = header, .fd = -1, .amode = amode, .comm = comm, .errhandler = errhandler};
    mur_comm_retain(comm);
    comm->file = file;
    mur_errhandler_retain(errhandler);
    file->next_open = open_files;
    open_files = file;
    *file_p = file;
    file->name = strdup(mur_driver_prefix(name, &file->driver));
    return file->name ? mur_info_create(&file->info) : mur_error(MPI_ERR_NO_MEM, "no memory for a file's name");
}

/* What collective access needs, so that no rank lacks it then. */
static int provide_memory(struct mur_file *file)
{
    int rc = mur_shared_state_open(file->comm, &file->shared);

    return rc || file->shared ? rc : mur_exchange_provide(file);
}

/* What is opened, all ranks together, once each of them has its file object. */
static int open_file(struct mur_file *file, const struct mur_info *info)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int rc = open_all(file->comm, file->name, file->amode, info, &file->fd);

    if (!rc)
        rc = mur_file_agree(file, provide_memory(file), "open");
    if (!rc)
        rc = mur_hints_set(file, info);
    if (!rc)
        rc = mur_view_set(file, 0, byte, byte, "native");
    if (rc)
        return rc;
    if (!file->driver)
        file->driver = mur_driver_find(file->fd);
    if (file->amode & MPI_MODE_APPEND) {
        rc = mur_file_agree(file, mur_file_size(file, &file->pointer), "open");
        if (!rc)
            rc = mur_pointer_set(file, file->pointer);
    }
    return rc;
}

static int open_on(struct mur_comm *comm, const char *name, int amode, const struct mur_info *info,
                   struct mur_errhandler *errhandler, int refused, struct mur_file **file_p)
{
    struct mur_file *file = NULL;
    int rc = check_amode(comm, name, amode, refused);

    if (rc)
        return rc;
    rc = agree_success(comm, file_create(comm, name, amode, errhandler, &file), "open", name);
    if (!rc)
        rc = open_file(file, info);
    if (rc && file)
        file_free(file);
    *file_p = file;
    return rc;
}

int mur_file_open(struct mur_comm *comm, const char *name, int amode, const struct mur_info *info,
                  struct mur_errhandler *errhandler, int refused, struct mur_file **file_p)
{
    struct mur_comm *own;
    int rc;

    if (comm->remote)
        return mur_error(MPI_ERR_COMM, "comm is an intercommunicator, whose two groups cannot open a file together");
    rc = mur_comm_dup(comm, false, &own, NULL);
    if (rc)
        return rc;
    rc = open_on(own, name, amode, info, errhandler, refused, file_p);
    mur_comm_release(own); /* the file has its own reference */
    return rc;
}

/* Once all have closed it; all hear of it if that fails. */
static int delete_closed(const struct mur_file *file, int closed)
{
    int rc = MPI_SUCCESS;

    if (file->comm->rank == 0 && unlink(file->name))
        rc = mur_file_error(errno, "delete", file->name);
    rc = agree_success(file->comm, rc, "delete", file->name);
    return closed ? closed : rc;
}

/* Waits for what is under way. What is on its way to other ranks is theirs already: closing also makes sure that they
 * see what was written (§14.6.1). */
int mur_file_close(struct mur_file *file)
{
    int rc = MPI_SUCCESS;

    mur_request_drain(file->comm);
    if (!file->driver->is_coherent && !(file->amode & MPI_MODE_RDONLY) && file->driver->sync(file->fd))
        rc = mur_file_error(errno, "sync", file->name);
    if (close(file->fd) && errno != EINTR && !rc)
        rc = mur_file_error(errno, "close", file->name);
    file->fd = -1;
    rc = agree_success(file->comm, rc, "close", file->name);
    if (file->amode & MPI_MODE_DELETE_ON_CLOSE)
        rc = delete_closed(file, rc);
    file_free(file);
    return rc;
}

int mur_file_agree(const struct mur_file *file, int rc, const char *what)
{
    return file->comm->size == 1 ? rc : agree_success(file->comm, rc, what, file->name);
}

int mur_file_compare(const struct mur_file *file, MPI_Offset value, bool *is_same)
{
    int64_t values[2] = {value, ~value};
    struct mur_schedule *s = mur_file_schedule(file->comm);
    int rc;

    if (s)
        mur_coll_allreduce(s, MPI_IN_PLACE, values, 2, mur_type_find(MPI_INT64_T), mur_op_find(MPI_MAX));
    rc = mur_schedule_run(s);
    *is_same = values[0] == ~values[1];
    return rc;
}

int mur_file_settle(struct mur_file *file)
{
    if (file->driver->is_coherent || !(file->is_dirty || file->is_stale))
        return 0;
    file->is_dirty = file->is_stale = false;
    return file->driver->sync(file->fd);
}

int mur_file_size(struct mur_file *file, MPI_Offset *size)
{
    struct stat status;

    if ((file->is_stale && mur_file_settle(file)) || fstat(file->fd, &status))
        return mur_file_error(errno, "get the size of", file->name);
    *size = status.st_size;
    return MPI_SUCCESS;
}

int mur_file_change_size(struct mur_file *file, MPI_Offset size, int (*change)(int fd, off_t size), const char *what)
{
    int rc = mur_file_settle(file) ? mur_file_error(errno, what, file->name) : MPI_SUCCESS, number;

    if (!file->driver->is_coherent)
        rc = agree_success(file->comm, rc, what, file->name);
    if (rc)
        return rc;
    if (file->comm->rank == 0) {
        do
            number = mur_driver_is_beyond_limit((off_t)size) ? EFBIG : change(file->fd, (off_t)size) ? errno : 0;
        while (number == EINTR);
        if (number)
            rc = mur_file_error(number, what, file->name);
    }
    file->is_stale = true;
    return agree_success(file->comm, rc, what, file->name);
}
