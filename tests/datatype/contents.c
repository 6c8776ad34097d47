/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of random nested datatypes through the public interface: each is taken apart by envelope and contents and
 * built again from them, and the copy packs the same bytes; pack and unpack in pieces, external32, sends to itself and
 * counts of elements agree with each other. Half of the types are made by the large-count constructors. */
#include "random.h"

enum { TYPES = 3000, ROOM = 1 << 16, MOST = 600 };

static MPI_Datatype basics[] = {MPI_CHAR,      MPI_SHORT,          MPI_INT, MPI_DOUBLE, MPI_FLOAT_INT,
                                MPI_LONG_LONG, MPI_C_FLOAT_COMPLEX};
static const int basic_elements[] = {1, 1, 1, 1, 2, 1, 1};

struct sample {
    MPI_Datatype type;
    long elements; /* basic ones, pairs as two */
};
static struct sample pool[16];
static int pool_count;

static struct sample basic(void)
{
    int i = random_below(7);

    return (struct sample){basics[i], basic_elements[i]};
}

static struct sample pick(void)
{
    return pool_count && random_below(3) ? pool[random_below(pool_count)] : basic();
}

/* Displacements that do not overlap, so that unpacking is defined: blocks one behind the other with random gaps, in
 * bytes where `unit` is 1. */
static MPI_Count places(struct sample old, int count, const int *lengths, MPI_Count *out, MPI_Count unit)
{
    MPI_Count lb, extent, at = 0;

    MPI_Type_get_extent_c(old.type, &lb, &extent);
    for (int i = 0; i < count; i++) {
        at += random_below(3) * (unit ? 1 : 8);
        out[i] = at;
        at += unit ? lengths[i] : lengths[i] * extent + 16;
    }
    return at;
}

static struct sample make(void)
{
    struct sample old = pick(), new = {0};
    int count = 1 + random_below(4), length = 1 + random_below(3), stride = length + random_below(3),
        large = random_below(2);
    int lengths[4], ints[4];
    MPI_Aint aints[4];
    MPI_Count wide_lengths[4], wide[4], lb, extent;
    long total = 0;

    for (int i = 0; i < 4; i++)
        wide_lengths[i] = lengths[i] = 1 + random_below(3);
    for (int i = 0; i < count; i++)
        total += lengths[i];
    MPI_Type_get_extent_c(old.type, &lb, &extent);
    switch (random_below(9)) {
    case 0:
        large ? MPI_Type_contiguous_c(count, old.type, &new.type) : MPI_Type_contiguous(count, old.type, &new.type);
        new.elements = count *old.elements;
        break;
    case 1:
        large ? MPI_Type_vector_c(count, length, stride, old.type, &new.type)
              : MPI_Type_vector(count, length, stride, old.type, &new.type);
        new.elements = (long)count *length *old.elements;
        break;
    case 2:
        large ? MPI_Type_create_hvector_c(count, length, stride * extent + 8, old.type, &new.type)
              : MPI_Type_create_hvector(count, length, stride * extent + 8, old.type, &new.type);
        new.elements = (long)count *length *old.elements;
        break;
    case 3:
        places(old, count, lengths, wide, 1);
        for (int i = 0; i < count; i++)
            ints[i] = (int)wide[i];
        large ? MPI_Type_indexed_c(count, wide_lengths, wide, old.type, &new.type)
              : MPI_Type_indexed(count, lengths, ints, old.type, &new.type);
        new.elements = total *old.elements;
        break;
    case 4:
        places(old, count, lengths, wide, 0);
        for (int i = 0; i < count; i++)
            aints[i] = (MPI_Aint)wide[i];
        large ? MPI_Type_create_hindexed_c(count, wide_lengths, wide, old.type, &new.type)
              : MPI_Type_create_hindexed(count, lengths, aints, old.type, &new.type);
        new.elements = total *old.elements;
        break;
    case 5:
        for (int i = 0; i < count; i++)
            wide[i] = ints[i] = i * (length + 1);
        large ? MPI_Type_create_indexed_block_c(count, length, wide, old.type, &new.type)
              : MPI_Type_create_indexed_block(count, length, ints, old.type, &new.type);
        new.elements = (long)count *length *old.elements;
        break;
    case 6: {
        MPI_Datatype types[4];
        MPI_Count at = 0;

        for (int i = 0; i < count; i++) {
            struct sample part = pick();

            MPI_Type_get_true_extent_c(part.type, &lb, &extent);
            types[i] = part.type;
            lengths[i] = 1;
            wide_lengths[i] = 1;
            wide[i] = aints[i] = (MPI_Aint)(at - lb);
            at += extent + random_below(9);
            new.elements += part.elements;
        }
        large ? MPI_Type_create_struct_c(count, wide_lengths, wide, types, &new.type)
              : MPI_Type_create_struct(count, lengths, aints, types, &new.type);
        break;
    }
    case 7: {
        int sizes[2] = {3, 4}, subsizes[2] = {2, 1 + random_below(4)}, starts[2] = {random_below(2), 0};
        MPI_Count wide_sizes[2] = {3, 4}, wide_subsizes[2] = {2, subsizes[1]}, wide_starts[2] = {starts[0], 0};
        int order = random_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;

        if (order == MPI_ORDER_FORTRAN)
            subsizes[1] = wide_subsizes[1] = 2;
        large ? MPI_Type_create_subarray_c(2, wide_sizes, wide_subsizes, wide_starts, order, old.type, &new.type)
              : MPI_Type_create_subarray(2, sizes, subsizes, starts, order, old.type, &new.type);
        new.elements = (long)subsizes[0] * subsizes[1] * old.elements;
        break;
    }
    default:
        large ? MPI_Type_create_resized_c(old.type, lb - 4, extent + 24, &new.type)
              : MPI_Type_create_resized(old.type, (MPI_Aint)lb - 4, (MPI_Aint)extent + 24, &new.type);
        new.elements = old.elements;
        break;
    }
    return new;
}

