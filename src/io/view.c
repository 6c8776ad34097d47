/* SPDX-License-Identifier: BSD-3-Clause */
/* Views. A view is a cursor over "so many filetypes at address displacement" that is never dereferenced, only asked
 * where it is: with file offsets in the place of addresses; or with a buffer in the place of the file. */
#include "io/file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "coll/coll.h"
#include "io/datarep.h"

enum { VECTORS = 64, PIECE = 16 << 10, FAR = 1 << 30 };

void mur_view_start(const struct mur_file *file, MPI_Offset position, struct mur_cursor *walk)
{
    MPI_Count stride = file->shape->extent > file->shape->size ? file->shape->extent : file->shape->size;
    MPI_Count tiles = INT64_MAX / (stride > 0 ? stride : 1);

    mur_cursor_start(walk, (const void *)(uintptr_t)file->displacement, tiles, file->shape);
    mur_cursor_seek(walk, (size_t)position);
}

int mur_view_segments(struct mur_cursor *walk, struct mur_view_segment *segments, int max, size_t bytes)
{
    struct iovec vectors[VECTORS];
    int count = mur_cursor_vectors(walk, vectors, max < VECTORS ? max : VECTORS, bytes);

    for (int i = 0; i < count; i++)
        segments[i] = (struct mur_view_segment){(MPI_Offset)(uintptr_t)vectors[i].iov_base, vectors[i].iov_len};
    return count;
}

/* Where the first stretch is too short to be written past the caches, the others are taken to be, too. */
static void unpack_past(struct mur_cursor *view, const char *in, size_t bytes)
{
    struct iovec vectors[VECTORS];

    while (bytes > 0) {
        struct mur_cursor walk = *view;
        int count = mur_cursor_vectors(&walk, vectors, VECTORS, bytes);

        if (count <= 0 || vectors[0].iov_len < MUR_COPY_PAST_LEAST) {
            mur_cursor_unpack(view, in, bytes);
            break;
        }
        for (int i = 0; i < count; i++) {
            mur_copy_past_part(vectors[i].iov_base, in, vectors[i].iov_len);
            in += vectors[i].iov_len;
            bytes -= vectors[i].iov_len;
        }
        *view = walk;
    }
    mur_copy_past_end();
}

static void unpack(struct mur_cursor *view, const char *in, size_t bytes, bool is_past)
{
    if (is_past)
        unpack_past(view, in, bytes);
    else
        mur_cursor_unpack(view, in, bytes);
}

/* Between two layouts, through a piece of memory. */
static void copy_through(struct mur_cursor *from, struct mur_cursor *to, size_t bytes, bool is_past)
{
    char piece[PIECE];

    while (bytes > 0) {
        size_t now = bytes < PIECE ? bytes : PIECE;

        mur_cursor_pack(from, piece, now);
        unpack(to, piece, now, is_past);
        bytes -= now;
    }
}

/* The view's cursor over the buffer in the place of the file. */
static struct mur_cursor view_of(const struct mur_file *file, MPI_Offset position, const char *buffer,
                                 MPI_Offset offset)
{
    struct mur_cursor view;

    mur_view_start(file, position, &view);
    view.buffer = (char *)((uintptr_t)view.buffer + (uintptr_t)buffer - (uintptr_t)offset);
    return view;
}

void mur_view_put(const struct mur_file *file, MPI_Offset position, size_t bytes, struct mur_cursor *memory,
                  char *buffer, MPI_Offset offset, bool is_past)
{
    struct mur_cursor view = view_of(file, position, buffer, offset);

    if (memory->type->is_dense) {
        unpack(&view, memory->buffer + memory->position, bytes, is_past);
        memory->position += bytes;
        return;
    }
    copy_through(memory, &view, bytes, is_past);
}

void mur_view_get(const struct mur_file *file, MPI_Offset position, size_t bytes, struct mur_cursor *memory,
                  const char *buffer, MPI_Offset offset)
{
    struct mur_cursor view = view_of(file, position, buffer, offset);

    if (memory->type->is_dense) {
        mur_cursor_pack(&view, memory->buffer + memory->position, bytes);
        memory->position += bytes;
        return;
    }
    copy_through(&view, memory, bytes, false);
}

MPI_Offset mur_view_byte(const struct mur_file *file, MPI_Offset position)
{
    struct mur_view_segment segment = {.offset = file->displacement};
    struct mur_cursor walk;

    if (file->shape->is_dense)
        return file->displacement + position;
    mur_view_start(file, position, &walk);
    mur_view_segments(&walk, &segment, 1, 1);
    return segment.offset;
}

