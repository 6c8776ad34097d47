/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds thousands of nested datatypes and compares size, bounds, packing, unpacking and vectors with the naive
 * reference. The seed is printed; MUR_TEST_SEED repeats one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datatype/basic.h"
#include "datatype/layout.h"
#include "object/type_create.h"
#include "reference.h"

enum { TYPES = 4000, KEPT = 24, MOST_ENTRIES = 1500, MOST_SPAN = 1 << 20, MOST_PARTS = 6 };

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: type %d: %s\n", __FILE__, __LINE__, current, #condition);                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct sample {
    struct mur_type *type;
    struct reference reference;
};

static int current; /* the number of the type being tested */
static struct sample kept[KEPT];

static long extent_of(const struct sample *sample)
{
    long lb, extent;

    reference_bounds(&sample->reference, &lb, &extent);
    return extent;
}

static struct sample make_basic(void)
{
    static const int choices[] = {MUR_BASIC_BYTE,      MUR_BASIC_SHORT,       MUR_BASIC_INT,
                                  MUR_BASIC_DOUBLE,    MUR_BASIC_LONG_DOUBLE, MUR_BASIC_C_COMPLEX,
                                  MUR_BASIC_SHORT_INT, MUR_BASIC_DOUBLE_INT,  MUR_BASIC_LONG_DOUBLE_INT};
    const struct mur_basic_row *row = &mur_basics[choices[random_below(9)]];
    struct sample sample = {.type = mur_type_find(row->handle)};

    reference_add(&sample.reference, (struct entry){ENTRY_DATA, 0, row->size - row->index_size, row->alignment});
    if (row->index_size)
        reference_add(&sample.reference,
                      (struct entry){ENTRY_DATA, row->index_offset, row->index_size, row->index_size});
    return sample;
}

static const struct sample *pick(void)
{
    return &kept[random_below(KEPT)];
}

static void make_vector(struct sample *new)
{
    const struct sample *old = pick();
    long count = random_below(MOST_PARTS), length = random_below(5), stride = random_from(-4, 9);
    bool in_bytes = random_below(2);
    long bytes;

    if (in_bytes)
        stride *= random_from(1, 5);
    bytes = in_bytes ? stride : stride * extent_of(old);
    CHECK(!(in_bytes ? mur_type_create_hvector : mur_type_create_vector)(count, length, stride, old->type,
                                                                         random_below(2), &new->type));
    for (long i = 0; i < count; i++)
        reference_append_block(&new->reference, &old->reference, i * bytes, length);
}

static void make_indexed(struct sample *new)
{
    const struct sample *old = pick();
    MPI_Count count = random_below(MOST_PARTS), lengths[MOST_PARTS], places[MOST_PARTS];
    bool in_bytes = random_below(2), is_block = random_below(2), is_regular = random_below(3) == 0;
    bool is_large = random_below(2);
    long unit = in_bytes ? 1 : extent_of(old);
    int rc;

    for (MPI_Count i = 0; i < count; i++) {
        lengths[i] = is_block && i > 0 ? lengths[0] : random_below(4);
        places[i] = is_regular ? 7 * i : random_from(-10, 40);
    }
    if (is_block)
        rc = (in_bytes ? mur_type_create_hindexed_block : mur_type_create_indexed_block)(
            count, count ? lengths[0] : 0, places, old->type, is_large, &new->type);
    else
        rc = (in_bytes ? mur_type_create_hindexed : mur_type_create_indexed)(count, lengths, places, old->type,
                                                                             is_large, &new->type);
    CHECK(!rc);
    for (MPI_Count i = 0; i < count; i++)
        reference_append_block(&new->reference, &old->reference, places[i] * unit, lengths[i]);
}