/* The same type, made from what the library tells. */
static MPI_Datatype rebuild(MPI_Datatype type)
{
    MPI_Count counts[4], larges[64];
    int combiner, ints[64];
    MPI_Aint aints[64];
    MPI_Datatype types[8], made = MPI_DATATYPE_NULL, *parts = types;

    MPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner);
    if (combiner == MPI_COMBINER_NAMED)
        return type;
    if (counts[2] == 0) {
        int small[3], small_combiner;

        CHECK(MPI_Type_get_envelope(type, &small[0], &small[1], &small[2], &small_combiner) == MPI_SUCCESS);
        CHECK(small[0] == counts[0] && small[1] == counts[1] && small[2] == counts[3] && small_combiner == combiner);
        CHECK(MPI_Type_get_contents(type, 64, 64, 8, ints, aints, types) == MPI_SUCCESS);
    } else {
        int small[3];

        CHECK(MPI_Type_get_envelope(type, &small[0], &small[1], &small[2], &combiner) != MPI_SUCCESS);
        CHECK(MPI_Type_get_contents_c(type, 64, 64, 64, 8, ints, aints, larges, types) == MPI_SUCCESS);
    }
    for (int i = 0; i < counts[3]; i++) {
        MPI_Datatype part = rebuild(types[i]);
        int ignored[3], part_combiner;

        MPI_Type_get_envelope_c(types[i], &(MPI_Count){0}, &(MPI_Count){0}, &(MPI_Count){0}, &(MPI_Count){0},
                                &part_combiner);
        (void)ignored;
        if (part_combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&types[i]); /* the handle that we were given */
        types[i] = part;
    }
#define LARGE counts[2]
    switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        LARGE ? MPI_Type_contiguous_c(larges[0], *parts, &made) : MPI_Type_contiguous(ints[0], *parts, &made);
        break;
    case MPI_COMBINER_VECTOR:
        LARGE ? MPI_Type_vector_c(larges[0], larges[1], larges[2], *parts, &made)
              : MPI_Type_vector(ints[0], ints[1], ints[2], *parts, &made);
        break;
    case MPI_COMBINER_HVECTOR:
        LARGE ? MPI_Type_create_hvector_c(larges[0], larges[1], larges[2], *parts, &made)
              : MPI_Type_create_hvector(ints[0], ints[1], aints[0], *parts, &made);
        break;
    case MPI_COMBINER_INDEXED:
        LARGE ? MPI_Type_indexed_c(larges[0], larges + 1, larges + 1 + larges[0], *parts, &made)
              : MPI_Type_indexed(ints[0], ints + 1, ints + 1 + ints[0], *parts, &made);
        break;
    case MPI_COMBINER_HINDEXED:
        LARGE ? MPI_Type_create_hindexed_c(larges[0], larges + 1, larges + 1 + larges[0], *parts, &made)
              : MPI_Type_create_hindexed(ints[0], ints + 1, aints, *parts, &made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        LARGE ? MPI_Type_create_indexed_block_c(larges[0], larges[1], larges + 2, *parts, &made)
              : MPI_Type_create_indexed_block(ints[0], ints[1], ints + 2, *parts, &made);
        break;
    case MPI_COMBINER_STRUCT:
        LARGE ? MPI_Type_create_struct_c(larges[0], larges + 1, larges + 1 + larges[0], types, &made)
              : MPI_Type_create_struct(ints[0], ints + 1, aints, types, &made);
        break;
    case MPI_COMBINER_SUBARRAY:
        LARGE ? MPI_Type_create_subarray_c(ints[0], larges, larges + ints[0], larges + 2 * ints[0], ints[1], *parts,
                                           &made)
              : MPI_Type_create_subarray(ints[0], ints + 1, ints + 1 + ints[0], ints + 1 + 2 * ints[0],
                                         ints[1 + 3 * ints[0]], *parts, &made);
        break;
    case MPI_COMBINER_RESIZED:
        LARGE ? MPI_Type_create_resized_c(*parts, larges[0], larges[1], &made)
              : MPI_Type_create_resized(*parts, aints[0], aints[1], &made);
        break;
    default:
        CHECK(!"a combiner that was not made");
    }
    for (int i = 0; i < counts[3]; i++) {
        MPI_Type_get_envelope_c(types[i], &(MPI_Count){0}, &(MPI_Count){0}, &(MPI_Count){0}, &(MPI_Count){0},
                                &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&types[i]);
    }
    MPI_Type_commit(&made);
    return made;
}

