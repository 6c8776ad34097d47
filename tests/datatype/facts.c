/* SPDX-License-Identifier: BSD-3-Clause */
/* What the standard says about single types: external32's bytes, Fortran types by precision, pairs of value and index
 * with MINLOC and MAXLOC, matching sizes, envelopes, statuses that users fill in, and misuse. */
#include <limits.h>

#include "test.h"

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void expect_external(MPI_Datatype type, const void *value, const void *bytes, int count)
{
    unsigned char out[64];
    char back[64];
    MPI_Aint position = 0, size;
    int native;

    MPI_Pack_external_size("external32", 1, type, &size);
    CHECK(size == count);
    CHECK(MPI_Pack_external("external32", value, 1, type, out, sizeof out, &position) == MPI_SUCCESS &&
          position == count);
    CHECK(!memcmp(out, bytes, (size_t)count));
    position = 0;
    CHECK(MPI_Unpack_external("external32", out, count, &position, back, 1, type) == MPI_SUCCESS);
    MPI_Type_size(type, &native);
    if (type != MPI_LONG_DOUBLE && type != MPI_SHORT_INT)
        CHECK(!memcmp(back, value, (size_t)native));
}

static void external(void)
{
    struct {
        short value;
        int index;
    } pair = {-2, 3};
    long wide = LONG_MAX;
    unsigned char out[8];
    MPI_Aint position = 0;

    expect_external(MPI_INT, &(int){0x01020304}, "\1\2\3\4", 4);
    expect_external(MPI_SHORT, &(short){-2}, "\xff\xfe", 2);
    expect_external(MPI_LONG, &(long){-3}, "\xff\xff\xff\xfd", 4);
    expect_external(MPI_LONG_LONG, &(long long){-3}, "\xff\xff\xff\xff\xff\xff\xff\xfd", 8);
    expect_external(MPI_UNSIGNED_LONG, &(unsigned long){0xfffffffd}, "\xff\xff\xff\xfd", 4);
    expect_external(MPI_CHAR, "x", "x", 1);
    expect_external(MPI_WCHAR, L"A", "\0A", 2);
    expect_external(MPI_FLOAT, &(float){1}, "\x3f\x80\0\0", 4);
    expect_external(MPI_DOUBLE, &(double){-2}, "\xc0\0\0\0\0\0\0\0", 8);
    expect_external(MPI_LONG_DOUBLE, &(long double){1}, "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    expect_external(MPI_C_FLOAT_COMPLEX, (float[2]){1, -2}, "\x3f\x80\0\0\xc0\0\0\0", 8);
    expect_external(MPI_AINT, &(MPI_Aint){5}, "\0\0\0\0\0\0\0\5", 8);
    expect_external(MPI_C_BOOL, "\1", "\1", 1);
    expect_external(MPI_SHORT_INT, &pair, "\xff\xfe\0\0\0\3", 6);
    CHECK(class_of(MPI_Pack_external("external32", &wide, 1, MPI_LONG, out, 8, &position)) == MPI_ERR_CONVERSION);
    CHECK(class_of(MPI_Pack_external("native", &wide, 1, MPI_LONG, out, 8, &position)) == MPI_ERR_ARG);
}

static void fortran(void)
{
    MPI_Datatype a, b;
    int size, counts[3], combiner, ints[2];
    float values[2] = {1, 2}, sum[2];

    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &a);
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &b);
    CHECK(a == b);
    MPI_Type_size(a, &size);
    CHECK(size == 4);
    MPI_Type_get_envelope(a, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK(counts[0] == 2 && counts[1] == 0 && counts[2] == 0 && combiner == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(a, 2, 0, 0, ints, NULL, NULL);
    CHECK(ints[0] == 6 && ints[1] == MPI_UNDEFINED);
    CHECK(MPI_Allreduce(values, sum, 2, a, MPI_SUM, MPI_COMM_SELF) == MPI_SUCCESS && sum[1] == 2);
    CHECK(class_of(MPI_Type_free(&a)) == MPI_ERR_TYPE);
    MPI_Type_create_f90_real(15, 300, &a);
    MPI_Type_size(a, &size);
    CHECK(size == 8 && a != b);
    MPI_Type_create_f90_complex(MPI_UNDEFINED, 200, &a);
    MPI_Type_size(a, &size);
    CHECK(size == 16);
    MPI_Type_create_f90_integer(9, &a);
    MPI_Type_size(a, &size);
    CHECK(size == 4);
    MPI_Type_get_envelope(a, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK(counts[0] == 1 && combiner == MPI_COMBINER_F90_INTEGER);
    CHECK(class_of(MPI_Type_create_f90_integer(1000, &a)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &a)) == MPI_ERR_ARG);

    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &a);
    CHECK(a == MPI_REAL8);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &a);
    CHECK(a == MPI_INTEGER2);
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &a);
    CHECK(a == MPI_COMPLEX16);
    CHECK(class_of(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &a)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_match_size(77, 4, &a)) == MPI_ERR_ARG);
}

