/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors of derived datatypes: they note the arguments and compute size and bounds; the layout waits for commit.
 *
 * Bounds (MPI-5.0 §5.1.6): every copy of a component moves the bounds outwards. A run of copies is monotonic, so its
 * two ends are enough. A component that was resized brings markers, and once one component has markers, those alone
 * make the bounds; otherwise they are the first and last byte of data, the upper one padded so that the extent is a
 * multiple of the strictest alignment. Copies that are not there (count 0) add nothing, neither data nor markers.
 *
 * The standard's formula looks at the data alone. A padded component at a place that its alignment forbids could then
 * reach past the end of the whole; programs that describe types to others (NumPy) refuse that. So the padding of
 * components counts. Where alignments hold it makes no difference. */
#include "object/type_create.h"

#include <stdlib.h>

#include "base/error.h"
#include "datatype/basic.h"

/* Deeper nesting than any program has, yet not deep enough to exhaust the stack when types are walked. */
#define DEPTH_LIMIT 4096

/* The bounds of a type under construction. */
struct bounds {
    bool has_data, has_marks, has_overflow;
    MPI_Count low, high;           /* of the data, half open, */
    MPI_Count padded;              /* and the end of the last component's padding */
    MPI_Count low_mark, high_mark; /* of the markers */
};

static MPI_Count add(struct bounds *bounds, MPI_Count a, MPI_Count b)
{
    MPI_Count sum = 0;

    bounds->has_overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

static MPI_Count subtract(struct bounds *bounds, MPI_Count a, MPI_Count b)
{
    MPI_Count difference = 0;

    bounds->has_overflow |= __builtin_sub_overflow(a, b, &difference);
    return difference;
}

static MPI_Count multiply(struct bounds *bounds, MPI_Count a, MPI_Count b)
{
    MPI_Count product = 0;

    bounds->has_overflow |= __builtin_mul_overflow(a, b, &product);
    return product;
}

static MPI_Count lesser(MPI_Count a, MPI_Count b)
{
    return a < b ? a : b;
}

static MPI_Count greater(MPI_Count a, MPI_Count b)
{
    return a > b ? a : b;
}

static void extend_by_one(struct bounds *bounds, const struct mur_type *component, MPI_Count displacement)
{
    if (component->size > 0) {
        MPI_Count low = add(bounds, displacement, component->true_lb);
        MPI_Count high = add(bounds, low, component->true_extent);
        MPI_Count end = component->is_marked ? high : add(bounds, low, component->extent);
        bounds->low = bounds->has_data ? lesser(bounds->low, low) : low;
        bounds->high = bounds->has_data ? greater(bounds->high, high) : high;
        bounds->padded = bounds->has_data ? greater(bounds->padded, end) : end;
        bounds->has_data = true;
    }
    if (component->is_marked) {
        MPI_Count low = add(bounds, displacement, component->lb);
        MPI_Count high = add(bounds, low, component->extent);
        bounds->low_mark = bounds->has_marks ? lesser(bounds->low_mark, low) : low;
        bounds->high_mark = bounds->has_marks ? greater(bounds->high_mark, high) : high;
        bounds->has_marks = true;
    }
}

/* A block of `copies` of the component, one behind the other. */
static void extend(struct bounds *bounds, const struct mur_type *component, MPI_Count displacement, MPI_Count copies)
{
    if (copies == 0)
        return;
    extend_by_one(bounds, component, displacement);
    if (copies > 1) {
        MPI_Count last = add(bounds, displacement, multiply(bounds, copies - 1, component->extent));
        extend_by_one(bounds, component, last);
    }
}

/* Counts the data of `copies` of the component. */
static void weigh(struct bounds *bounds, struct mur_type *type, const struct mur_type *component, MPI_Count copies)
{
    if (copies == 0)
        return;
    if (component->alignment > type->alignment)
        type->alignment = component->alignment;
    if (component->size == 0)
        return;
    type->basic = type->size == 0 || type->basic == component->basic ? component->basic : MUR_BASIC_MIXED;
    type->size = add(bounds, type->size, multiply(bounds, copies, component->size));
    type->basic_count = add(bounds, type->basic_count, multiply(bounds, copies, component->basic_count));
}

/* Turns the bounds into the type's and hands the type out, or frees it if it is no good. */
static int finish(struct mur_type *type, struct bounds *bounds, struct mur_type **type_p)
{
    if (bounds->has_data) {
        type->true_lb = bounds->low;
        type->true_extent = subtract(bounds, bounds->high, bounds->low);
    }
    type->is_marked = bounds->has_marks;
    if (bounds->has_marks) {
        type->lb = bounds->low_mark;
        type->extent = subtract(bounds, bounds->high_mark, bounds->low_mark);
    } else {
        MPI_Count extent = bounds->has_data ? subtract(bounds, bounds->padded, bounds->low) : 0;
        MPI_Count excess = type->alignment ? extent % type->alignment : 0;
        type->lb = type->true_lb;
        type->extent = excess ? add(bounds, extent, type->alignment - excess) : extent;
    }
    if (bounds->has_overflow) {
        mur_type_release(type);
        return mur_error(MPI_ERR_VALUE_TOO_LARGE, "the size or the bounds of the new datatype exceed 2^63 - 1 bytes");
    }
    if (type->depth > DEPTH_LIMIT) {
        mur_type_release(type);
        return mur_error(MPI_ERR_TYPE, "the new datatype is nested %d deep, but at most %d is possible",
                         DEPTH_LIMIT + 1, DEPTH_LIMIT);
    }
    *type_p = type;
    return MPI_SUCCESS;
}

static int no_memory(void)
{
    return mur_error(MPI_ERR_NO_MEM, "no memory for a new datatype");
}

/* A component must exist on this platform; types that do not are known by name only. */
static int check_component(const struct mur_type *old)
{
    if (old->is_supported)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_TYPE, "the datatype %s is not supported on this platform", old->name);
}

