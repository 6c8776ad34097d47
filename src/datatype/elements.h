/* SPDX-License-Identifier: BSD-3-Clause */
/* The type map of a datatype as a sequence of basic elements, for what needs to know where each one is: counting
 * received elements, and representations of data other than the native one. */
#ifndef MUR_DATATYPE_ELEMENTS_H
#define MUR_DATATYPE_ELEMENTS_H

#include "datatype/basic.h"
#include "object/type.h"

/* Called for each basic element in the order of the type map, with its offset from the type's own address. A pair is
 * two elements: `row` is then the pair's, `part` 0 or 1. A value other than 0 ends the walk, and is its result. */
typedef int mur_element_visitor(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset);
int mur_elements_walk(const struct mur_type *type, mur_element_visitor *visit, void *argument);

/* Called for each predefined type, a pair being one, with its offset. */
typedef int mur_leaf_visitor(void *argument, const struct mur_type *leaf, MPI_Count offset);
int mur_elements_leaves_walk(const struct mur_type *type, mur_leaf_visitor *visit, void *argument);

/* The size of an element in memory. */
static inline int mur_element_bytes(const struct mur_basic_row *row, int part)
{
    if (!row->index_size)
        return row->size;
    return part ? row->index_size : row->size - row->index_size;
}

/* How many basic elements so many bytes of the type's data are, or MPI_UNDEFINED where the last one is incomplete. */
MPI_Count mur_elements_of_bytes(const struct mur_type *type, MPI_Count bytes);

/* The bytes of the first `elements` basic elements; -1 where they are too many to tell. */
MPI_Count mur_bytes_of_elements(const struct mur_type *type, MPI_Count elements);

#endif