static void make_struct(struct sample *new)
{
    MPI_Count count = random_below(MOST_PARTS), lengths[MOST_PARTS], places[MOST_PARTS];
    struct mur_type *olds[MOST_PARTS];
    long end = 0;

    for (MPI_Count i = 0; i < count; i++) {
        const struct sample *old = pick();
        olds[i] = old->type;
        lengths[i] = random_below(3);
        places[i] = random_below(2) ? end : random_from(-100, 300);
        end = places[i] + lengths[i] * extent_of(old);
        reference_append_block(&new->reference, &old->reference, places[i], lengths[i]);
    }
    CHECK(!mur_type_create_struct(count, lengths, places, olds, random_below(2), &new->type));
}

static void make_simple(struct sample *new)
{
    const struct sample *old = pick();
    long count, lb, extent;

    switch (random_below(3)) {
    case 0:
        count = random_below(MOST_PARTS);
        CHECK(!mur_type_create_contiguous(count, old->type, random_below(2), &new->type));
        reference_append_block(&new->reference, &old->reference, 0, count);
        break;
    case 1:
        CHECK(!mur_type_create_dup(old->type, &new->type));
        reference_append(&new->reference, &old->reference, 0);
        break;
    default:
        lb = random_from(-30, 30);
        extent = random_from(-20, 200);
        CHECK(!mur_type_create_resized(old->type, lb, extent, random_below(2), &new->type));
        reference_append(&new->reference, &old->reference, 0);
        reference_resize(&new->reference, lb, lb + extent);
        break;
    }
}

/* One dimension of an array, and which of its indexes the process has. */
struct dimension {
    long length;
    bool mine[12];
};

/* Appends the elements at the indexes that are mine in all dimensions; `slow` is the order of the dimensions from the
 * slowest to the fastest. */
static void append_mine(struct sample *new, const struct sample *old, const struct dimension *dimensions,
                        const int *slow, int ndims, int depth, long index)
{
    const struct dimension *dimension = &dimensions[slow[depth < ndims ? depth : 0]];

    if (depth == ndims) {
        reference_append(&new->reference, &old->reference, index * extent_of(old));
        return;
    }
    for (long i = 0; i < dimension->length; i++)
        if (dimension->mine[i])
            append_mine(new, old, dimensions, slow, ndims, depth + 1, index * dimension->length + i);
}

static void append_array(struct sample *new, const struct sample *old, const struct dimension *dimensions, int ndims,
                         int order)
{
    long elements = 1;
    int slow[3];

    for (int i = 0; i < ndims; i++) {
        slow[i] = order == MPI_ORDER_C ? i : ndims - 1 - i;
        elements *= dimensions[i].length;
    }
    append_mine(new, old, dimensions, slow, ndims, 0, 0);
    reference_resize(&new->reference, 0, elements * extent_of(old));
}