/* The last tile may reach beyond its extent. Nothing is near the largest offset, so that collective buffers may be
 * added to any. */
bool mur_view_has_place(const struct mur_file *file, MPI_Offset offset, MPI_Count etypes)
{
    const MPI_Offset farthest = INT64_MAX - FAR;
    const struct mur_type *shape = file->shape;
    MPI_Offset end, place;

    if (!shape->size)
        return true;
    return !__builtin_add_overflow(offset, etypes, &end) && !__builtin_mul_overflow(end, file->unit, &end) &&
           !__builtin_mul_overflow(end / shape->size, shape->extent, &place) &&
           !__builtin_add_overflow(place, file->displacement, &place) &&
           !__builtin_add_overflow(place, shape->true_lb + shape->true_extent, &place) && place <= farthest;
}

bool mur_view_is_ordered(const struct mur_file *file, MPI_Offset end)
{
    return file->is_ordered || (file->is_tile_ordered && end <= file->shape->size);
}

MPI_Offset mur_view_position(const struct mur_file *file, MPI_Offset byte)
{
    const struct mur_type *shape = file->shape;
    MPI_Offset rest, low, high;

    if (!shape->size)
        return 0;
    rest = byte - mur_view_byte(file, 0);
    if (rest <= 0 || shape->is_dense)
        return rest > 0 ? rest : 0;
    low = file->is_ordered ? rest / shape->extent * shape->size : 0; /* in a tile: the first position at or behind it */
    high = low + shape->size;
    while (low < high) {
        MPI_Offset middle = low + (high - low) / 2;

        if (mur_view_byte(file, middle) < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a filetype's tile is like. */
struct tile {
    bool is_ordered;   /* in itself, */
    bool is_apart;     /* and with those that follow */
    uint64_t boundary; /* see mix */
};

/* Numbers that add up to 0 by chance only. Each stretch of a tile adds that of its end and subtracts that of its start,
 * modulo the extent: where stretches meet, they cancel. So a sum of 0 over all ranks, and as many bytes as the extent,
 * say that the tiles cover each byte exactly once. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int check_stretch(const struct iovec *vector, MPI_Offset last, MPI_Offset end, bool is_writable)
{
    MPI_Offset offset = (MPI_Offset)(intptr_t)vector->iov_base;

    if (offset < last)
        return mur_error(MPI_ERR_TYPE,
                         "filetype has displacement %lld after %lld, but they must be 0 or more and must not decrease",
                         (long long)offset, (long long)last);
    if (is_writable && offset < end)
        return mur_error(MPI_ERR_TYPE,
                         "filetype covers byte %lld twice, which is not allowed for a file that may be written",
                         (long long)offset);
    return MPI_SUCCESS;
}

/* Displacements of a filetype are not negative and never decrease; where the file may be written, no byte is
 * covered twice (§14.1.1). Tiles may reach into the next ones: who makes a filetype for a single tile need not care for
 * its extent (a struct of a subarray and something behind it has that of the subarray). */
static int check_filetype(const struct mur_type *type, MPI_Offset displacement, bool is_writable, struct tile *tile)
{
    uint64_t extent = type->extent > 0 ? (uint64_t)type->extent : 1;
    struct mur_cursor walk;
    struct iovec vectors[VECTORS];
    MPI_Offset first = -1, end = 0, last = 0;
    int count, rc;

    *tile = (struct tile){.is_ordered = true};
    mur_cursor_start(&walk, NULL, 1, type);
    while ((count = mur_cursor_vectors(&walk, vectors, VECTORS, SIZE_MAX)) > 0)
        for (int i = 0; i < count; i++) {
            rc = check_stretch(&vectors[i], last, end, is_writable);
            if (rc)
                return rc;
            last = (MPI_Offset)(intptr_t)vectors[i].iov_base;
            first = first < 0 ? last : first;
            tile->is_ordered &= last >= end;
            end = last + (MPI_Offset)vectors[i].iov_len;
            tile->boundary += mix((uint64_t)(displacement + end) % extent);
            tile->boundary -= mix((uint64_t)(displacement + last) % extent);
        }
    tile->is_apart = tile->is_ordered && type->extent >= end - first;
    return MPI_SUCCESS;
}

static int check(MPI_Offset displacement, const struct mur_type *etype, const struct mur_type *filetype)
{
    if (displacement < 0)
        return mur_error(MPI_ERR_ARG, "disp is %lld, but must be 0 or more", (long long)displacement);
    if (etype->size <= 0 || filetype->size % etype->size)
        return mur_error(MPI_ERR_ARG, "filetype has %lld bytes of data, but must consist of whole etypes of %lld bytes",
                         (long long)filetype->size, (long long)etype->size);
    return MPI_SUCCESS;
}

/* What a view is made of; types are references. */
struct parts {
    MPI_Offset displacement, unit;
    struct mur_type *etype, *filetype, *shape;
    struct mur_datarep *rep;
    const char *datarep;
    struct tile tile;
    bool is_tiled;
};

void mur_view_drop_types(const struct mur_file *file)
{
    if (file->etype)
        mur_type_release(file->etype);
    if (file->filetype)
        mur_type_release(file->filetype);
    if (file->shape)
        mur_type_release(file->shape);
}

static void adopt(struct mur_file *file, const struct parts *parts)
{
    mur_view_drop_types(file);
    mur_type_retain(parts->etype);
    mur_type_retain(parts->filetype);
    mur_type_retain(parts->shape);
    file->displacement = parts->displacement;
    file->unit = parts->unit;
    file->etype = parts->etype;
    file->filetype = parts->filetype;
    file->shape = parts->shape;
    file->rep = parts->rep;
    file->pointer = 0;
    file->is_ordered = parts->tile.is_apart;
    file->is_tile_ordered = parts->tile.is_ordered;
    file->is_tiled = parts->is_tiled;
    snprintf(file->datarep, sizeof file->datarep, "%s", parts->datarep);
}

/* Fills in shape, unit and tile. */
static int lay_out(const struct mur_file *file, struct parts *parts)
{
    MPI_Count unit;
    int rc = mur_datarep_find(parts->datarep, &parts->rep);

    if (!rc)
        rc = check(parts->displacement, parts->etype, parts->filetype);
    if (!rc)
        rc = mur_datarep_size(parts->rep, parts->etype, &unit);
    if (rc)
        return rc;
    parts->unit = unit;
    rc = mur_shape_create(parts->rep, parts->filetype, &parts->shape);
    if (!rc)
        rc = check_filetype(parts->shape, parts->displacement, !(file->amode & MPI_MODE_RDONLY), &parts->tile);
    return rc;
}

/* Success where all ranks had it and agree on data representation and etype; finds out whether the views tile the
 * file. */
static int compare_views(const struct mur_file *file, int rc, struct parts *parts)
{
    MPI_Offset extent = parts->shape ? parts->shape->extent : 0;
    uint64_t name = 0;
    int64_t sums[2] = {parts->shape ? parts->shape->size : 0, (int64_t)parts->tile.boundary};
    struct mur_schedule *s = mur_file_schedule(file->comm);
    int agreed;

    for (const char *c = parts->datarep; *c; c++)
        name = mix(name + (unsigned char)*c) >> 2;
    int64_t most[7] = {
        rc ? file->comm->rank : -1, extent, -extent, (int64_t)name, -(int64_t)name, parts->unit, -parts->unit};

    if (s) {
        mur_coll_allreduce(s, MPI_IN_PLACE, most, 7, mur_type_find(MPI_INT64_T), mur_op_find(MPI_MAX));
        mur_schedule_fence(s);
        mur_coll_allreduce(s, MPI_IN_PLACE, sums, 2, mur_type_find(MPI_INT64_T), mur_op_find(MPI_SUM));
    }
    agreed = mur_schedule_run(s);
    parts->is_tiled = most[1] == -most[2] && sums[0] == most[1] && sums[1] == 0;
    if (agreed)
        return rc ? rc : agreed;
    if (most[0] >= 0)
        return mur_file_hear(file->comm, (int)most[0], rc, "set the view of", file->name);
    if (most[3] != -most[4])
        return mur_error(MPI_ERR_NOT_SAME, "datarep is '%.60s' here, but must be the same at all ranks",
                         parts->datarep);
    if (most[5] != -most[6])
        return mur_error(MPI_ERR_NOT_SAME, "etype has %lld bytes at one rank and %lld at another, but must be the same",
                         (long long)-most[6], (long long)most[5]);
    return MPI_SUCCESS;
}

int mur_view_set(struct mur_file *file, MPI_Offset displacement, struct mur_type *etype, struct mur_type *filetype,
                 const char *datarep)
{
    struct parts parts = {.displacement = displacement, .etype = etype, .filetype = filetype, .datarep = datarep};
    int rc = lay_out(file, &parts);

    if (file->comm->size > 1)
        rc = compare_views(file, rc, &parts);
    if (!rc)
        adopt(file, &parts);
    if (parts.shape)
        mur_type_release(parts.shape);
    return rc;
}
