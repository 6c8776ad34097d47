/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a datatype: where its bytes lie, in the order of the type map, in a short normalised form; and the
 * cursor that packs, unpacks or lists them, and can stop and resume at any byte. */
#ifndef MUR_DATATYPE_LAYOUT_H
#define MUR_DATATYPE_LAYOUT_H

#include <stddef.h>
#include <sys/uio.h>

#include "object/type.h"

/* Makes layout and origin of a type and of all it consists of (layout.c). */
int mur_layout_compile(struct mur_type *type);

/* The type has been compiled: is any count of its elements one run of bytes from the buffer's address on? */
bool mur_layout_is_dense(const struct mur_type *type);

void mur_layout_release(struct mur_layout *layout);

/* A position in `count` elements of a type at `buffer`. Holds a reference to nothing: the caller keeps the type.
 * The position alone says where to go on: every call finds its way from the layout's root, which costs a division
 * (or a binary search) per level. So a cursor may be copied, and moved anywhere at no cost. */
struct mur_cursor {
    char *buffer;
    const struct mur_type *type;
    MPI_Count count;
    size_t position; /* bytes of data passed so far */
    size_t bytes;    /* of data in all: count * size */
};

/* Sets the cursor to the first byte. The type is committed. */
void mur_cursor_start(struct mur_cursor *cursor, const void *buffer, MPI_Count count, const struct mur_type *type);

/* Moves the cursor to a byte of the packed data, at most `bytes`. */
void mur_cursor_seek(struct mur_cursor *cursor, size_t position);

/* Copies the next at most `bytes` bytes of data out of (into) the buffer; returns how many. */
size_t mur_cursor_pack(struct mur_cursor *cursor, void *out, size_t bytes);
size_t mur_cursor_unpack(struct mur_cursor *cursor, const void *in, size_t bytes);

/* Describes the next at most `bytes` bytes as at most `max` vectors and moves past them; returns how many vectors.
 * Adjacent blocks are one vector. */
int mur_cursor_vectors(struct mur_cursor *cursor, struct iovec *vectors, int max, size_t bytes);

/* Copies data between two buffers of one signature, as much as both have. */
void mur_layout_copy_typed(const void *in, MPI_Count in_count, struct mur_type *in_type, void *out, MPI_Count out_count,
                           struct mur_type *out_type);

#endif