static int check_blocklengths(MPI_Count count, const MPI_Count *blocklengths)
{
    for (MPI_Count i = 0; i < count; i++)
        if (blocklengths[i] < 0)
            return mur_error(MPI_ERR_ARG, "blocklength %lld is %lld, but must not be negative", (long long)i,
                             (long long)blocklengths[i]);
    return MPI_SUCCESS;
}

struct mur_type *mur_type_recipe_start(int combiner, bool is_large, MPI_Count counts, MPI_Count displacements,
                                       MPI_Count integers, MPI_Count types)
{
    struct mur_type *type = mur_type_new();
    struct mur_type_recipe *recipe;
    size_t larges = is_large ? (size_t)(counts + displacements) : 0;
    size_t addresses = is_large ? 0 : (size_t)displacements;
    size_t smalls = (size_t)(is_large ? integers : counts + integers);
    char *storage;

    if (!type)
        return NULL;
    recipe = &type->recipe;
    recipe->combiner = combiner;
    recipe->is_large = is_large;
    storage = malloc(larges * sizeof *recipe->larges + addresses * sizeof *recipe->addresses +
                     (size_t)types * sizeof *recipe->types + smalls * sizeof *recipe->integers + 1);
    if (!storage) {
        mur_type_release(type);
        return NULL;
    }
    recipe->storage = storage;
    recipe->larges = (MPI_Count *)(void *)storage;
    recipe->addresses = (MPI_Aint *)(void *)(recipe->larges + larges);
    recipe->types = (struct mur_type **)(void *)(recipe->addresses + addresses);
    recipe->integers = (int *)(void *)(recipe->types + types);
    return type;
}

void mur_type_recipe_count(struct mur_type *type, MPI_Count value)
{
    struct mur_type_recipe *recipe = &type->recipe;

    if (recipe->is_large)
        recipe->larges[recipe->large_count++] = value;
    else
        recipe->integers[recipe->integer_count++] = (int)value;
}

void mur_type_recipe_displacement(struct mur_type *type, MPI_Count value)
{
    struct mur_type_recipe *recipe = &type->recipe;

    if (recipe->is_large)
        recipe->larges[recipe->large_count++] = value;
    else
        recipe->addresses[recipe->address_count++] = (MPI_Aint)value;
}

void mur_type_recipe_integer(struct mur_type *type, int value)
{
    type->recipe.integers[type->recipe.integer_count++] = value;
}

