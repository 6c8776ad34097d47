/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes that layouts are made of; for layout.c, which builds them, and cursor.c, which walks them. */
#ifndef MUR_DATATYPE_LAYOUT_NODE_H
#define MUR_DATATYPE_LAYOUT_NODE_H

#include "mpi.h"

enum mur_layout_kind {
    MUR_LAYOUT_BLOCK,   /* `size` bytes in a row */
    MUR_LAYOUT_STRIDES, /* `count` times the child, each `stride` bytes behind the one before */
    MUR_LAYOUT_PARTS,   /* `count` parts at offsets of their own */
};

/* One part: a block of bytes, or a child. */
struct mur_layout_part {
    MPI_Count offset;         /* from the layout's start */
    MPI_Count before;         /* bytes of data in the parts before this one */
    struct mur_layout *child; /* a reference; NULL: bytes, as many as up to the next part's `before` */
};

/* Immutable and shared: types that consist of each other share the nodes they have in common. The first byte of
 * data in the order of the type map lies at offset 0. */
struct mur_layout {
    int references;
    enum mur_layout_kind kind;
    MPI_Count size;  /* bytes of data, more than 0 */
    MPI_Count count; /* of strides, parts */
    MPI_Count stride;
    struct mur_layout *child;       /* of strides; a reference */
    MPI_Count block;                /* parts: the size of every part, if all are blocks of one size; otherwise 0 */
    struct mur_layout_part parts[]; /* count + 1: the last one has only `before`, the size */
};

#endif
