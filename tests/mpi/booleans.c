/* SPDX-License-Identifier: BSD-3-Clause */
/* A Fortran binding whose .TRUE. is -1 and whose .FALSE. is 0, or 7 and 3, says so before MPI_Init: logical operations
 * on LOGICALs of all sizes then give these values, in collectives and in windows; C's truth values stay what they are.
 * The values can be set once; what is none is refused: booleans TRUE FALSE */
#include <stdbool.h>

#include "test.h"

static long long yes, no;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void put(void *at, int size, long long value)
{
    memset(at, value < 0 ? 0xff : 0, (size_t)size);
    memcpy(at, &value, size < 8 ? (size_t)size : 8);
}

static void setting(void)
{
    char one[16], other[16], wide[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    int is_set;

    put(one, 4, yes);
    put(other, 4, no);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(4, one, one)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(4, NULL, one)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(5, one, other)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(16, wide, memset(other, 0, 16))) == MPI_ERR_ABI);
    put(other, 4, no);
    CHECK(MPI_Abi_set_fortran_booleans(4, one, other) == MPI_SUCCESS);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(4, one, other)) == MPI_ERR_ABI);
    for (int size = 1; size <= 16; size *= 2) {
        char got[16], expected[16];

        CHECK(MPI_Abi_get_fortran_booleans(size, got, other, &is_set) == MPI_SUCCESS && is_set);
        put(expected, size, yes);
        CHECK(!memcmp(got, expected, (size_t)size));
        put(expected, size, no);
        CHECK(!memcmp(other, expected, (size_t)size));
    }
}

static bool combine(MPI_Op op, bool a, bool b)
{
    return op == MPI_LAND ? a && b : op == MPI_LOR ? a || b : a != b;
}

/* Each rank has all four pairs, of which the first of each is its own, the second the next one's. */
static void reduce(MPI_Datatype type, MPI_Op op, int rank, int size)
{
    enum { COUNT = 300 };
    char in[COUNT * 16], out[COUNT * 16], expected[16];
    int bytes;
    MPI_Win win;

    MPI_Type_size(type, &bytes);
    if (bytes == MPI_UNDEFINED)
        return;
    for (int i = 0; i < COUNT; i++)
        put(in + i * bytes, bytes, (i >> rank) % 2 ? yes : no);
    MPI_Allreduce(in, out, COUNT, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        bool value = i % 2;

        for (int other = 1; other < size; other++)
            value = combine(op, value, (i >> other) % 2);
        put(expected, bytes, value ? yes : no);
        CHECK(!memcmp(out + i * bytes, expected, (size_t)bytes));
    }
    for (int i = 0; i < 4; i++) {
        put(in, bytes, i & 1 ? yes : no);
        put(out, bytes, i & 2 ? yes : no);
        MPI_Win_create(out, bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
        MPI_Win_fence(0, win);
        MPI_Accumulate(in, 1, type, 0, 0, 1, type, op, win);
        MPI_Win_fence(0, win);
        put(expected, bytes, combine(op, i & 1, i & 2) ? yes : no);
        CHECK(!memcmp(out, expected, (size_t)bytes));
        MPI_Win_free(&win);
    }
}

static void of_c(void)
{
    bool in[2] = {true, false}, out[2];
    int numbers[2] = {5, 0}, results[2];

    MPI_Allreduce(in, out, 2, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    CHECK(out[0] == 1 && out[1] == 0);
    MPI_Allreduce(numbers, results, 2, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    CHECK(results[0] == 1 && results[1] == 0);
}

int main(int argc, char **argv)
{
    const MPI_Datatype types[] = {MPI_LOGICAL, MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16};
    const MPI_Op ops[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
    int rank, size;

    CHECK(argc == 3);
    yes = atoll(argv[1]);
    no = atoll(argv[2]);
    setting();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int t = 0; t < 6; t++)
        for (int o = 0; o < 3; o++)
            reduce(types[t], ops[o], rank, size);
    of_c();
    MPI_Finalize();
    return 0;
}