void mur_type_recipe_type(struct mur_type *type, struct mur_type *component)
{
    mur_type_retain(component);
    type->recipe.types[type->recipe.type_count++] = component;
    if (component->depth >= type->depth)
        type->depth = component->depth + 1;
}

void mur_type_copy_shape(struct mur_type *type, const struct mur_type *from)
{
    type->is_marked = from->is_marked;
    type->size = from->size;
    type->lb = from->lb;
    type->extent = from->extent;
    type->true_lb = from->true_lb;
    type->true_extent = from->true_extent;
    type->alignment = from->alignment;
    type->basic = from->basic;
    type->basic_count = from->basic_count;
}

int mur_type_create_dup(struct mur_type *old, struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    int rc = check_component(old);

    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_DUP, false, 0, 0, 0, 1);
    if (!type)
        return no_memory();
    mur_type_recipe_type(type, old);
    weigh(&bounds, type, old, 1);
    extend(&bounds, old, 0, 1);
    rc = finish(type, &bounds, &type);
    if (rc)
        return rc;
    mur_type_copy_shape(type, old); /* a predefined pair's padding is C's, not that of the rule above */
    if (old->is_committed) {
        rc = mur_type_commit(type);
        if (rc) {
            mur_type_release(type);
            return rc;
        }
    }
    *type_p = type;
    return MPI_SUCCESS;
}

int mur_type_create_contiguous(MPI_Count count, struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    int rc = check_component(old);

    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_CONTIGUOUS, is_large, 1, 0, 0, 1);
    if (!type)
        return no_memory();
    mur_type_recipe_count(type, count);
    mur_type_recipe_type(type, old);
    weigh(&bounds, type, old, count);
    extend(&bounds, old, 0, count);
    return finish(type, &bounds, type_p);
}

static void shape_vector(struct mur_type *type, struct bounds *bounds, MPI_Count count, MPI_Count blocklength,
                         MPI_Count byte_stride, struct mur_type *old)
{
    if (count == 0)
        return;
    weigh(bounds, type, old, multiply(bounds, count, blocklength));
    extend(bounds, old, 0, blocklength);
    extend(bounds, old, multiply(bounds, count - 1, byte_stride), blocklength);
}

int mur_type_create_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, struct mur_type *old,
                           bool is_large, struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    int rc = check_component(old);

    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_VECTOR, is_large, 3, 0, 0, 1);
    if (!type)
        return no_memory();
    mur_type_recipe_count(type, count);
    mur_type_recipe_count(type, blocklength);
    mur_type_recipe_count(type, stride);
    mur_type_recipe_type(type, old);
    shape_vector(type, &bounds, count, blocklength, multiply(&bounds, stride, old->extent), old);
    return finish(type, &bounds, type_p);
}

int mur_type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, struct mur_type *old,
                            bool is_large, struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    int rc = check_component(old);

    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_HVECTOR, is_large, 2, 1, 0, 1);
    if (!type)
        return no_memory();
    mur_type_recipe_count(type, count);
    mur_type_recipe_count(type, blocklength);
    mur_type_recipe_displacement(type, stride);
    mur_type_recipe_type(type, old);
    shape_vector(type, &bounds, count, blocklength, stride, old);
    return finish(type, &bounds, type_p);
}

/* The four indexed forms. The element forms keep their displacements among the counts. */
struct indexed {
    int combiner;
    bool in_bytes;
    MPI_Count count;
    MPI_Count blocklength;         /* of all blocks, if there is no array */
    const MPI_Count *blocklengths; /* or NULL */
    const MPI_Count *displacements;
};

static void record_indexed(struct mur_type *type, const struct indexed *form)
{
    mur_type_recipe_count(type, form->count);
    if (!form->blocklengths)
        mur_type_recipe_count(type, form->blocklength);
    for (MPI_Count i = 0; form->blocklengths && i < form->count; i++)
        mur_type_recipe_count(type, form->blocklengths[i]);
    for (MPI_Count i = 0; i < form->count; i++)
        if (form->in_bytes)
            mur_type_recipe_displacement(type, form->displacements[i]);
        else
            mur_type_recipe_count(type, form->displacements[i]);
}

