/* SPDX-License-Identifier: BSD-3-Clause */
/* Access by one rank alone. Where the view is one run of bytes, it is taken a piece at a time, straight from the user's
 * memory if that is one run as well. Else the stretches of the view are read or written one by one, or, where they are
 * small and near each other, sieved: a larger stretch of the file is read at once, and what the view shows is copied
 * out of it, or into it before it is written back. In atomic mode a lock keeps all other accesses out meanwhile. */
#include "io/independent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/access.h"
#include "io/shared_state.h"
#include "io/driver.h"
#include "io/lock.h"

enum {
    PIECE = 4 << 20,   /* of a nonblocking access, */
    LARGEST = 1 << 30, /* and of a blocking one: below what a system call can move */
    STAGING = 1 << 20,
    BACKGROUND_MIN = 64 << 10, /* bytes from which on it pays to let the kernel do it meanwhile */
    SEGMENTS = 64,
    READ_STRIDE = 8 << 10, /* bytes from stretch to stretch up to which it is cheaper to read what lies between, */
    WRITE_STRIDE = 2 << 10 /* and to write it as well */
};

static bool fail(struct mur_access *access, int number)
{
    access->error = mur_file_error(number, access->is_write ? "write" : "read", access->file->name);
    access->failed = number;
    return true;
}

static bool fail_memory(struct mur_access *access)
{
    access->error = mur_error(MPI_ERR_NO_MEM, "no memory to gather data for file '%s'", access->file->name);
    access->failed = ENOMEM;
    return true;
}

/* The file keeps one such buffer between accesses. */
static bool has_staging(struct mur_access *access, size_t bytes)
{
    struct mur_file *file = access->file;

    if (access->alone.staging_bytes >= bytes)
        return true;
    free(access->alone.staging);
    access->alone.staging = file->staging;
    access->alone.staging_bytes = file->staging_bytes;
    file->staging = NULL;
    file->staging_bytes = 0;
    if (access->alone.staging_bytes >= bytes)
        return true;
    free(access->alone.staging);
    access->alone.staging = malloc(bytes);
    access->alone.staging_bytes = access->alone.staging ? bytes : 0;
    return access->alone.staging != NULL;
}

void mur_independent_end(struct mur_access *access)
{
    struct mur_file *file = access->file;

    if (!file->staging) {
        file->staging = access->alone.staging;
        file->staging_bytes = access->alone.staging_bytes;
    } else {
        free(access->alone.staging);
    }
    access->alone.staging = NULL;
    access->alone.staging_bytes = 0;
}

/* ---- stretches one by one ---- */

static ssize_t read_segments(struct mur_file *file, char *memory, const struct mur_view_segment *segments, int count)
{
    size_t moved = 0;

    for (int i = 0; i < count; i++) {
        ssize_t done = mur_file_transfer(file, memory + moved, segments[i], false);

        if (done < 0)
            return -1;
        moved += (size_t)done;
        if ((size_t)done < segments[i].bytes)
            break;
    }
    return (ssize_t)moved;
}

static ssize_t write_segments(struct mur_file *file, const char *memory, const struct mur_view_segment *segments,
                              int count)
{
    MPI_Offset first = segments[0].offset, end = first;
    size_t moved = 0;
    ssize_t done = 0;
    bool is_locked;

    for (int i = 0; i < count; i++) {
        MPI_Offset last = segments[i].offset + (MPI_Offset)segments[i].bytes;

        first = segments[i].offset < first ? segments[i].offset : first;
        end = last > end ? last : end;
    }
    if (mur_io_lock_writes_begin(file, first, end, &is_locked))
        return -1;
    for (int i = 0; i < count && done >= 0; i++) {
        done = mur_io_lock_writes_one(file, memory + moved, segments[i], is_locked);
        moved += segments[i].bytes;
    }
    mur_io_lock_writes_end(file, first, end, is_locked);
    return done < 0 ? -1 : (ssize_t)moved;
}

/* `bytes` of data between the view at `walk` and memory that is one run. Returns bytes, or -1 with errno. */
static ssize_t transfer_run(const struct mur_access *access, struct mur_cursor *walk, char *memory, size_t bytes)
{
    struct mur_view_segment segments[SEGMENTS];
    size_t moved = 0;
    int count;

    while (moved < bytes && (count = mur_view_segments(walk, segments, SEGMENTS, bytes - moved)) > 0) {
        ssize_t done = access->is_write ? write_segments(access->file, memory + moved, segments, count)
                                        : read_segments(access->file, memory + moved, segments, count);
        size_t wanted = 0;

        if (done < 0)
            return -1;
        for (int i = 0; i < count; i++)
            wanted += segments[i].bytes;
        moved += (size_t)done;
        if ((size_t)done < wanted)
            break;
    }
    return (ssize_t)moved;
}

