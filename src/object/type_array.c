/* SPDX-License-Identifier: BSD-3-Clause */
/* Subarrays and distributed arrays (MPI-5.0 §5.1.3, §5.1.4): made out of strided types, fastest dimension first.
 * The type keeps the arguments as its recipe and the strided type, its expansion, for bounds and layout. */
#include <limits.h>

#include "base/error.h"
#include "object/type_create.h"

/* An array type under construction: what one process has of the dimensions done so far. */
struct section {
    struct mur_type *type; /* owned; NULL after a failure */
    MPI_Count stride;      /* bytes from one index to the next in the dimension to come */
    MPI_Count offset;      /* bytes from the array's start to the section's */
    int error;
};

static void section_start(struct section *section, struct mur_type *old)
{
    mur_type_retain(old);
    section->type = old;
    section->stride = old->extent;
    section->offset = 0;
    section->error = MPI_SUCCESS;
}

/* Puts `next`, made from the section's type, in its place. */
static void section_replace(struct section *section, struct mur_type *next, int error)
{
    mur_type_release(section->type);
    section->type = error ? NULL : next;
    section->error = error;
}

/* Goes on to the next dimension, after `length` indexes in this one of which the section starts at `start`. */
static void section_next(struct section *section, MPI_Count length, MPI_Count start)
{
    MPI_Count skipped;

    if (__builtin_mul_overflow(start, section->stride, &skipped) ||
        __builtin_add_overflow(section->offset, skipped, &section->offset) ||
        __builtin_mul_overflow(section->stride, length, &section->stride))
        section_replace(section, NULL, mur_error(MPI_ERR_VALUE_TOO_LARGE, "the array exceeds 2^63 - 1 bytes"));
}

/* `count` consecutive indexes of a dimension. */
static void section_run(struct section *section, MPI_Count count)
{
    struct mur_type *next = NULL;
    int rc = mur_type_create_hvector(count, 1, section->stride, section->type, true, &next);

    section_replace(section, next, rc);
}

/* Of a dimension of `length` indexes: blocks of `block`, the first at `start`, each `period` behind the one before.
 * The start is at most the length, and so is the period where there is more than one block. */
static void section_cycle(struct section *section, MPI_Count length, MPI_Count block, MPI_Count start, MPI_Count period)
{
    MPI_Count blocks = (length - start + period - 1) / period;
    MPI_Count rest = blocks ? length - start - (blocks - 1) * period : 0; /* indexes from the last block's start on */
    MPI_Count whole = rest < block && blocks ? blocks - 1 : blocks;
    MPI_Count lengths[2] = {1, whole < blocks};
    MPI_Count displacements[2] = {0, whole * period * section->stride};
    struct mur_type *run = NULL, *parts[2] = {NULL, NULL}, *next = NULL;
    int rc = mur_type_create_hvector(block, 1, section->stride, section->type, true, &run);

    if (!rc)
        rc = mur_type_create_hvector(whole, 1, period * section->stride, run, true, &parts[0]);
    if (!rc)
        rc = mur_type_create_hvector(rest < block ? rest : 0, 1, section->stride, section->type, true, &parts[1]);
    if (!rc)
        rc = mur_type_create_struct(2, lengths, displacements, parts, true, &next);
    for (int i = 0; i < 2; i++)
        if (parts[i])
            mur_type_release(parts[i]);
    if (run)
        mur_type_release(run);
    section_replace(section, next, rc);
}

/* The expansion: the section at its offset, with the bounds of the whole array. */
static void section_finish(struct section *section, MPI_Count lb)
{
    struct mur_type *next = NULL;
    int rc = mur_type_create_hindexed_block(1, 1, &section->offset, section->type, true, &next);

    section_replace(section, next, rc);
    if (rc)
        return;
    rc = mur_type_create_resized(section->type, lb, section->stride, true, &next);
    section_replace(section, next, rc);
}

/* Dimension number `step` in the order from the fastest to the slowest. */
static int dimension(int order, int ndims, int step)
{
    return order == MPI_ORDER_C ? ndims - 1 - step : step;
}

/* Hands the type out with the section as its expansion (the section's reference goes over). */
static int finish(struct mur_type *type, struct section *section, struct mur_type **type_p)
{
    if (!type) {
        mur_type_release(section->type);
        return mur_error(MPI_ERR_NO_MEM, "no memory for a new datatype");
    }
    type->expansion = section->type;
    mur_type_copy_shape(type, section->type);
    type->depth = section->type->depth + 1;
    *type_p = type;
    return MPI_SUCCESS;
}