static int random_order(void)
{
    return random_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

static void make_subarray(struct sample *new)
{
    const struct sample *old = pick();
    int ndims = (int)random_from(1, 3), order = random_order();
    struct dimension dimensions[3] = {0};
    MPI_Count sizes[3], subsizes[3], starts[3];

    for (int i = 0; i < ndims; i++) {
        dimensions[i].length = sizes[i] = random_from(1, 6);
        subsizes[i] = random_from(1, sizes[i]);
        starts[i] = random_from(0, sizes[i] - subsizes[i]);
        for (MPI_Count k = 0; k < subsizes[i]; k++)
            dimensions[i].mine[starts[i] + k] = true;
    }
    CHECK(!mur_type_create_subarray(ndims, sizes, subsizes, starts, order, old->type, random_below(2), &new->type));
    append_array(new, old, dimensions, ndims, order);
}

static void make_darray(struct sample *new)
{
    const struct sample *old = pick();
    int ndims = (int)random_from(1, 3), order = random_order(), size = 1, rank, rest;
    struct dimension dimensions[3] = {0};
    MPI_Count gsizes[3];
    int distribs[3], dargs[3], psizes[3];

    for (int i = 0; i < ndims; i++) {
        dimensions[i].length = gsizes[i] = random_from(1, 12);
        distribs[i] = (int)random_from(MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC);
        psizes[i] = distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : (int)random_from(1, 4);
        dargs[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (random_below(2) && distribs[i] == MPI_DISTRIBUTE_CYCLIC)
            dargs[i] = (int)random_from(1, 5);
        if (random_below(2) && distribs[i] == MPI_DISTRIBUTE_BLOCK)
            dargs[i] = (int)((gsizes[i] + psizes[i] - 1) / psizes[i] + random_below(3));
        size *= psizes[i];
    }
    rank = rest = (int)random_below(size);
    for (int i = ndims - 1; i >= 0; i--) {
        int place = rest % psizes[i];
        long block = dargs[i];
        rest /= psizes[i];
        if (dargs[i] == MPI_DISTRIBUTE_DFLT_DARG)
            block = distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (gsizes[i] + psizes[i] - 1) / psizes[i];
        for (long k = 0; k < gsizes[i]; k++)
            dimensions[i].mine[k] = distribs[i] == MPI_DISTRIBUTE_NONE || k / block % psizes[i] == place;
    }
    CHECK(!mur_type_create_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, old->type, random_below(2),
                                  &new->type));
    append_array(new, old, dimensions, ndims, order);
}

static void check_bounds(const struct sample *sample)
{
    const struct mur_type *type = sample->type;
    long lb, extent;

    CHECK(type->size == reference_size(&sample->reference));
    reference_bounds(&sample->reference, &lb, &extent);
    CHECK(type->lb == lb);
    CHECK(type->extent == extent);
    reference_true_bounds(&sample->reference, &lb, &extent);
    CHECK(type->true_lb == lb);
    CHECK(type->true_extent == extent);
}

/* A buffer that holds some elements of a type, and where each byte of data lies in it. */
struct arena {
    char *memory, *expected;
    char *buffer; /* the address for the cursor, somewhere in (or before or behind) memory */
    long span;
    long *bytes; /* offsets from memory */
    long count;  /* bytes of data */
};

static void arena_start(struct arena *arena, const struct sample *sample, long elements)
{
    long low = 0, high = 1;

    arena->bytes = reference_bytes(&sample->reference, elements);
    arena->count = elements * reference_size(&sample->reference);
    for (long i = 0; i < arena->count; i++) {
        low = i == 0 || arena->bytes[i] < low ? arena->bytes[i] : low;
        high = i == 0 || arena->bytes[i] + 1 > high ? arena->bytes[i] + 1 : high;
    }
    arena->span = high - low;
    arena->memory = malloc((size_t)arena->span);
    arena->expected = malloc((size_t)arena->span);
    CHECK(arena->memory && arena->expected);
    arena->buffer = (char *)((uintptr_t)arena->memory - (uintptr_t)low);
    for (long i = 0; i < arena->count; i++)
        arena->bytes[i] -= low;
    for (long i = 0; i < arena->span; i++)
        arena->memory[i] = (char)random_below(256);
}

static void arena_free(struct arena *arena)
{
    free(arena->memory);
    free(arena->expected);
    free(arena->bytes);
}

static size_t random_piece(const struct arena *arena)
{
    return (size_t)(random_below(3) ? random_below(arena->count + 1) : random_below(20));
}

static void check_pack(const struct arena *arena, struct mur_cursor cursor)
{
    char *packed = malloc((size_t)arena->count + 1);

    CHECK(packed);
    memset(packed, 0, (size_t)arena->count + 1);
    while (cursor.position < cursor.bytes) {
        size_t piece = random_piece(arena), rest = cursor.bytes - cursor.position, position = cursor.position;
        CHECK(mur_cursor_pack(&cursor, packed + position, piece) == (piece < rest ? piece : rest));
    }
    for (long i = 0; i < arena->count; i++)
        CHECK(packed[i] == arena->memory[arena->bytes[i]]);
    for (int tries = 0; arena->count > 0 && tries < 5; tries++) {
        size_t position = (size_t)random_below(arena->count), bytes;
        mur_cursor_seek(&cursor, position);
        bytes = mur_cursor_pack(&cursor, packed, random_piece(arena));
        for (size_t i = 0; i < bytes; i++)
            CHECK(packed[i] == arena->memory[arena->bytes[position + i]]);
    }
    free(packed);
}

static void check_unpack(const struct arena *arena, struct mur_cursor cursor)
{
    char *packed = malloc((size_t)arena->count + 1);

    CHECK(packed);
    memcpy(arena->expected, arena->memory, (size_t)arena->span);
    for (long i = 0; i < arena->count; i++) {
        packed[i] = (char)random_below(256);
        arena->expected[arena->bytes[i]] = packed[i];
    }
    while (cursor.position < cursor.bytes)
        mur_cursor_unpack(&cursor, packed + cursor.position, random_piece(arena));
    CHECK(memcmp(arena->expected, arena->memory, (size_t)arena->span) == 0);
    free(packed);
}

static void check_vectors(const struct arena *arena, struct mur_cursor cursor)
{
    struct iovec vectors[9];
    long passed = 0;

    while (cursor.position < cursor.bytes) {
        size_t limit = 1 + random_piece(arena), described = 0;
        int max = (int)random_from(1, 9), n = mur_cursor_vectors(&cursor, vectors, max, limit);
        CHECK(n >= 1 && n <= max);
        for (int i = 0; i < n; i++) {
            const char *base = vectors[i].iov_base;
            for (size_t b = 0; b < vectors[i].iov_len; b++)
                CHECK(base + b == arena->memory + arena->bytes[passed++]);
            CHECK(i == 0 || base != (const char *)vectors[i - 1].iov_base + vectors[i - 1].iov_len);
            described += vectors[i].iov_len;
        }
        CHECK(described <= limit);
        CHECK(cursor.position == (size_t)passed);
        CHECK(n == max || described == limit || cursor.position == cursor.bytes);
    }
    CHECK(mur_cursor_vectors(&cursor, vectors, 9, 100) == 0);
}

static void check_data(const struct sample *sample)
{
    long elements = random_from(0, 4);
    struct mur_cursor cursor;
    struct arena arena;

    arena_start(&arena, sample, elements);
    CHECK(!mur_type_commit(sample->type));
    if (sample->type->is_dense)
        for (long i = 0; i < arena.count; i++)
            CHECK(arena.memory + arena.bytes[i] == arena.buffer + i);
    mur_cursor_start(&cursor, arena.buffer, elements, sample->type);
    CHECK(cursor.bytes == (size_t)arena.count);
    check_pack(&arena, cursor);
    check_unpack(&arena, cursor);
    check_vectors(&arena, cursor);
    arena_free(&arena);
}

static bool is_too_big(const struct sample *sample)
{
    long lb, extent, true_lb, true_extent;

    reference_bounds(&sample->reference, &lb, &extent);
    reference_true_bounds(&sample->reference, &true_lb, &true_extent);
    return sample->reference.count > MOST_ENTRIES || labs(lb) + labs(extent) > MOST_SPAN ||
           labs(true_lb) + true_extent > MOST_SPAN;
}

static void make(struct sample *new)
{
    static void (*const makers[])(struct sample *) = {make_vector, make_indexed,  make_struct,
                                                      make_simple, make_subarray, make_darray};

    makers[random_below(6)](new);
}

int main(void)
{
    random_start();
    if (mur_type_setup())
        return 1;
    for (int i = 0; i < KEPT; i++)
        kept[i] = make_basic();
    for (current = 0; current < TYPES; current++) {
        struct sample new = {0};
        struct sample *place = &kept[random_below(KEPT)];
        make(&new);
        check_bounds(&new);
        if (!is_too_big(&new))
            check_data(&new);
        /* The place's old type may be freed although others consist of it. Now and then start afresh. */
        mur_type_release(place->type);
        reference_free(&place->reference);
        if (is_too_big(&new) || random_below(6) == 0) {
            mur_type_release(new.type);
            reference_free(&new.reference);
            new = make_basic();
        }
        *place = new;
    }
    for (int i = 0; i < KEPT; i++) {
        mur_type_release(kept[i].type);
        reference_free(&kept[i].reference);
    }
    printf("%d types agree with the reference\n", TYPES);
    return 0;
}