/* A piece has been moved between file and `run`, as far as the file reaches. */
static bool take_piece(struct mur_access *access, const char *run, size_t bytes, size_t done)
{
    struct mur_cursor *memory = &access->memory;

    if (memory->type->is_dense)
        memory->position += done;
    else if (!access->is_write)
        mur_cursor_unpack(memory, run, done);
    access->moved += done;
    return done < bytes || !mur_access_rest(access);
}

bool mur_independent_is_for_background(const struct mur_access *access)
{
    const struct mur_file *file = access->file;

    return access->request && file->shape->is_dense && !file->is_atomic && mur_access_rest(access) >= BACKGROUND_MIN &&
           mur_async_is_there(file, access->is_write);
}

/* A nonblocking access of one run. Where it is not possible, the caller goes on by itself. */
static bool begin_piece(struct mur_access *access, char *run, size_t bytes)
{
    struct mur_file *file = access->file;
    MPI_Offset offset = file->displacement + access->start + (MPI_Offset)access->moved;

    return bytes >= BACKGROUND_MIN && mur_independent_is_for_background(access) &&
           mur_async_start(&access->alone.background, file, access->is_write, run, bytes, offset);
}

static bool end_piece(struct mur_access *access)
{
    struct mur_async *background = &access->alone.background;
    size_t bytes = background->bytes;
    ssize_t done;

    if (mur_async_is_busy(background))
        return false;
    done = mur_async_end(background, access->file);
    return done < 0 ? fail(access, errno) : take_piece(access, background->memory, bytes, (size_t)done);
}

/* Through a buffer where memory is not one run. */
static bool step_staged(struct mur_access *access, size_t bytes)
{
    struct mur_cursor walk;
    ssize_t done;

    bytes = bytes < STAGING ? bytes : STAGING;
    if (!has_staging(access, bytes))
        return fail_memory(access);
    if (access->is_write)
        mur_cursor_pack(&access->memory, access->alone.staging, bytes);
    if (begin_piece(access, access->alone.staging, bytes))
        return false;
    mur_view_start(access->file, access->start + (MPI_Offset)access->moved, &walk);
    done = transfer_run(access, &walk, access->alone.staging, bytes);
    return done < 0 ? fail(access, errno) : take_piece(access, access->alone.staging, bytes, (size_t)done);
}

/* The next `bytes`, at most a piece. */
static bool step_plain(struct mur_access *access, size_t bytes)
{
    char *run = access->memory.buffer + access->memory.position;
    struct mur_cursor walk;
    ssize_t done;

    if (!access->memory.type->is_dense)
        return step_staged(access, bytes);
    bytes = bytes < LARGEST ? bytes : LARGEST;
    if (begin_piece(access, run, bytes))
        return false;
    if (bytes > PIECE && (access->request || !access->file->shape->is_dense))
        bytes = PIECE;
    mur_view_start(access->file, access->start + (MPI_Offset)access->moved, &walk);
    done = transfer_run(access, &walk, run, bytes);
    return done < 0 ? fail(access, errno) : take_piece(access, run, bytes, (size_t)done);
}

/* ---- sieving ---- */

/* A stretch of the file, and what the view shows of it. */
struct sieve {
    MPI_Offset offset, end;
    size_t bytes; /* of data */
};

static bool may_sieve(const struct mur_access *access)
{
    const struct mur_file *file = access->file;

    if (!mur_access_is_ordered(access) || file->is_atomic)
        return false;
    if (!access->is_write)
        return file->hints.ds_read != MUR_DISABLE;
    return mur_file_may_sieve_writes(file);
}

/* Whether the stretches that come next are small and near enough. */
static bool is_worth_it(const struct mur_access *access, MPI_Offset position)
{
    const struct mur_file *file = access->file;
    long choice = access->is_write ? file->hints.ds_write : file->hints.ds_read;
    struct mur_view_segment segments[SEGMENTS];
    struct mur_cursor walk;
    MPI_Offset reach;
    int count;

    if (choice == MUR_ENABLE)
        return true;
    mur_view_start(file, position, &walk);
    count = mur_view_segments(&walk, segments, SEGMENTS, mur_access_rest(access));
    if (count < 2)
        return false;
    reach = segments[count - 1].offset - segments[0].offset;
    return reach / (count - 1) <= (access->is_write ? WRITE_STRIDE : READ_STRIDE);
}

static size_t sieve_bytes(const struct mur_access *access)
{
    long hint = access->is_write ? access->file->hints.write_sieve : access->file->hints.read_sieve;

    return hint < 4096 ? 4096 : (size_t)hint;
}

