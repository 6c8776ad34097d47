/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes for sections of arrays. A call with a section must act as if the section's elements lay side by side, in a
 * virtual buffer, to which the caller's count and datatype apply. mur_section_type makes the datatype of the same data
 * at their real places, relative to the section's first element.
 *
 * If the datatype has no gaps and an element of the array holds a whole number of them, each dimension of the array is
 * a vector of the one before. Any other datatype is laid out byte by byte: MPI_Pack of a virtual buffer whose bytes
 * hold digits of their own positions tells which bytes the datatype takes, and in which order. */
#include <stdlib.h>
#include <string.h>

#include "fortran/section.h"

static void free_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        PMPI_Type_free(type);
}

/* ---- Vectors of vectors */

/* Joins two datatypes, the second at `place`, and takes both over. Either may be MPI_DATATYPE_NULL. */
static int join(MPI_Datatype first, MPI_Datatype second, MPI_Aint place, MPI_Datatype *made)
{
    MPI_Datatype both[2] = {first, second};
    int code;

    if (second == MPI_DATATYPE_NULL) {
        *made = first;
        return MPI_SUCCESS;
    }
    code = PMPI_Type_create_struct(2 - (first == MPI_DATATYPE_NULL), (const int[2]){1, 1},
                                   first == MPI_DATATYPE_NULL ? &place : (const MPI_Aint[2]){0, place},
                                   both + (first == MPI_DATATYPE_NULL), made);
    free_type(&first);
    free_type(&second);
    return code;
}

/* The first `units` datatypes in the dimensions below `rank`; an element of the array holds `per_element` of them. */
static int make_vectors(const struct mur_descriptor *buffer, int rank, MPI_Count units, MPI_Count per_element,
                        MPI_Datatype datatype, MPI_Datatype *made)
{
    const struct mur_dimension *dim;
    MPI_Datatype slice, whole = MPI_DATATYPE_NULL, rest = MPI_DATATYPE_NULL;
    MPI_Count slice_units = per_element, count;
    int code = MPI_SUCCESS;

    if (rank == 0)
        return PMPI_Type_contiguous_c(units, datatype, made);
    dim = &buffer->dim[rank - 1];
    for (int i = 0; i < rank - 1; i++)
        slice_units *= buffer->dim[i].extent;
    count = units / slice_units;
    if (count > 0) {
        code = make_vectors(buffer, rank - 1, slice_units, per_element, datatype, &slice);
        if (code)
            return code;
        code = PMPI_Type_create_hvector_c(count, 1, dim->sm, slice, &whole);
        free_type(&slice);
    }
    if (!code && units % slice_units)
        code = make_vectors(buffer, rank - 1, units % slice_units, per_element, datatype, &rest);
    if (!code)
        return join(whole, rest, count * dim->sm, made);
    free_type(&whole);
    return code;
}

/* ---- Byte by byte */

/* Blocks of bytes in the order in which the datatype takes them; neighbours are one block. */
struct blocks {
    MPI_Count count, room;
    MPI_Count *places, *lengths;
    const char *base; /* what places are relative to */
    bool is_full;     /* there was no memory */
};

static bool grow(struct blocks *blocks)
{
    MPI_Count room = blocks->room ? 2 * blocks->room : 64;
    MPI_Count *places = realloc(blocks->places, (size_t)room * sizeof *places), *lengths;

    if (places)
        blocks->places = places;
    lengths = realloc(blocks->lengths, (size_t)room * sizeof *lengths);
    if (lengths)
        blocks->lengths = lengths;
    if (places && lengths)
        blocks->room = room;
    return places && lengths;
}

static void add_block(struct blocks *blocks, MPI_Count place, MPI_Count length)
{
    MPI_Count last = blocks->count - 1;

    if (last >= 0 && blocks->places[last] + blocks->lengths[last] == place) {
        blocks->lengths[last] += length;
        return;
    }
    if (blocks->is_full || (blocks->count == blocks->room && !grow(blocks))) {
        blocks->is_full = true;
        return;
    }
    blocks->places[blocks->count] = place;
    blocks->lengths[blocks->count++] = length;
}

static void blocks_free(struct blocks *blocks)
{
    free(blocks->places);
    free(blocks->lengths);
}

/* The blocks of one element of the datatype in the virtual buffer. `map` and `packed` have room for its true extent and
 * its size. */
static int find_positions(const struct mur_section_span *span, MPI_Datatype datatype, unsigned char *map,
                          unsigned char *packed, MPI_Count *positions)
{
    for (int shift = 0; shift == 0 || (shift < 64 && (span->true_extent - 1) >> shift > 0); shift += 8) {
        MPI_Count position = 0;
        int code;

        for (MPI_Count i = 0; i < span->true_extent; i++)
            map[i] = (unsigned char)((uint64_t)i >> shift);
        code = PMPI_Pack_c(map - span->true_lower, 1, datatype, packed, span->size, &position, MPI_COMM_SELF);
        if (code)
            return code;
        for (MPI_Count i = 0; i < span->size; i++)
            positions[i] |= (MPI_Count)packed[i] << shift;
    }
    return MPI_SUCCESS;
}

