/* SPDX-License-Identifier: BSD-3-Clause */
/* Data representations (MPI-5.0 §14.5): how the basic elements of a file lie on disk. "native" and "internal" are the
 * bytes of memory; "external32" is the same on all machines; users register others. NULL stands for the bytes of
 * memory.
 *
 * A representation other than that has its own size for each basic type. The etype and filetype of a view are then laid
 * out again from these sizes (shape.c), and data is converted as a whole before it is written and after it was read. */
#ifndef MUR_IO_DATAREP_H
#define MUR_IO_DATAREP_H

#include <stdbool.h>

#include "mpi.h"

struct mur_type;

struct mur_datarep {
    struct mur_datarep *next;
    char name[MPI_MAX_DATAREP_STRING];
    bool is_external32;
    /* of a user's: one of each pair, or none where the bytes are those of memory */
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_large, *write_large;
    MPI_Datarep_extent_function *extent;
    void *state;
};

/* *rep_p is NULL for the bytes of memory. */
int mur_datarep_find(const char *name, struct mur_datarep **rep_p);

/* Copies `made` for good. */
int mur_datarep_register(const struct mur_datarep *made);

/* Bytes in the file of a predefined type, and of the data of any type. */
int mur_datarep_extent(const struct mur_datarep *rep, const struct mur_type *basic, MPI_Count *bytes);
int mur_datarep_size(const struct mur_datarep *rep, const struct mur_type *type, MPI_Count *bytes);

/* Converts all of `count` elements to their bytes in the file, and as many as there are in `bytes` back; *native tells
 * how many bytes of data in memory that is. */
int mur_datarep_encode(const struct mur_datarep *rep, const void *buffer, MPI_Count count, struct mur_type *type,
                       void *out);
int mur_datarep_decode(const struct mur_datarep *rep, const void *in, MPI_Count bytes, void *buffer, MPI_Count count,
                       struct mur_type *type, MPI_Count *native);

/* shape.c: the type as it lies in the file, committed; a reference. Counts and strides in elements follow the sizes of
 * the representation, while displacements in bytes and set bounds are kept (§14.5.1). */
int mur_shape_create(const struct mur_datarep *rep, struct mur_type *type, struct mur_type **shape_p);

#endif