/* Sieves end where pages do. */
static struct sieve next_sieve(const struct mur_access *access, MPI_Offset position)
{
    size_t most = sieve_bytes(access), rest = mur_access_rest(access);
    struct sieve sieve = {.offset = mur_view_byte(access->file, position)};
    MPI_Offset end = (sieve.offset + (MPI_Offset)most) & ~(MPI_Offset)4095;
    MPI_Offset bytes = mur_view_position(access->file, end > sieve.offset ? end : sieve.offset + 1) - position;

    sieve.bytes = (size_t)bytes < rest ? (size_t)bytes : rest;
    sieve.end = mur_view_byte(access->file, position + (MPI_Offset)sieve.bytes - 1) + 1;
    return sieve;
}

static bool sieve_read(struct mur_access *access, MPI_Offset position, const struct sieve *sieve)
{
    const struct mur_file *file = access->file;
    size_t span = (size_t)(sieve->end - sieve->offset), bytes = sieve->bytes;
    ssize_t got = file->driver->read(file->fd, access->alone.staging, span, (off_t)sieve->offset);

    if (got < 0)
        return fail(access, errno);
    if ((size_t)got < span)
        bytes = (size_t)(mur_view_position(file, sieve->offset + got) - position);
    mur_view_get(file, position, bytes, &access->memory, access->alone.staging, sieve->offset);
    access->moved += bytes;
    return (size_t)got < span || !mur_access_rest(access);
}

/* What lies between is written back as it was read: nobody may change it meanwhile. The gate sees to that for those who
 * opened the file together on one host, the lock for sieves of others. */
static bool sieve_write(struct mur_access *access, MPI_Offset position, const struct sieve *sieve)
{
    struct mur_file *file = access->file;
    size_t span = (size_t)(sieve->end - sieve->offset);
    bool is_locked;
    ssize_t done;
    int number;

    if (!mur_shared_state_gate_enter(file->shared, sieve->offset, sieve->end, true))
        return step_plain(access, sieve->bytes);
    done = mur_io_lock_sieve(file, sieve->offset, span, &is_locked);
    if (done >= 0 && sieve->bytes < span)
        done = file->driver->read(file->fd, access->alone.staging, span, (off_t)sieve->offset);
    if (done >= 0) {
        memset(access->alone.staging + done, 0, span - (size_t)done);
        mur_view_put(file, position, sieve->bytes, &access->memory, access->alone.staging, sieve->offset, false);
        done = file->driver->write(file->fd, access->alone.staging, span, (off_t)sieve->offset);
    }
    number = errno;
    if (is_locked)
        mur_file_unlock(file, sieve->offset, (MPI_Offset)span);
    mur_shared_state_gate_leave(file->shared);
    if (done < 0)
        return fail(access, number);
    access->moved += sieve->bytes;
    return !mur_access_rest(access);
}

static bool step_strided(struct mur_access *access)
{
    MPI_Offset position = access->start + (MPI_Offset)access->moved;
    struct sieve sieve;

    if (!may_sieve(access) || !is_worth_it(access, position))
        return step_plain(access, mur_access_rest(access));
    sieve = next_sieve(access, position);
    if (sieve.bytes == (size_t)(sieve.end - sieve.offset))
        return step_plain(access, sieve.bytes);
    if (!has_staging(access, (size_t)(sieve.end - sieve.offset)))
        return fail_memory(access);
    return access->is_write ? sieve_write(access, position, &sieve) : sieve_read(access, position, &sieve);
}

/* ---- the whole ---- */

static bool step(struct mur_access *access)
{
    return access->file->shape->is_dense ? step_plain(access, mur_access_rest(access)) : step_strided(access);
}

/* In atomic mode all of it at once, between lock and unlock. */
static bool step_atomic(struct mur_access *access)
{
    struct mur_file *file = access->file;
    MPI_Offset end = access->start + (MPI_Offset)access->memory.bytes;
    bool is_ordered = mur_access_is_ordered(access);
    MPI_Offset first = is_ordered ? mur_view_byte(file, access->start) : 0;
    MPI_Offset length = is_ordered ? mur_view_byte(file, end - 1) + 1 - first : 0;

    if (mur_file_lock(file, access->is_write, first, length))
        return fail(access, errno);
    while (!step(access))
        ;
    mur_file_unlock(file, first, length);
    return true;
}

bool mur_independent_step(struct mur_access *access)
{
    if (access->alone.background.bytes)
        return end_piece(access);
    if (access->error || !mur_access_rest(access) || !access->file->shape->size)
        return true;
    if (!access->is_write && access->file->is_stale && mur_file_settle(access->file))
        return fail(access, errno);
    access->file->is_dirty |= access->is_write;
    return access->file->is_atomic ? step_atomic(access) : step(access);
}
