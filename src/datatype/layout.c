/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles types into layouts, in normal form:
 *
 *   - repetitions without gaps are one block, repetitions of repetitions in one rhythm are one repetition;
 *   - in a list, neighbours in memory are one part, small lists inside are taken apart, and a list of equal parts at
 *     equal distances is a repetition;
 *   - a repetition of one and a list of one do not occur, nor does anything without data.
 *
 * So a vector of contiguous elements is blocks at one stride however it was spelled. A layout is placed at an
 * origin, the offset of the first byte of the type map; layouts themselves start at 0 and can be shared. */
#include "datatype/layout.h"

#include <stdlib.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "datatype/layout_node.h"
#include "object/type_create.h"

/* A list of at most this many parts is inlined into the list that contains it, so that neighbours merge. */
#define SMALL_LIST 8

struct placed {
    MPI_Count origin;
    struct mur_layout *layout; /* a reference; NULL: no data */
};

static void retain(struct mur_layout *layout)
{
    if (layout)
        layout->references++;
}

void mur_layout_release(struct mur_layout *layout)
{
    if (!layout || --layout->references > 0)
        return;
    if (layout->kind == MUR_LAYOUT_STRIDES)
        mur_layout_release(layout->child);
    if (layout->kind == MUR_LAYOUT_PARTS)
        for (MPI_Count i = 0; i < layout->count; i++)
            mur_layout_release(layout->parts[i].child);
    free(layout);
}

static int no_memory(void)
{
    return mur_error(MPI_ERR_NO_MEM, "no memory for the layout of a datatype");
}

/* A node with room for `parts` parts; NULL: no memory. */
static struct mur_layout *node_new(enum mur_layout_kind kind, MPI_Count size, MPI_Count parts)
{
    struct mur_layout *layout = calloc(1, sizeof *layout + (size_t)parts * sizeof layout->parts[0]);

    if (layout) {
        layout->references = 1;
        layout->kind = kind;
        layout->size = size;
    }
    return layout;
}

/* A block of this size in the place of what is there. */
static int replace_with_block(struct placed *placed, MPI_Count size)
{
    mur_layout_release(placed->layout);
    placed->layout = size ? node_new(MUR_LAYOUT_BLOCK, size, 0) : NULL;
    return size && !placed->layout ? no_memory() : MPI_SUCCESS;
}

/* Whether repetitions at this stride go on in the rhythm of the child's own repetitions. */
static bool is_one_rhythm(const struct mur_layout *child, MPI_Count stride)
{
    MPI_Count span;

    return child->kind == MUR_LAYOUT_STRIDES && !__builtin_mul_overflow(child->count, child->stride, &span) &&
           span == stride;
}

/* Repeats what is placed. On failure it is gone. */
static int repeat(struct placed *placed, MPI_Count count, MPI_Count stride)
{
    struct mur_layout *child = placed->layout, *strides;

    if (!child || count == 1)
        return MPI_SUCCESS;
    if (count == 0)
        return replace_with_block(placed, 0);
    if (child->kind == MUR_LAYOUT_BLOCK && child->size == stride)
        return replace_with_block(placed, count * child->size);
    placed->layout = NULL;
    strides = node_new(MUR_LAYOUT_STRIDES, count * child->size, 0);
    if (!strides) {
        mur_layout_release(child);
        return no_memory();
    }
    strides->count = count;
    strides->stride = stride;
    strides->child = child;
    if (is_one_rhythm(child, stride)) {
        strides->count = count * child->count;
        strides->stride = child->stride;
        strides->child = child->child;
        retain(strides->child);
        mur_layout_release(child);
    }
    placed->layout = strides;
    return MPI_SUCCESS;
}

/* A list under construction. */
struct list {
    struct mur_layout_part *parts;
    MPI_Count count, capacity;
    MPI_Count size;
};

static void list_free(struct list *list)
{
    for (MPI_Count i = 0; i < list->count; i++)
        mur_layout_release(list->parts[i].child);
    free(list->parts);
}

/* Takes over the reference to the child, if any. */
static int list_push(struct list *list, MPI_Count offset, MPI_Count size, struct mur_layout *child)
{
    if (list->count == list->capacity) {
        MPI_Count capacity = list->capacity ? 2 * list->capacity : 16;
        void *parts = realloc(list->parts, (size_t)capacity * sizeof list->parts[0]);
        if (!parts) {
            mur_layout_release(child);
            return no_memory();
        }
        list->parts = parts;
        list->capacity = capacity;
    }
    list->parts[list->count++] = (struct mur_layout_part){offset, list->size, child};
    list->size += size;
    return MPI_SUCCESS;
}

