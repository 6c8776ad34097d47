/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks layouts. A walk handles a range of the packed bytes: inside a node it is the end of one child, whole
 * children, and the beginning of another; whole children of the common shapes go through tight loops. */
#include <string.h>

#include "base/copy.h"
#include "datatype/layout.h"
#include "datatype/layout_node.h"

enum action { PACK, UNPACK, LIST };

struct walk {
    enum action action;
    char *packed;          /* pack, unpack: the next byte of packed data */
    struct iovec *vectors; /* list */
    int count, max;
    size_t moved; /* list: bytes described so far */
};

/* MPI_BOTTOM is a buffer too, so addresses are computed as numbers. */
static inline char *at(char *data, MPI_Count offset)
{
    return (char *)((uintptr_t)data + (uintptr_t)offset);
}

/* One run of bytes. False: no room for one more vector. */
static bool step(struct walk *walk, char *data, size_t bytes)
{
    struct iovec *last;

    switch (walk->action) {
    case PACK:
        mur_copy(walk->packed, data, bytes);
        walk->packed += bytes;
        return true;
    case UNPACK:
        mur_copy(data, walk->packed, bytes);
        walk->packed += bytes;
        return true;
    default:
        last = walk->count > 0 ? &walk->vectors[walk->count - 1] : NULL;
        if (last && at(last->iov_base, (MPI_Count)last->iov_len) == data) {
            last->iov_len += bytes;
        } else {
            if (walk->count == walk->max)
                return false;
            walk->vectors[walk->count++] = (struct iovec){.iov_base = data, .iov_len = bytes};
        }
        walk->moved += bytes;
        return true;
    }
}

/* Blocks of one size in two nested rhythms; a single rhythm is a grid of one row. */
struct grid {
    MPI_Count rows, row_stride;
    MPI_Count columns, column_stride;
};

/* Inlined with constants for the action and the common block sizes: then each copy is a few instructions. */
static inline __attribute__((always_inline)) void copy_grid(enum action action, const struct grid *grid, char *data,
                                                            char *packed, size_t block)
{
    MPI_Count columns = grid->columns, stride = grid->column_stride;

    for (MPI_Count row = 0; row < grid->rows; row++) {
        char *place = at(data, row * grid->row_stride);
        for (MPI_Count column = 0; column < columns; column++) {
            if (action == PACK)
                memcpy(packed, place, block);
            else
                memcpy(place, packed, block);
            packed += block;
            place = at(place, stride);
        }
    }
}

static inline __attribute__((always_inline)) void copy_grid_sized(enum action action, const struct grid *grid,
                                                                  char *data, char *packed, size_t block)
{
    switch (block) {
    case 1:
        copy_grid(action, grid, data, packed, 1);
        break;
    case 2:
        copy_grid(action, grid, data, packed, 2);
        break;
    case 4:
        copy_grid(action, grid, data, packed, 4);
        break;
    case 8:
        copy_grid(action, grid, data, packed, 8);
        break;
    case 16:
        copy_grid(action, grid, data, packed, 16);
        break;
    case 32:
        copy_grid(action, grid, data, packed, 32);
        break;
    case 64:
        copy_grid(action, grid, data, packed, 64);
        break;
    default:
        copy_grid(action, grid, data, packed, block);
        break;
    }
}

static bool step_grid(struct walk *walk, const struct grid *grid, char *data, size_t block)
{
    switch (walk->action) {
    case PACK:
        copy_grid_sized(PACK, grid, data, walk->packed, block);
        break;
    case UNPACK:
        copy_grid_sized(UNPACK, grid, data, walk->packed, block);
        break;
    default:
        for (MPI_Count row = 0; row < grid->rows; row++)
            for (MPI_Count column = 0; column < grid->columns; column++)
                if (!step(walk, at(data, row * grid->row_stride + column * grid->column_stride), block))
                    return false;
        return true;
    }
    walk->packed += (size_t)(grid->rows * grid->columns) * block;
    return true;
}

/* Parts that are blocks of one size. */
static inline __attribute__((always_inline)) void copy_list(enum action action, const struct mur_layout_part *part,
                                                            MPI_Count count, char *data, char *packed, size_t block)
{
    for (; count > 0; count--, part++, packed += block) {
        if (action == PACK)
            memcpy(packed, at(data, part->offset), block);
        else
            memcpy(at(data, part->offset), packed, block);
    }
}