static int check_order(int order, int ndims, const struct mur_type *old)
{
    if (ndims < 1)
        return mur_error(MPI_ERR_ARG, "ndims is %d, but must be at least 1", ndims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return mur_error(MPI_ERR_ARG, "order is %d, but must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
    if (!old->is_supported)
        return mur_error(MPI_ERR_TYPE, "the datatype %s is not supported on this platform", old->name);
    return MPI_SUCCESS;
}

static int check_subarray(int ndims, const MPI_Count *sizes, const MPI_Count *subsizes, const MPI_Count *starts)
{
    for (int i = 0; i < ndims; i++) {
        if (sizes[i] < 1)
            return mur_error(MPI_ERR_ARG, "size %d is %lld, but must be at least 1", i, (long long)sizes[i]);
        if (subsizes[i] < 1 || subsizes[i] > sizes[i])
            return mur_error(MPI_ERR_ARG, "subsize %d is %lld, but must be from 1 to the size %lld", i,
                             (long long)subsizes[i], (long long)sizes[i]);
        if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            return mur_error(MPI_ERR_ARG, "start %d is %lld, but must be from 0 to %lld (size %lld less subsize %lld)",
                             i, (long long)starts[i], (long long)(sizes[i] - subsizes[i]), (long long)sizes[i],
                             (long long)subsizes[i]);
    }
    return MPI_SUCCESS;
}

static struct mur_type *record_subarray(int ndims, const MPI_Count *sizes, const MPI_Count *subsizes,
                                        const MPI_Count *starts, int order, struct mur_type *old, bool is_large)
{
    struct mur_type *type = mur_type_recipe_start(MPI_COMBINER_SUBARRAY, is_large, 3 * (MPI_Count)ndims, 0, 2, 1);

    if (!type)
        return NULL;
    mur_type_recipe_integer(type, ndims);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_count(type, sizes[i]);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_count(type, subsizes[i]);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_count(type, starts[i]);
    mur_type_recipe_integer(type, order);
    mur_type_recipe_type(type, old);
    return type;
}

int mur_type_create_subarray(int ndims, const MPI_Count *sizes, const MPI_Count *subsizes, const MPI_Count *starts,
                             int order, struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    struct section section;
    int rc = check_order(order, ndims, old);

    if (!rc)
        rc = check_subarray(ndims, sizes, subsizes, starts);
    if (rc)
        return rc;
    section_start(&section, old);
    for (int step = 0; step < ndims && !section.error; step++) {
        int i = dimension(order, ndims, step);
        section_run(&section, subsizes[i]);
        if (!section.error)
            section_next(&section, sizes[i], starts[i]);
    }
    if (!section.error)
        section_finish(&section, 0);
    if (section.error)
        return section.error;
    return finish(record_subarray(ndims, sizes, subsizes, starts, order, old, is_large), &section, type_p);
}

/* One dimension of a distributed array, as one process sees it. */
struct share {
    MPI_Count length; /* of the dimension */
    int distribution;
    int argument;
    int parts; /* processes along the dimension */
    int place; /* of this process among them */
};

static int check_share(int i, const struct share *share)
{
    bool is_default = share->argument == MPI_DISTRIBUTE_DFLT_DARG;

    if (share->length < 1)
        return mur_error(MPI_ERR_ARG, "gsize %d is %lld, but must be at least 1", i, (long long)share->length);
    switch (share->distribution) {
    case MPI_DISTRIBUTE_NONE:
        if (share->parts != 1)
            return mur_error(MPI_ERR_ARG, "psize %d is %d, but must be 1 where the distribution is MPI_DISTRIBUTE_NONE",
                             i, share->parts);
        return MPI_SUCCESS;
    case MPI_DISTRIBUTE_BLOCK:
        if (!is_default && (share->argument < 1 || (MPI_Count)share->argument * share->parts < share->length))
            return mur_error(MPI_ERR_ARG, "darg %d is %d, but %d blocks of it must cover the gsize %lld", i,
                             share->argument, share->parts, (long long)share->length);
        return MPI_SUCCESS;
    case MPI_DISTRIBUTE_CYCLIC:
        if (!is_default && share->argument < 1)
            return mur_error(MPI_ERR_ARG, "darg %d is %d, but must be at least 1", i, share->argument);
        return MPI_SUCCESS;
    default:
        return mur_error(MPI_ERR_ARG,
                         "distrib %d is %d, but must be MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK or "
                         "MPI_DISTRIBUTE_CYCLIC",
                         i, share->distribution);
    }
}

static MPI_Count least(MPI_Count a, MPI_Count b)
{
    return a < b ? a : b;
}

static void section_share(struct section *section, const struct share *share)
{
    MPI_Count block, start, period, bytes;

    if (__builtin_mul_overflow(share->length, section->stride, &bytes)) {
        section_replace(section, NULL, mur_error(MPI_ERR_VALUE_TOO_LARGE, "the array exceeds 2^63 - 1 bytes"));
        return;
    }
    switch (share->distribution) {
    case MPI_DISTRIBUTE_CYCLIC:
        block = share->argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : share->argument;
        start = least(block * share->place, share->length);
        period = least(block * share->parts, share->length);
        section_cycle(section, share->length, least(block, share->length), start, period);
        break;
    case MPI_DISTRIBUTE_BLOCK:
        block = share->argument == MPI_DISTRIBUTE_DFLT_DARG ? (share->length + share->parts - 1) / share->parts
                                                            : share->argument;
        start = least(block * share->place, share->length);
        section_run(section, least(block, share->length - start));
        break;
    default:
        start = 0;
        section_run(section, share->length);
        break;
    }
    if (!section->error)
        section_next(section, share->length, start);
}

static int check_grid(int size, int rank, int ndims, const int *psizes)
{
    MPI_Count processes = 1;

    if (size < 1)
        return mur_error(MPI_ERR_ARG, "size is %d, but must be at least 1", size);
    if (rank < 0 || rank >= size)
        return mur_error(MPI_ERR_RANK, "rank is %d, but must be from 0 to %d", rank, size - 1);
    for (int i = 0; i < ndims; i++) {
        if (psizes[i] < 1)
            return mur_error(MPI_ERR_ARG, "psize %d is %d, but must be at least 1", i, psizes[i]);
        processes *= psizes[i];
        if (processes > size)
            break;
    }
    if (processes != size)
        return mur_error(MPI_ERR_ARG, "the product of the psizes must be the size %d", size);
    return MPI_SUCCESS;
}

static struct mur_type *record_darray(int size, int rank, int ndims, const MPI_Count *gsizes, const int *distribs,
                                      const int *dargs, const int *psizes, int order, struct mur_type *old,
                                      bool is_large)
{
    struct mur_type *type = mur_type_recipe_start(MPI_COMBINER_DARRAY, is_large, ndims, 0, 4 + 3 * (MPI_Count)ndims, 1);

    if (!type)
        return NULL;
    mur_type_recipe_integer(type, size);
    mur_type_recipe_integer(type, rank);
    mur_type_recipe_integer(type, ndims);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_count(type, gsizes[i]);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_integer(type, distribs[i]);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_integer(type, dargs[i]);
    for (int i = 0; i < ndims; i++)
        mur_type_recipe_integer(type, psizes[i]);
    mur_type_recipe_integer(type, order);
    mur_type_recipe_type(type, old);
    return type;
}

/* The grid of processes is row-major, whatever the order of the array. */
static int place_in_grid(int rank, int ndims, const int *psizes, int i)
{
    for (int k = ndims - 1; k > i; k--)
        rank /= psizes[k];
    return rank % psizes[i];
}

int mur_type_create_darray(int size, int rank, int ndims, const MPI_Count *gsizes, const int *distribs,
                           const int *dargs, const int *psizes, int order, struct mur_type *old, bool is_large,
                           struct mur_type **type_p)
{
    struct section section;
    int rc = check_order(order, ndims, old);

    if (!rc)
        rc = check_grid(size, rank, ndims, psizes);
    for (int i = 0; !rc && i < ndims; i++)
        rc = check_share(i, &(struct share){gsizes[i], distribs[i], dargs[i], psizes[i], 0});
    if (rc)
        return rc;
    section_start(&section, old);
    for (int step = 0; step < ndims && !section.error; step++) {
        int i = dimension(order, ndims, step);
        struct share share = {gsizes[i], distribs[i], dargs[i], psizes[i], place_in_grid(rank, ndims, psizes, i)};
        section_share(&section, &share);
    }
    if (!section.error)
        section_finish(&section, 0);
    if (section.error)
        return section.error;
    return finish(record_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, old, is_large), &section,
                  type_p);
}