static int list_push_bytes(struct list *list, MPI_Count offset, MPI_Count size)
{
    if (list->count > 0) {
        const struct mur_layout_part *last = &list->parts[list->count - 1];
        if (!last->child && last->offset + (list->size - last->before) == offset) {
            list->size += size;
            return MPI_SUCCESS;
        }
    }
    return list_push(list, offset, size, NULL);
}

/* Adds what is placed, moved by `displacement`; the caller keeps its reference. */
static int list_add(struct list *list, const struct placed *placed, MPI_Count displacement)
{
    struct mur_layout *layout = placed->layout;
    MPI_Count offset = displacement + placed->origin;
    int rc = MPI_SUCCESS;

    if (!layout)
        return MPI_SUCCESS;
    if (layout->kind == MUR_LAYOUT_BLOCK)
        return list_push_bytes(list, offset, layout->size);
    if (layout->kind == MUR_LAYOUT_STRIDES || layout->count > SMALL_LIST) {
        retain(layout);
        return list_push(list, offset, layout->size, layout);
    }
    for (MPI_Count i = 0; !rc && i < layout->count; i++) {
        const struct mur_layout_part *part = &layout->parts[i];
        MPI_Count size = part[1].before - part->before;
        retain(part->child);
        rc = part->child ? list_push(list, offset + part->offset, size, part->child)
                         : list_push_bytes(list, offset + part->offset, size);
    }
    return rc;
}

static bool is_same_shape(const struct mur_layout *a, const struct mur_layout *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->size != b->size || a->kind == MUR_LAYOUT_PARTS)
        return false;
    if (a->kind == MUR_LAYOUT_BLOCK)
        return true;
    return a->count == b->count && a->stride == b->stride && is_same_shape(a->child, b->child);
}

/* The size that all parts have, or 0 where they differ. */
static MPI_Count common_size(const struct list *list)
{
    MPI_Count size = list->size / list->count;

    for (MPI_Count i = 0; i < list->count; i++)
        if (list->parts[i].before != i * size)
            return 0;
    return size * list->count == list->size ? size : 0;
}

static bool is_all_blocks(const struct list *list)
{
    for (MPI_Count i = 0; i < list->count; i++)
        if (list->parts[i].child)
            return false;
    return true;
}

/* Whether the parts are all the same and lie at equal distances. */
static bool is_regular(const struct list *list)
{
    const struct mur_layout_part *parts = list->parts;
    MPI_Count stride = list->count > 1 ? parts[1].offset - parts[0].offset : 0;

    if (!common_size(list))
        return false;
    for (MPI_Count i = 1; i < list->count; i++)
        if (parts[i].offset - parts[i - 1].offset != stride || !is_same_shape(parts[i].child, parts[0].child))
            return false;
    return true;
}

static int list_to_parts(const struct list *list, struct placed *placed)
{
    struct mur_layout *layout = node_new(MUR_LAYOUT_PARTS, list->size, list->count + 1);

    if (!layout)
        return no_memory();
    layout->count = list->count;
    layout->block = is_all_blocks(list) ? common_size(list) : 0;
    for (MPI_Count i = 0; i < list->count; i++) {
        layout->parts[i] = list->parts[i];
        layout->parts[i].offset -= placed->origin;
        retain(layout->parts[i].child);
    }
    layout->parts[list->count].before = list->size;
    placed->layout = layout;
    return MPI_SUCCESS;
}

/* The list in normal form. */
static int list_finish(const struct list *list, struct placed *placed)
{
    struct mur_layout *first;
    int rc = MPI_SUCCESS;

    *placed = (struct placed){0, NULL};
    if (list->count == 0)
        return MPI_SUCCESS;
    placed->origin = list->parts[0].offset;
    if (!is_regular(list))
        return list_to_parts(list, placed);
    first = list->parts[0].child;
    retain(first);
    placed->layout = first;
    if (!first)
        rc = replace_with_block(placed, list->size / list->count);
    if (!rc && list->count > 1)
        rc = repeat(placed, list->count, list->parts[1].offset - list->parts[0].offset);
    return rc;
}

/* Block i of an indexed or struct type, from its recipe. */
struct block {
    MPI_Count length;
    MPI_Count displacement; /* bytes */
    const struct mur_type *type;
};

static struct block block_of(const struct mur_type_recipe *recipe, MPI_Count count, MPI_Count i)
{
    struct block block = {.type = recipe->types[0]};