static inline __attribute__((always_inline)) void copy_list_sized(enum action action,
                                                                  const struct mur_layout_part *part, MPI_Count count,
                                                                  char *data, char *packed, size_t block)
{
    switch (block) {
    case 4:
        copy_list(action, part, count, data, packed, 4);
        break;
    case 8:
        copy_list(action, part, count, data, packed, 8);
        break;
    case 16:
        copy_list(action, part, count, data, packed, 16);
        break;
    case 64:
        copy_list(action, part, count, data, packed, 64);
        break;
    default:
        copy_list(action, part, count, data, packed, block);
        break;
    }
}

static bool step_whole(struct walk *walk, const struct mur_layout *layout, char *data);

static bool step_parts(struct walk *walk, const struct mur_layout *layout, char *data, MPI_Count first, MPI_Count count)
{
    const struct mur_layout_part *part = &layout->parts[first];

    if (layout->block && walk->action != LIST) {
        if (walk->action == PACK)
            copy_list_sized(PACK, part, count, data, walk->packed, (size_t)layout->block);
        else
            copy_list_sized(UNPACK, part, count, data, walk->packed, (size_t)layout->block);
        walk->packed += count * layout->block;
        return true;
    }
    for (; count > 0; count--, part++) {
        char *place = at(data, part->offset);
        if (!(part->child ? step_whole(walk, part->child, place)
                          : step(walk, place, (size_t)(part[1].before - part->before))))
            return false;
    }
    return true;
}

/* `count` children of a STRIDES node. */
static bool step_strides(struct walk *walk, const struct mur_layout *child, char *data, MPI_Count count,
                         MPI_Count stride)
{
    struct grid grid = {.rows = 1, .columns = count, .column_stride = stride};

    if (child->kind == MUR_LAYOUT_BLOCK)
        return step_grid(walk, &grid, data, (size_t)child->size);
    if (child->kind == MUR_LAYOUT_STRIDES && child->child->kind == MUR_LAYOUT_BLOCK) {
        grid = (struct grid){count, stride, child->count, child->stride};
        return step_grid(walk, &grid, data, (size_t)child->child->size);
    }
    for (MPI_Count i = 0; i < count; i++)
        if (!step_whole(walk, child, at(data, i * stride)))
            return false;
    return true;
}

static bool step_whole(struct walk *walk, const struct mur_layout *layout, char *data)
{
    switch (layout->kind) {
    case MUR_LAYOUT_BLOCK:
        return step(walk, data, (size_t)layout->size);
    case MUR_LAYOUT_STRIDES:
        return step_strides(walk, layout->child, data, layout->count, layout->stride);
    default:
        return step_parts(walk, layout, data, 0, layout->count);
    }
}

static bool step_range(struct walk *walk, const struct mur_layout *layout, char *data, MPI_Count from, MPI_Count to);

static bool range_of_strides(struct walk *walk, const struct mur_layout *layout, char *data, MPI_Count from,
                             MPI_Count to)
{
    const struct mur_layout *child = layout->child;
    MPI_Count size = child->size;
    MPI_Count i = from / size, skip = from % size, whole;

    if (skip) {
        MPI_Count end = to - from < size - skip ? skip + to - from : size;
        if (!step_range(walk, child, at(data, i * layout->stride), skip, end))
            return false;
        from += end - skip;
        i++;
    }
    whole = (to - from) / size;
    if (whole > 0 && !step_strides(walk, child, at(data, i * layout->stride), whole, layout->stride))
        return false;
    from += whole * size;
    i += whole;
    return from == to || step_range(walk, child, at(data, i * layout->stride), 0, to - from);
}

