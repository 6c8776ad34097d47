/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype laid out again with the sizes that its basic types have in a file: its recipe is followed down to the
 * basic types, each of which becomes so many bytes. */
#include <stdlib.h>

#include "base/error.h"
#include "io/datarep.h"
#include "object/type_create.h"

static int shape_of(const struct mur_datarep *rep, struct mur_type *type, struct mur_type **shape_p);

static int shape_basic(const struct mur_datarep *rep, const struct mur_type *type, struct mur_type **shape_p)
{
    MPI_Count bytes;
    int rc = mur_datarep_extent(rep, type, &bytes);

    return rc ? rc : mur_type_create_contiguous(bytes, mur_type_find(MPI_BYTE), true, shape_p);
}

/* All counts and displacements of a recipe, counts first, in one array; NULL: no memory. */
static MPI_Count *arguments_of(const struct mur_type_recipe *recipe, MPI_Count *count)
{
    MPI_Count *all;

    *count = recipe->is_large ? recipe->large_count : recipe->integer_count + recipe->address_count;
    all = malloc(((size_t)*count + 1) * sizeof *all);
    for (MPI_Count i = 0; all && i < *count; i++)
        all[i] = mur_recipe_argument(recipe, i);
    return all;
}

static int shape_struct(const struct mur_datarep *rep, const struct mur_type_recipe *recipe, const MPI_Count *a,
                        struct mur_type **shape_p)
{
    struct mur_type **olds = calloc((size_t)recipe->type_count + 1, sizeof *olds);
    int rc = olds ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a view");
    MPI_Count made = 0;

    while (!rc && made < recipe->type_count) {
        rc = shape_of(rep, recipe->types[made], &olds[made]);
        made += !rc;
    }
    if (!rc)
        rc = mur_type_create_struct(a[0], a + 1, a + 1 + a[0], olds, true, shape_p);
    while (made > 0)
        mur_type_release(olds[--made]);
    free(olds);
    return rc;
}

/* Combiners whose arguments are counts and displacements only. */
static int shape_regular(const struct mur_type_recipe *recipe, const MPI_Count *a, struct mur_type *old,
                         struct mur_type **shape_p)
{
    switch (recipe->combiner) {
    case MPI_COMBINER_DUP:
        return mur_type_create_dup(old, shape_p);
    case MPI_COMBINER_CONTIGUOUS:
        return mur_type_create_contiguous(a[0], old, true, shape_p);
    case MPI_COMBINER_VECTOR:
        return mur_type_create_vector(a[0], a[1], a[2], old, true, shape_p);
    case MPI_COMBINER_HVECTOR:
        return mur_type_create_hvector(a[0], a[1], a[2], old, true, shape_p);
    case MPI_COMBINER_INDEXED:
        return mur_type_create_indexed(a[0], a + 1, a + 1 + a[0], old, true, shape_p);
    case MPI_COMBINER_HINDEXED:
        return mur_type_create_hindexed(a[0], a + 1, a + 1 + a[0], old, true, shape_p);
    case MPI_COMBINER_INDEXED_BLOCK:
        return mur_type_create_indexed_block(a[0], a[1], a + 2, old, true, shape_p);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return mur_type_create_hindexed_block(a[0], a[1], a + 2, old, true, shape_p);
    default:
        return mur_type_create_resized(old, a[0], a[1], true, shape_p);
    }
}

/* Their recipes mix counts with other integers: all are among the integers of a small one, while a large one has the
 * counts apart. */
static int shape_array(const struct mur_type_recipe *recipe, struct mur_type *old, struct mur_type **shape_p)
{
    bool is_subarray = recipe->combiner == MPI_COMBINER_SUBARRAY;
    const int *integers = recipe->integers;
    int ndims = is_subarray ? integers[0] : integers[2], counts = is_subarray ? 3 * ndims : ndims;
    const int *rest = integers + (is_subarray ? 1 : 3), *small = rest;
    MPI_Count *a = malloc(((size_t)counts + 1) * sizeof *a);
    int rc;

    if (!a)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a view");
    for (int i = 0; i < counts; i++)
        a[i] = recipe->is_large ? recipe->larges[i] : small[i];
    rest += recipe->is_large ? 0 : counts;
    if (is_subarray)
        rc = mur_type_create_subarray(ndims, a, a + ndims, a + 2 * ndims, rest[0], old, true, shape_p);
    else
        rc = mur_type_create_darray(integers[0], integers[1], ndims, a, rest, rest + ndims, rest + 2 * ndims,
                                    rest[3 * ndims], old, true, shape_p);
    free(a);
    return rc;
}

static int shape_derived(const struct mur_datarep *rep, struct mur_type *type, struct mur_type **shape_p)
{
    const struct mur_type_recipe *recipe = &type->recipe;
    struct mur_type *old = NULL;
    MPI_Count count, *a = arguments_of(recipe, &count);
    int rc = a ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a view");

    if (!rc && recipe->combiner == MPI_COMBINER_STRUCT) {
        rc = shape_struct(rep, recipe, a, shape_p);
    } else if (!rc) {
        rc = shape_of(rep, recipe->types[0], &old);
        if (!rc && (recipe->combiner == MPI_COMBINER_SUBARRAY || recipe->combiner == MPI_COMBINER_DARRAY))
            rc = shape_array(recipe, old, shape_p);
        else if (!rc)
            rc = shape_regular(recipe, a, old, shape_p);
    }
    if (old)
        mur_type_release(old);
    free(a);
    return rc;
}

static int shape_of(const struct mur_datarep *rep, struct mur_type *type, struct mur_type **shape_p)
{
    bool is_derived = type->recipe.type_count && type->recipe.combiner != MPI_COMBINER_VALUE_INDEX;

    return is_derived ? shape_derived(rep, type, shape_p) : shape_basic(rep, type, shape_p);
}

int mur_shape_create(const struct mur_datarep *rep, struct mur_type *type, struct mur_type **shape_p)
{
    struct mur_type *shape = NULL;
    int rc;

    if (!rep) {
        mur_type_retain(type);
        *shape_p = type;
        return MPI_SUCCESS;
    }
    rc = shape_of(rep, type, &shape);
    if (!rc)
        rc = mur_type_commit(shape);
    if (rc && shape)
        mur_type_release(shape);
    if (!rc)
        *shape_p = shape;
    return rc;
}
