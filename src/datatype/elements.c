/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the arguments that types were made with, down to the basic types. */
#include "datatype/elements.h"

#include "object/type_create.h"

struct walk {
    mur_element_visitor *visit;
    mur_leaf_visitor *visit_leaf; /* instead */
    void *argument;
};

static int walk_type(const struct walk *walk, const struct mur_type *type, MPI_Count offset);

static int walk_basic(const struct walk *walk, const struct mur_type *type, MPI_Count offset)
{
    const struct mur_basic_row *row = &mur_basics[type->basic];
    int rc = walk->visit(walk->argument, row, 0, offset);

    return rc || !row->index_size ? rc : walk->visit(walk->argument, row, 1, offset + row->index_offset);
}

static int walk_block(const struct walk *walk, const struct mur_type *type, MPI_Count offset, MPI_Count count)
{
    int rc = 0;

    for (MPI_Count i = 0; i < count && !rc; i++)
        rc = walk_type(walk, type, offset + i * type->extent);
    return rc;
}

static int walk_vector(const struct walk *walk, const struct mur_type *type, MPI_Count offset)
{
    const struct mur_type_recipe *recipe = &type->recipe;
    const struct mur_type *old = recipe->types[0];
    MPI_Count count = mur_recipe_argument(recipe, 0), length = mur_recipe_argument(recipe, 1);
    MPI_Count stride = mur_recipe_argument(recipe, 2) * (recipe->combiner == MPI_COMBINER_VECTOR ? old->extent : 1);
    int rc = 0;

    for (MPI_Count i = 0; i < count && !rc; i++)
        rc = walk_block(walk, old, offset + i * stride, length);
    return rc;
}

/* The five combiners with a list of displacements: count, then lengths (or one length), then displacements. */
static int walk_list(const struct walk *walk, const struct mur_type *type, MPI_Count offset)
{
    const struct mur_type_recipe *recipe = &type->recipe;
    bool has_one_length =
        recipe->combiner == MPI_COMBINER_INDEXED_BLOCK || recipe->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool in_elements = recipe->combiner == MPI_COMBINER_INDEXED || recipe->combiner == MPI_COMBINER_INDEXED_BLOCK;
    MPI_Count count = mur_recipe_argument(recipe, 0);
    int rc = 0;

    for (MPI_Count i = 0; i < count && !rc; i++) {
        const struct mur_type *old = recipe->types[recipe->combiner == MPI_COMBINER_STRUCT ? i : 0];
        MPI_Count length = mur_recipe_argument(recipe, has_one_length ? 1 : 1 + i);
        MPI_Count place = mur_recipe_argument(recipe, (has_one_length ? 2 : 1 + count) + i);

        rc = walk_block(walk, old, offset + place * (in_elements ? old->extent : 1), length);
    }
    return rc;
}

static int walk_type(const struct walk *walk, const struct mur_type *type, MPI_Count offset)
{
    const struct mur_type_recipe *recipe = &type->recipe;

    if (type->size == 0)
        return 0;
    if (walk->visit_leaf && (recipe->combiner == MPI_COMBINER_NAMED || recipe->combiner == MPI_COMBINER_VALUE_INDEX))
        return walk->visit_leaf(walk->argument, type, offset);
    if (type->expansion)
        return walk_type(walk, type->expansion, offset);
    switch (recipe->combiner) {
    case MPI_COMBINER_NAMED:
        return walk_basic(walk, type, offset);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return walk_type(walk, recipe->types[0], offset);
    case MPI_COMBINER_CONTIGUOUS:
        return walk_block(walk, recipe->types[0], offset, mur_recipe_argument(recipe, 0));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        return walk_vector(walk, type, offset);
    default:
        return walk_list(walk, type, offset);
    }
}

int mur_elements_walk(const struct mur_type *type, mur_element_visitor *visit, void *argument)
{
    struct walk walk = {.visit = visit, .argument = argument};

    return walk_type(&walk, type, 0);
}

int mur_elements_leaves_walk(const struct mur_type *type, mur_leaf_visitor *visit, void *argument)
{
    struct walk walk = {.visit_leaf = visit, .argument = argument};

    return walk_type(&walk, type, 0);
}

struct counting {
    MPI_Count elements, bytes;           /* passed so far */
    MPI_Count element_limit, byte_limit; /* where to stop */
};

static int count_one(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset)
{
    struct counting *counting = argument;
    int bytes = mur_element_bytes(row, part);

    (void)offset;
    if (counting->elements == counting->element_limit || counting->bytes + bytes > counting->byte_limit)
        return 1;
    counting->elements++;
    counting->bytes += bytes;
    return 0;
}

/* Basic elements in one element of the type. */
static MPI_Count elements_in(const struct mur_type *type)
{
    struct counting counting = {.element_limit = -1, .byte_limit = type->size};

    if (type->basic != MUR_BASIC_MIXED)
        return type->basic_count * (mur_basics[type->basic].index_size ? 2 : 1);
    mur_elements_walk(type, count_one, &counting);
    return counting.elements;
}

/* The size of each basic element, where all are alike; else 0. */
static int common_bytes(const struct mur_type *type)
{
    return type->basic != MUR_BASIC_MIXED && !mur_basics[type->basic].index_size ? mur_basics[type->basic].size : 0;
}

MPI_Count mur_elements_of_bytes(const struct mur_type *type, MPI_Count bytes)
{
    struct counting counting = {.element_limit = -1};
    int common = common_bytes(type);

    if (type->size <= 0)
        return bytes ? MPI_UNDEFINED : 0;
    if (common)
        return bytes % common ? MPI_UNDEFINED : bytes / common;
    counting.byte_limit = bytes % type->size;
    mur_elements_walk(type, count_one, &counting);
    if (counting.bytes != counting.byte_limit)
        return MPI_UNDEFINED;
    return bytes / type->size * elements_in(type) + counting.elements;
}

MPI_Count mur_bytes_of_elements(const struct mur_type *type, MPI_Count elements)
{
    struct counting counting = {.byte_limit = type->size};
    int common = common_bytes(type);
    MPI_Count each, bytes;

    if (type->size <= 0)
        return elements ? -1 : 0;
    if (common)
        return __builtin_mul_overflow(elements, (MPI_Count)common, &bytes) ? -1 : bytes;
    each = elements_in(type);
    counting.element_limit = elements % each;
    mur_elements_walk(type, count_one, &counting);
    if (__builtin_mul_overflow(elements / each, type->size, &bytes) ||
        __builtin_add_overflow(bytes, counting.bytes, &bytes))
        return -1;
    return bytes;
}