static char memory[2][ROOM], packed[2][ROOM];

static char *fill(int which, unsigned seed)
{
    for (int i = 0; i < ROOM; i++)
        memory[which][i] = (char)(seed ? (i * 7 + i / 251 + (int)seed) : 0);
    return memory[which] + ROOM / 2;
}

static void check(struct sample sample)
{
    MPI_Datatype type = sample.type, copy;
    char *a = fill(0, 1), *b = fill(1, 0);
    int size, position = 0, at = 0, copy_size, external, elements, got;
    MPI_Count lb[2], extent[2];
    MPI_Aint place = 0, external_size;
    MPI_Status status;

    MPI_Type_commit(&type);
    copy = rebuild(type);
    MPI_Type_size(type, &size);
    MPI_Type_size(copy, &copy_size);
    MPI_Type_get_extent_c(type, &lb[0], &extent[0]);
    MPI_Type_get_extent_c(copy, &lb[1], &extent[1]);
    CHECK(size == copy_size && lb[0] == lb[1] && extent[0] == extent[1]);
    MPI_Pack_size(1, type, MPI_COMM_WORLD, &got);
    CHECK(got >= size);
    CHECK(MPI_Pack(a, 1, type, packed[0], ROOM, &position, MPI_COMM_WORLD) == MPI_SUCCESS && position == size);
    CHECK(MPI_Pack(a, 1, copy, packed[1], ROOM, &at, MPI_COMM_WORLD) == MPI_SUCCESS && at == size);
    CHECK(!memcmp(packed[0], packed[1], (size_t)size));

    /* There and back. */
    at = 0;
    CHECK(MPI_Unpack(packed[0], size, &at, b, 1, type, MPI_COMM_WORLD) == MPI_SUCCESS && at == size);
    at = 0;
    MPI_Pack(b, 1, copy, packed[1], ROOM, &at, MPI_COMM_WORLD);
    CHECK(!memcmp(packed[0], packed[1], (size_t)size));

    MPI_Pack_external_size("external32", 1, type, &external_size);
    external = (int)external_size;
    CHECK(MPI_Pack_external("external32", a, 1, type, packed[1], ROOM, &place) == MPI_SUCCESS && place == external);
    b = fill(1, 0);
    place = 0;
    CHECK(MPI_Unpack_external("external32", packed[1], external, &place, b, 1, type) == MPI_SUCCESS);
    at = 0;
    MPI_Pack(b, 1, type, packed[1], ROOM, &at, MPI_COMM_WORLD);
    CHECK(!memcmp(packed[0], packed[1], (size_t)size));

    /* A message to itself, received as another layout of the same signature, and its elements. */
    b = fill(1, 0);
    MPI_Sendrecv(a, 1, type, 0, 0, b, 1, copy, 0, 0, MPI_COMM_SELF, &status);
    at = 0;
    MPI_Pack(b, 1, type, packed[1], ROOM, &at, MPI_COMM_WORLD);
    CHECK(!memcmp(packed[0], packed[1], (size_t)size));
    MPI_Get_elements(&status, type, &elements);
    MPI_Get_count(&status, type, &got);
    CHECK(elements == sample.elements && got == 1);
    for (int some = 0; some <= 2 * sample.elements; some += 1 + random_below(5)) {
        MPI_Status_set_elements(&status, type, some);
        MPI_Get_elements(&status, type, &elements);
        MPI_Get_count(&status, type, &got);
        CHECK(elements == some && got == (some % sample.elements ? MPI_UNDEFINED : some / (int)sample.elements));
    }
    MPI_Type_free(&copy);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < TYPES; i++) {
        struct sample sample = make();
        MPI_Count lb, extent;
        int where;

        MPI_Type_get_true_extent_c(sample.type, &lb, &extent);
        if (sample.elements > MOST || extent > ROOM / 8 || lb < -ROOM / 4 || lb > ROOM / 4) {
            MPI_Type_free(&sample.type);
            continue;
        }
        check(sample);
        where = pool_count < 16 ? pool_count++ : random_below(16);
        if (pool[where].type)
            MPI_Type_free(&pool[where].type);
        pool[where] = sample;
    }
    for (int i = 0; i < pool_count; i++)
        MPI_Type_free(&pool[i].type);
    MPI_Finalize();
    return 0;
}