/* The last part that starts at or before a byte of the packed data. */
static MPI_Count part_of(const struct mur_layout *layout, MPI_Count position)
{
    MPI_Count low = 0, high = layout->count;

    if (layout->block)
        return position / layout->block;
    while (high - low > 1) {
        MPI_Count middle = low + (high - low) / 2;
        if (layout->parts[middle].before <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The bytes from..to of one part. */
static bool range_of_part(struct walk *walk, const struct mur_layout_part *part, char *data, MPI_Count from,
                          MPI_Count to)
{
    char *place = at(data, part->offset);

    if (part->child)
        return step_range(walk, part->child, place, from, to);
    return step(walk, at(place, from), (size_t)(to - from));
}

static bool range_of_parts(struct walk *walk, const struct mur_layout *layout, char *data, MPI_Count from, MPI_Count to)
{
    const struct mur_layout_part *parts = layout->parts;
    MPI_Count first = part_of(layout, from);
    MPI_Count last = part_of(layout, to - 1); /* the part of the last byte */

    if (first == last)
        return range_of_part(walk, &parts[first], data, from - parts[first].before, to - parts[first].before);
    if (from > parts[first].before) {
        MPI_Count end = parts[first + 1].before;
        if (!range_of_part(walk, &parts[first], data, from - parts[first].before, end - parts[first].before))
            return false;
        first++;
    }
    if (!step_parts(walk, layout, data, first, last - first))
        return false;
    return range_of_part(walk, &parts[last], data, 0, to - parts[last].before);
}

/* The bytes from..to of the node's data; from < to. */
static bool step_range(struct walk *walk, const struct mur_layout *layout, char *data, MPI_Count from, MPI_Count to)
{
    if (from == 0 && to == layout->size)
        return step_whole(walk, layout, data);
    switch (layout->kind) {
    case MUR_LAYOUT_BLOCK:
        return step(walk, at(data, from), (size_t)(to - from));
    case MUR_LAYOUT_STRIDES:
        return range_of_strides(walk, layout, data, from, to);
    default:
        return range_of_parts(walk, layout, data, from, to);
    }
}

/* The next `bytes` bytes. All the elements together are one more repetition around the type's layout. */
static void walk_on(struct walk *walk, const struct mur_cursor *cursor, size_t bytes)
{
    const struct mur_type *type = cursor->type;
    struct mur_layout all = {.kind = MUR_LAYOUT_STRIDES,
                             .size = (MPI_Count)cursor->bytes,
                             .count = cursor->count,
                             .stride = type->extent,
                             .child = type->layout};
    MPI_Count from = (MPI_Count)cursor->position, to = from + (MPI_Count)bytes;

    step_range(walk, cursor->count == 1 ? type->layout : &all, at(cursor->buffer, type->origin), from, to);
}

void mur_cursor_start(struct mur_cursor *cursor, const void *buffer, MPI_Count count, const struct mur_type *type)
{
    cursor->buffer = (char *)(uintptr_t)buffer;
    cursor->type = type;
    cursor->count = count;
    cursor->position = 0;
    cursor->bytes = (size_t)count * (size_t)type->size;
}

void mur_cursor_seek(struct mur_cursor *cursor, size_t position)
{
    cursor->position = position;
}

static size_t at_most(const struct mur_cursor *cursor, size_t bytes)
{
    size_t rest = cursor->bytes - cursor->position;

    return bytes < rest ? bytes : rest;
}

size_t mur_cursor_pack(struct mur_cursor *cursor, void *out, size_t bytes)
{
    struct walk walk = {.action = PACK, .packed = out};

    bytes = at_most(cursor, bytes);
    if (bytes == 0)
        return 0;
    if (cursor->type->is_dense)
        mur_copy(out, at(cursor->buffer, (MPI_Count)cursor->position), bytes);
    else
        walk_on(&walk, cursor, bytes);
    cursor->position += bytes;
    return bytes;
}

size_t mur_cursor_unpack(struct mur_cursor *cursor, const void *in, size_t bytes)
{
    struct walk walk = {.action = UNPACK, .packed = (char *)(uintptr_t)in};

    bytes = at_most(cursor, bytes);
    if (bytes == 0)
        return 0;
    if (cursor->type->is_dense)
        mur_copy(at(cursor->buffer, (MPI_Count)cursor->position), in, bytes);
    else
        walk_on(&walk, cursor, bytes);
    cursor->position += bytes;
    return bytes;
}

int mur_cursor_vectors(struct mur_cursor *cursor, struct iovec *vectors, int max, size_t bytes)
{
    struct walk walk = {.action = LIST, .vectors = vectors, .max = max};

    bytes = at_most(cursor, bytes);
    if (bytes == 0 || max <= 0)
        return 0;
    if (cursor->type->is_dense)
        step(&walk, at(cursor->buffer, (MPI_Count)cursor->position), bytes);
    else
        walk_on(&walk, cursor, bytes);
    cursor->position += walk.moved;
    return walk.count;
}

void mur_layout_copy_typed(const void *in, MPI_Count in_count, struct mur_type *in_type, void *out, MPI_Count out_count,
                           struct mur_type *out_type)
{
    struct mur_cursor from, to;
    char piece[4096];
    size_t bytes;

    mur_cursor_start(&from, in, in_count, in_type);
    mur_cursor_start(&to, out, out_count, out_type);
    if (in_type->is_dense) {
        mur_cursor_unpack(&to, in, from.bytes);
    } else if (out_type->is_dense) {
        mur_cursor_pack(&from, out, to.bytes);
    } else {
        while ((bytes = mur_cursor_pack(&from, piece, sizeof piece)) > 0)
            mur_cursor_unpack(&to, piece, bytes);
    }
}
