/* SPDX-License-Identifier: BSD-3-Clause */
/* Data as a sequence of basic elements, and the operations on them. */
#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "base/settings.h"
#include "datatype/basic.h"
#include "datatype/elements.h"
#include "datatype/logical.h"
#include "rma/rma.h"

static bool is_pair(const struct mur_type *type)
{
    return type->recipe.combiner == MPI_COMBINER_VALUE_INDEX || mur_basics[type->basic].class == MUR_CLASS_PAIR;
}

struct search {
    const struct mur_type *found;
    bool is_mixed;
};

static int compare_leaf(void *argument, const struct mur_type *leaf, MPI_Count offset)
{
    struct search *search = argument;

    (void)offset;
    search->is_mixed = search->found && search->found != leaf;
    search->found = leaf;
    return search->is_mixed;
}

/* NULL: of several kinds, or of none. */
static struct mur_type *leaf_of(struct mur_type *type)
{
    struct search search = {0};

    if (type->object.predefined)
        return type;
    if (type->basic != MUR_BASIC_MIXED)
        return mur_type_find(mur_basics[type->basic].handle);
    mur_elements_leaves_walk(type, compare_leaf, &search);
    return search.is_mixed ? NULL : (struct mur_type *)search.found;
}

void mur_rma_leaf_fill(struct mur_rma_leaf *leaf, struct mur_type *type, enum mur_reduction reduction)
{
    const struct mur_basic_row *row = &mur_basics[type->basic];

    *leaf = (struct mur_rma_leaf){.type = type, .reduction = reduction, .bytes = (uint32_t)type->size};
    leaf->is_pair = is_pair(type);
    if (leaf->is_pair) {
        leaf->bytes = (uint32_t)type->extent;
        if (row->index_size) {
            leaf->index_offset = (uint32_t)row->index_offset;
            leaf->index_bytes = (uint32_t)row->index_size;
        } else {
            leaf->index_bytes = (uint32_t)type->recipe.types[1]->size;
            leaf->index_offset = (uint32_t)type->true_extent - leaf->index_bytes;
        }
        leaf->value_bytes = (uint32_t)type->size - leaf->index_bytes;
    }
    if (reduction < MUR_REDUCE_REPLACE && type->recipe.combiner != MPI_COMBINER_VALUE_INDEX)
        leaf->kernel = mur_reduce_kernel_of(reduction, row);
}

int mur_rma_leaf_find(struct mur_type *type, const char *name, struct mur_rma_leaf *leaf)
{
    struct mur_type *found = leaf_of(type);

    if (!found && type->size)
        return mur_error(MPI_ERR_TYPE, "%s has basic elements of several kinds, but must have one only", name);
    mur_rma_leaf_fill(leaf, found ? found : type, MUR_REDUCE_NO_OP);
    return MPI_SUCCESS;
}

/* MPICH and Open MPI take the bytes of one-sided operations, unlike those of reductions, for small integers. */
static int check_op(const struct mur_op *op, const struct mur_type *type)
{
    bool is_sum = op->reduction <= MUR_REDUCE_LXOR;

    if (is_sum && mur_basics[type->basic].class == MUR_CLASS_BYTE && type->object.predefined && !mur_is_strict())
        return MPI_SUCCESS;
    return mur_op_check(op, type);
}

int mur_rma_leaf_set_op(struct mur_rma_leaf *leaf, const struct mur_op *op)
{
    int rc;

    if (!op->object.predefined)
        return mur_error(MPI_ERR_OP, "op is one of the program's own, but must be predefined");
    if (op->reduction < MUR_REDUCE_REPLACE && leaf->bytes && (rc = check_op(op, leaf->type)))
        return rc;
    mur_rma_leaf_fill(leaf, leaf->type, (enum mur_reduction)op->reduction);
    return MPI_SUCCESS;
}

/* ---- streams ---- */

struct listing {
    MPI_Count *places;
    MPI_Count count;
};

static int list_leaf(void *argument, const struct mur_type *leaf, MPI_Count offset)
{
    struct listing *listing = argument;

    (void)leaf;
    if (listing->places)
        listing->places[listing->count] = offset;
    listing->count++;
    return 0;
}

static int list_pairs(struct mur_rma_stream *stream, const struct mur_type *type)
{
    struct listing listing = {0};

    stream->per_type = 1;
    stream->first = 0;
    if (type == stream->leaf->type)
        return MPI_SUCCESS;
    mur_elements_leaves_walk(type, list_leaf, &listing);
    stream->places = malloc((size_t)(listing.count ? listing.count : 1) * sizeof *stream->places);
    if (!stream->places)
        return mur_error(MPI_ERR_NO_MEM, "no memory to list the %lld pairs of a datatype", (long long)listing.count);
    listing.places = stream->places;
    listing.count = 0;
    mur_elements_leaves_walk(type, list_leaf, &listing);
    stream->per_type = listing.count;
    return MPI_SUCCESS;
}