static void pairs(void)
{
    struct {
        double value;
        short index;
    } mine[2], best[2];
    int rank, size, counts[3], combiner;
    MPI_Datatype pair, again, parts[2];

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_FLOAT, MPI_FLOAT, &pair);
    CHECK(pair == MPI_DATATYPE_NULL); /* no number of a rank or place; of the Fortran types there are pairs by name */
    MPI_Type_get_value_index(MPI_REAL, MPI_REAL, &pair);
    CHECK(pair == MPI_2REAL);
    MPI_Type_get_value_index(MPI_C_FLOAT_COMPLEX, MPI_INT, &pair);
    CHECK(pair == MPI_DATATYPE_NULL);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_SHORT, &pair);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_SHORT, &again);
    CHECK(pair == again && class_of(MPI_Type_free(&again)) == MPI_ERR_TYPE);
    MPI_Type_get_envelope(pair, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK(counts[2] == 2 && combiner == MPI_COMBINER_VALUE_INDEX);
    MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, parts);
    CHECK(parts[0] == MPI_DOUBLE && parts[1] == MPI_SHORT);
    for (int i = 0; i < 2; i++) {
        mine[i].value = i ? 7 : rank % 3;
        mine[i].index = (short)(size - rank);
    }
    MPI_Allreduce(mine, best, 2, pair, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(best[0].value == (size > 2 ? 2 : size - 1) && best[1].index == 1);
    MPI_Allreduce(mine, best, 2, pair, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(best[0].value == 0 && best[0].index == size - (size - 1) / 3 * 3);
    CHECK(class_of(MPI_Allreduce(mine, best, 2, pair, MPI_SUM, MPI_COMM_WORLD)) == MPI_ERR_OP);
}

static void statuses(void)
{
    MPI_Status status = {0};
    int flag, count;
    MPI_Count large;

    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    MPI_Status_set_elements_c(&status, MPI_INT, (MPI_Count)1 << 40);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(count == MPI_UNDEFINED);
    MPI_Get_elements_c(&status, MPI_INT, &large);
    CHECK(large == (MPI_Count)1 << 40);
    MPI_Status_set_elements_x(&status, MPI_DOUBLE_INT, 3);
    MPI_Get_elements_x(&status, MPI_DOUBLE_INT, &large);
    MPI_Get_count(&status, MPI_DOUBLE_INT, &count);
    CHECK(large == 3 && count == MPI_UNDEFINED);
    CHECK(class_of(MPI_Status_set_elements(&status, MPI_INT, -1)) == MPI_ERR_COUNT);
}

static void misuse(void)
{
    char buffer[8] = {0};
    int position = 0, ints[4], counts[3], combiner;
    MPI_Datatype type, types[1];

    CHECK(class_of(MPI_Pack(buffer, 3, MPI_INT, buffer, 8, &position, MPI_COMM_WORLD)) == MPI_ERR_ARG && position == 0);
    position = 9;
    CHECK(class_of(MPI_Unpack(buffer, 8, &position, buffer, 1, MPI_CHAR, MPI_COMM_WORLD)) == MPI_ERR_ARG);
    position = -1;
    CHECK(class_of(MPI_Unpack(buffer, 8, &position, buffer, 1, MPI_CHAR, MPI_COMM_WORLD)) == MPI_ERR_ARG);
    MPI_Type_contiguous(2, MPI_INT, &type);
    position = 0;
    CHECK(class_of(MPI_Pack(buffer, 1, type, buffer, 8, &position, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Type_get_contents(type, 0, 0, 1, ints, NULL, types)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_get_contents(MPI_INT, 4, 0, 1, ints, NULL, types)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Type_get_envelope(MPI_DATATYPE_NULL, &counts[0], &counts[1], &counts[2], &combiner)) ==
          MPI_ERR_TYPE);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    external();
    fortran();
    pairs();
    statuses();
    misuse();
    MPI_Finalize();
    return 0;
}