    switch (recipe->combiner) {
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        block.length = mur_recipe_argument(recipe, 1);
        block.displacement = mur_recipe_argument(recipe, 2 + i);
        break;
    default:
        block.length = mur_recipe_argument(recipe, 1 + i);
        block.displacement = mur_recipe_argument(recipe, 1 + count + i);
        break;
    }
    if (recipe->combiner == MPI_COMBINER_STRUCT)
        block.type = recipe->types[i];
    /* Where a block has no data, its displacement may be any number. */
    if (block.length == 0 || block.type->size == 0)
        block.displacement = 0;
    else if (recipe->combiner == MPI_COMBINER_INDEXED || recipe->combiner == MPI_COMBINER_INDEXED_BLOCK)
        block.displacement *= block.type->extent;
    return block;
}

static struct placed placed_of(const struct mur_type *type)
{
    retain(type->layout);
    return (struct placed){type->origin, type->layout};
}

/* Adds all blocks to the list. Consecutive blocks of one length and type share their layout. */
static int list_add_blocks(struct list *list, const struct mur_type_recipe *recipe)
{
    MPI_Count count = mur_recipe_argument(recipe, 0);
    struct placed run = {0, NULL};
    struct block last = {.length = -1};
    int rc = MPI_SUCCESS;

    for (MPI_Count i = 0; !rc && i < count; i++) {
        struct block block = block_of(recipe, count, i);
        if (block.length != last.length || block.type != last.type) {
            mur_layout_release(run.layout);
            run = placed_of(block.type);
            rc = repeat(&run, block.length, block.type->extent);
            last = block;
        }
        if (!rc)
            rc = list_add(list, &run, block.displacement);
    }
    mur_layout_release(run.layout);
    return rc;
}

static int compile_blocks(const struct mur_type_recipe *recipe, struct placed *placed)
{
    struct list list = {0};
    int rc = list_add_blocks(&list, recipe);

    if (!rc)
        rc = list_finish(&list, placed);
    list_free(&list);
    return rc;
}

/* A pair is two blocks, unless there is no gap between value and index. */
static int compile_basic(const struct mur_basic_row *row, struct placed *placed)
{
    struct list list = {0};
    int rc = list_push_bytes(&list, 0, row->size - row->index_size);

    if (!rc && row->index_size)
        rc = list_push_bytes(&list, row->index_offset, row->index_size);
    if (!rc)
        rc = list_finish(&list, placed);
    list_free(&list);
    return rc;
}

static int compile_vector(const struct mur_type_recipe *recipe, struct placed *placed)
{
    const struct mur_type *old = recipe->types[0];
    MPI_Count stride = mur_recipe_argument(recipe, 2);
    int rc;

    if (recipe->combiner == MPI_COMBINER_VECTOR)
        stride *= old->extent;
    *placed = placed_of(old);
    rc = repeat(placed, mur_recipe_argument(recipe, 1), old->extent);
    return rc ? rc : repeat(placed, mur_recipe_argument(recipe, 0), stride);
}

static int compile(const struct mur_type *type, struct placed *placed)
{
    const struct mur_type_recipe *recipe = &type->recipe;

    *placed = (struct placed){0, NULL};
    if (type->size == 0)
        return MPI_SUCCESS;
    switch (recipe->combiner) {
    case MPI_COMBINER_NAMED:
        return compile_basic(&mur_basics[type->basic], placed);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        *placed = placed_of(recipe->types[0]);
        return MPI_SUCCESS;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_VALUE_INDEX:
        *placed = placed_of(type->expansion);
        return MPI_SUCCESS;
    case MPI_COMBINER_CONTIGUOUS:
        *placed = placed_of(recipe->types[0]);
        return repeat(placed, mur_recipe_argument(recipe, 0), recipe->types[0]->extent);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        return compile_vector(recipe, placed);
    default:
        return compile_blocks(recipe, placed);
    }
}

int mur_layout_compile(struct mur_type *type)
{
    struct placed placed;
    int rc = MPI_SUCCESS;

    if (type->is_compiled)
        return MPI_SUCCESS;
    for (MPI_Count i = 0; !rc && i < type->recipe.type_count; i++)
        rc = mur_layout_compile(type->recipe.types[i]);
    if (!rc && type->expansion)
        rc = mur_layout_compile(type->expansion);
    if (!rc)
        rc = compile(type, &placed);
    if (rc)
        return rc;
    type->layout = placed.layout;
    type->origin = placed.origin;
    type->is_compiled = true;
    return MPI_SUCCESS;
}

bool mur_layout_is_dense(const struct mur_type *type)
{
    const struct mur_layout *layout = type->layout;

    return !layout || (layout->kind == MUR_LAYOUT_BLOCK && type->origin == 0 && layout->size == type->extent);
}