int mur_rma_stream_start(struct mur_rma_stream *stream, const void *buffer, MPI_Count count, struct mur_type *type,
                         const struct mur_rma_leaf *leaf)
{
    int rc;

    mur_cursor_start(&stream->cursor, buffer, count, type);
    stream->leaf = leaf;
    stream->type = NULL;
    stream->places = NULL;
    stream->position = 0;
    stream->bytes = stream->cursor.bytes;
    if (leaf && leaf->is_pair) {
        if ((rc = list_pairs(stream, type)))
            return rc;
        stream->bytes = (size_t)(count * stream->per_type) * leaf->bytes;
    }
    stream->type = type;
    mur_type_retain(type);
    return MPI_SUCCESS;
}

void mur_rma_stream_end(struct mur_rma_stream *stream)
{
    if (!stream->type)
        return;
    mur_type_release(stream->type);
    stream->type = NULL;
    free(stream->places);
}

static char *pair_at(const struct mur_rma_stream *stream, size_t number)
{
    MPI_Count element = (MPI_Count)number / stream->per_type;
    MPI_Count place = stream->places ? stream->places[(MPI_Count)number % stream->per_type] : stream->first;

    return (char *)((uintptr_t)stream->cursor.buffer + (uintptr_t)(element * stream->cursor.type->extent + place));
}

static size_t at_most(const struct mur_rma_stream *stream, size_t bytes)
{
    size_t left = stream->bytes - stream->position;

    return bytes < left ? bytes : left;
}

static void copy_pair(const struct mur_rma_leaf *leaf, char *out, const char *in)
{
    memcpy(out, in, leaf->value_bytes);
    memcpy(out + leaf->index_offset, in + leaf->index_offset, leaf->index_bytes);
}

static bool is_paired(const struct mur_rma_stream *stream)
{
    return stream->leaf && stream->leaf->is_pair;
}

size_t mur_rma_stream_pack(struct mur_rma_stream *stream, void *out, size_t bytes)
{
    bytes = at_most(stream, bytes);
    if (is_paired(stream)) {
        size_t size = stream->leaf->bytes;

        memset(out, 0, bytes); /* the gaps travel, too */
        for (size_t at = 0; at < bytes; at += size)
            copy_pair(stream->leaf, (char *)out + at, pair_at(stream, (stream->position + at) / size));
    } else {
        mur_cursor_pack(&stream->cursor, out, bytes);
    }
    stream->position += bytes;
    return bytes;
}

size_t mur_rma_stream_unpack(struct mur_rma_stream *stream, const void *in, size_t bytes)
{
    bytes = at_most(stream, bytes);
    if (is_paired(stream)) {
        size_t size = stream->leaf->bytes;

        for (size_t at = 0; at < bytes; at += size)
            copy_pair(stream->leaf, pair_at(stream, (stream->position + at) / size), (const char *)in + at);
    } else {
        mur_cursor_unpack(&stream->cursor, in, bytes);
    }
    stream->position += bytes;
    return bytes;
}

/* Pairs one behind the other in memory are one vector, gaps and all. */
static int pair_vectors(struct mur_rma_stream *stream, struct iovec *vectors, int max, size_t bytes)
{
    size_t size = stream->leaf->bytes;
    int count = 0;

    for (bytes = at_most(stream, bytes) / size * size; bytes; bytes -= size, stream->position += size) {
        char *pair = pair_at(stream, stream->position / size);

        if (count && (char *)vectors[count - 1].iov_base + vectors[count - 1].iov_len == pair)
            vectors[count - 1].iov_len += size;
        else if (count < max)
            vectors[count++] = (struct iovec){pair, size};
        else
            break;
    }
    return count;
}

int mur_rma_stream_vectors(struct mur_rma_stream *stream, struct iovec *vectors, int max, size_t bytes)
{
    int count;

    if (is_paired(stream))
        return pair_vectors(stream, vectors, max, bytes);
    count = mur_cursor_vectors(&stream->cursor, vectors, max, bytes);
    stream->position = stream->cursor.position;
    return count;
}

void mur_rma_stream_seek(struct mur_rma_stream *stream, size_t position)
{
    stream->position = position;
    if (!is_paired(stream))
        mur_cursor_seek(&stream->cursor, position);
}
