/* SPDX-License-Identifier: BSD-3-Clause */
/* The constructors of derived datatypes. Arrays have the one width MPI_Count here; `is_large` says that the caller
 * used a _c form, which only the recipe remembers. On failure *type_p is untouched. */
#ifndef MUR_OBJECT_TYPE_CREATE_H
#define MUR_OBJECT_TYPE_CREATE_H

#include "object/type.h"

int mur_type_create_dup(struct mur_type *old, struct mur_type **type_p);
int mur_type_create_contiguous(MPI_Count count, struct mur_type *old, bool is_large, struct mur_type **type_p);

/* The stride counts elements of `old`; in the h form, bytes. */
int mur_type_create_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, struct mur_type *old,
                           bool is_large, struct mur_type **type_p);
int mur_type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, struct mur_type *old,
                            bool is_large, struct mur_type **type_p);

/* Displacements count elements of `old`; in the h forms, bytes. */
int mur_type_create_indexed(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                            struct mur_type *old, bool is_large, struct mur_type **type_p);
int mur_type_create_hindexed(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                             struct mur_type *old, bool is_large, struct mur_type **type_p);
int mur_type_create_indexed_block(MPI_Count count, MPI_Count blocklength, const MPI_Count *displacements,
                                  struct mur_type *old, bool is_large, struct mur_type **type_p);
int mur_type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, const MPI_Count *displacements,
                                   struct mur_type *old, bool is_large, struct mur_type **type_p);
int mur_type_create_struct(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                           struct mur_type *const *olds, bool is_large, struct mur_type **type_p);
int mur_type_create_resized(struct mur_type *old, MPI_Count lb, MPI_Count extent, bool is_large,
                            struct mur_type **type_p);

/* src/object/type_array.c */
int mur_type_create_subarray(int ndims, const MPI_Count *sizes, const MPI_Count *subsizes, const MPI_Count *starts,
                             int order, struct mur_type *old, bool is_large, struct mur_type **type_p);
int mur_type_create_darray(int size, int rank, int ndims, const MPI_Count *gsizes, const int *distribs,
                           const int *dargs, const int *psizes, int order, struct mur_type *old, bool is_large,
                           struct mur_type **type_p);

/* What the constructors are made of. */

/* An empty type whose recipe has room for these many counts, displacements (or strides), other integers and types. */
struct mur_type *mur_type_recipe_start(int combiner, bool is_large, MPI_Count counts, MPI_Count displacements,
                                       MPI_Count integers, MPI_Count types);
void mur_type_recipe_count(struct mur_type *type, MPI_Count value);
void mur_type_recipe_displacement(struct mur_type *type, MPI_Count value);
void mur_type_recipe_integer(struct mur_type *type, int value);
void mur_type_recipe_type(struct mur_type *type, struct mur_type *component); /* takes a reference */

/* Fills in size and bounds from a type that has the same data. */
void mur_type_copy_shape(struct mur_type *type, const struct mur_type *from);

/* Argument i of a recipe that holds counts and displacements only, numbered counts first. */
static inline MPI_Count mur_recipe_argument(const struct mur_type_recipe *recipe, MPI_Count i)
{
    if (recipe->is_large)
        return recipe->larges[i];
    return i < recipe->integer_count ? recipe->integers[i] : recipe->addresses[i - recipe->integer_count];
}

#endif