static int create_indexed(const struct indexed *form, struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    MPI_Count lengths = form->blocklengths ? form->count : 1;
    int rc = check_component(old);

    if (rc)
        return rc;
    if (form->blocklengths) {
        rc = check_blocklengths(form->count, form->blocklengths);
        if (rc)
            return rc;
    }
    type = mur_type_recipe_start(form->combiner, is_large, 1 + lengths + (form->in_bytes ? 0 : form->count),
                                 form->in_bytes ? form->count : 0, 0, 1);
    if (!type)
        return no_memory();
    record_indexed(type, form);
    mur_type_recipe_type(type, old);
    for (MPI_Count i = 0; i < form->count; i++) {
        MPI_Count copies = form->blocklengths ? form->blocklengths[i] : form->blocklength;
        MPI_Count displacement = form->displacements[i];
        if (copies == 0)
            continue;
        if (!form->in_bytes)
            displacement = multiply(&bounds, displacement, old->extent);
        weigh(&bounds, type, old, copies);
        extend(&bounds, old, displacement, copies);
    }
    return finish(type, &bounds, type_p);
}

int mur_type_create_indexed(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                            struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    const struct indexed form = {
        .combiner = MPI_COMBINER_INDEXED, .count = count, .blocklengths = blocklengths, .displacements = displacements};

    return create_indexed(&form, old, is_large, type_p);
}

int mur_type_create_hindexed(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                             struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    const struct indexed form = {.combiner = MPI_COMBINER_HINDEXED,
                                 .in_bytes = true,
                                 .count = count,
                                 .blocklengths = blocklengths,
                                 .displacements = displacements};

    return create_indexed(&form, old, is_large, type_p);
}

int mur_type_create_indexed_block(MPI_Count count, MPI_Count blocklength, const MPI_Count *displacements,
                                  struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    const struct indexed form = {.combiner = MPI_COMBINER_INDEXED_BLOCK,
                                 .count = count,
                                 .blocklength = blocklength,
                                 .displacements = displacements};

    return create_indexed(&form, old, is_large, type_p);
}

int mur_type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, const MPI_Count *displacements,
                                   struct mur_type *old, bool is_large, struct mur_type **type_p)
{
    const struct indexed form = {.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                                 .in_bytes = true,
                                 .count = count,
                                 .blocklength = blocklength,
                                 .displacements = displacements};

    return create_indexed(&form, old, is_large, type_p);
}

int mur_type_create_struct(MPI_Count count, const MPI_Count *blocklengths, const MPI_Count *displacements,
                           struct mur_type *const *olds, bool is_large, struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    int rc = check_blocklengths(count, blocklengths);

    for (MPI_Count i = 0; !rc && i < count; i++)
        rc = check_component(olds[i]);
    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_STRUCT, is_large, 1 + count, count, 0, count);
    if (!type)
        return no_memory();
    mur_type_recipe_count(type, count);
    for (MPI_Count i = 0; i < count; i++)
        mur_type_recipe_count(type, blocklengths[i]);
    for (MPI_Count i = 0; i < count; i++) {
        mur_type_recipe_displacement(type, displacements[i]);
        mur_type_recipe_type(type, olds[i]);
        weigh(&bounds, type, olds[i], blocklengths[i]);
        extend(&bounds, olds[i], displacements[i], blocklengths[i]);
    }
    return finish(type, &bounds, type_p);
}

int mur_type_create_resized(struct mur_type *old, MPI_Count lb, MPI_Count extent, bool is_large,
                            struct mur_type **type_p)
{
    struct mur_type *type;
    struct bounds bounds = {0};
    int rc = check_component(old);

    if (rc)
        return rc;
    type = mur_type_recipe_start(MPI_COMBINER_RESIZED, is_large, 0, 2, 0, 1);
    if (!type)
        return no_memory();
    mur_type_recipe_displacement(type, lb);
    mur_type_recipe_displacement(type, extent);
    mur_type_recipe_type(type, old);
    weigh(&bounds, type, old, 1);
    extend(&bounds, old, 0, 1);
    bounds.has_marks = true;
    bounds.low_mark = lb;
    bounds.high_mark = add(&bounds, lb, extent);
    return finish(type, &bounds, type_p);
}