static int find_blocks(const struct mur_section_span *span, MPI_Datatype datatype, struct blocks *blocks)
{
    unsigned char *map = malloc((size_t)span->true_extent), *packed = malloc((size_t)span->size);
    MPI_Count *positions = calloc((size_t)span->size, sizeof *positions);
    int code = map && packed && positions ? find_positions(span, datatype, map, packed, positions) : mur_no_memory();

    for (MPI_Count i = 0; !code && i < span->size; i++)
        add_block(blocks, span->true_lower + positions[i], 1);
    free(map);
    free(packed);
    free(positions);
    return code;
}

static void add_piece(void *context, char *place, size_t length)
{
    struct blocks *blocks = context;

    add_block(blocks, place - blocks->base, (MPI_Count)length);
}

/* Whether the datatype is not made of others. `counts`: of integers, addresses, large counts and datatypes in it. */
static bool is_basic(MPI_Datatype datatype, MPI_Count counts[4])
{
    int combiner;

    return PMPI_Type_get_envelope_c(datatype, &counts[0], &counts[1], &counts[2], &counts[3], &combiner) ||
           counts[3] == 0 || combiner == MPI_COMBINER_VALUE_INDEX;
}

/* The first basic datatype in another: of one that is made of one kind of elements, their kind, which accumulating
 * calls need to see. MPI_BYTE: there was no memory. */
static MPI_Datatype first_basic(MPI_Datatype datatype)
{
    MPI_Count counts[4], unused[4];
    MPI_Datatype basic = MPI_BYTE, *types;
    int *integers;

    if (is_basic(datatype, counts))
        return datatype;
    types = malloc((size_t)counts[3] * sizeof *types + (size_t)(counts[1] + counts[2]) * sizeof(MPI_Count) +
                   (size_t)counts[0] * sizeof *integers);
    if (!types)
        return basic;
    integers = (int *)((MPI_Count *)(types + counts[3]) + counts[1] + counts[2]);
    if (!PMPI_Type_get_contents_c(datatype, counts[0], counts[1], counts[2], counts[3], integers,
                                  (MPI_Aint *)(types + counts[3]), (MPI_Count *)(types + counts[3]) + counts[1],
                                  types)) {
        basic = first_basic(types[0]);
        for (MPI_Count i = 0; i < counts[3]; i++)
            if (!is_basic(types[i], unused))
                PMPI_Type_free(&types[i]);
    }
    free(types);
    return basic;
}

/* Makes the datatype of the blocks: of elements of `basic` if they are whole ones, else of bytes. */
static int type_of_blocks(const struct blocks *blocks, MPI_Datatype basic, MPI_Datatype *made)
{
    MPI_Count size = 1, lower, extent;

    if (PMPI_Type_size_c(basic, &size) || PMPI_Type_get_extent_c(basic, &lower, &extent) || size <= 0)
        size = 1;
    for (MPI_Count i = 0; i < blocks->count && size > 1; i++)
        if (size == extent ? blocks->lengths[i] % size : blocks->lengths[i] != size)
            size = 1;
    for (MPI_Count i = 0; i < blocks->count; i++)
        blocks->lengths[i] /= size;
    return PMPI_Type_create_hindexed_c(blocks->count, blocks->lengths, blocks->places, size > 1 ? basic : MPI_BYTE,
                                       made);
}

static int make_of_blocks(const struct mur_descriptor *buffer, const struct mur_section_span *span, MPI_Count count,
                          MPI_Datatype datatype, MPI_Datatype *made)
{
    struct blocks virtual = {0}, real = {.base = buffer->base_addr};
    int code = find_blocks(span, datatype, &virtual);

    for (MPI_Count i = 0; !code && i < count; i++)
        for (MPI_Count j = 0; j < virtual.count; j++)
            mur_section_walk(buffer, (size_t)(i * span->extent + virtual.places[j]), (size_t) virtual.lengths[j],
                             add_piece, &real);
    if (!code && (virtual.is_full || real.is_full))
        code = mur_no_memory();
    if (!code)
        code = type_of_blocks(&real, first_basic(datatype), made);
    blocks_free(&virtual);
    blocks_free(&real);
    return code;
}

/* ---- */

int mur_section_type(const struct mur_descriptor *buffer, const struct mur_section_span *span, MPI_Count count,
                     MPI_Datatype datatype, MPI_Datatype *made)
{
    bool has_gaps = span->size != span->extent || span->size != span->true_extent || span->true_lower != 0;
    MPI_Datatype own;
    int code;

    if (!has_gaps && buffer->elem_len % (size_t)span->size == 0) {
        code = make_vectors(buffer, buffer->rank, count, (MPI_Count)buffer->elem_len / span->size, datatype, made);
    } else {
        /* MPI_Pack wants a committed datatype. */
        code = PMPI_Type_dup(datatype, &own);
        if (code)
            return code;
        code = PMPI_Type_commit(&own);
        if (!code)
            code = make_of_blocks(buffer, span, count, own, made);
        PMPI_Type_free(&own);
    }
    return code ? code : PMPI_Type_commit(made);
}
