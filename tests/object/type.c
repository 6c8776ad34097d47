/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: the predefined ones, bounds that programs rely on, recipes, lifetime, dense types, huge types, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "datatype/layout.h"
#include "mpi/bodies.h"
#include "object/type_create.h"

static int setup(void **state)
{
    (void)state;
    return mur_type_setup();
}

static struct mur_type *type_of(MPI_Datatype handle)
{
    struct mur_type *type = mur_type_find(handle);

    assert_non_null(type);
    return type;
}

static struct mur_counts ints(const int *array)
{
    return (struct mur_counts){array, sizeof *array};
}

static struct mur_counts wide(const MPI_Count *array)
{
    return (struct mur_counts){array, sizeof *array};
}

static void free_type(struct mur_type *type)
{
    /* A type that a constructor of ours made has not been given to a user yet. */
    MPI_Datatype handle = type->handles ? mur_object_handle(type) : mur_type_hand_out(type);

    assert_int_equal(mur_mpi_type_free(&handle), MPI_SUCCESS);
    assert_ptr_equal(handle, MPI_DATATYPE_NULL);
}

static void test_predefined(void **state)
{
    static const struct {
        MPI_Datatype handle;
        const char *name;
        MPI_Count size, extent;
        bool is_dense;
    } expected[] = {
        {MPI_INT, "MPI_INT", 4, 4, true},
        {MPI_AINT, "MPI_AINT", 8, 8, true},
        {MPI_WCHAR, "MPI_WCHAR", 4, 4, true},
        {MPI_LOGICAL, "MPI_LOGICAL", 4, 4, true},
        {MPI_COMPLEX, "MPI_COMPLEX", 8, 8, true},
        {MPI_COMPLEX16, "MPI_COMPLEX16", 16, 16, true},
        {MPI_REAL16, "MPI_REAL16", 16, 16, true},
        {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", 16, 16, true},
        {MPI_SHORT_INT, "MPI_SHORT_INT", 6, 8, false},
        {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 12, 16, false},
        {MPI_LONG_INT, "MPI_LONG_INT", 12, 16, false},
        {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", 20, 32, false},
        {MPI_2INT, "MPI_2INT", 8, 8, true},
        {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", 16, 16, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct mur_type *type = type_of(expected[i].handle);
        assert_string_equal(type->name, expected[i].name);
        assert_int_equal(type->size, expected[i].size);
        assert_int_equal(type->extent, expected[i].extent);
        assert_int_equal(type->is_dense, expected[i].is_dense);
        assert_true(type->is_committed);
    }
    for (int basic = MUR_BASIC_MIXED + 1; basic < MUR_BASICS; basic++)
        assert_int_equal(type_of(mur_basics[basic].handle)->basic, basic);
    assert_int_equal(type_of(MPI_REAL2)->size, MPI_UNDEFINED);
    assert_null(mur_type_find(MPI_DATATYPE_NULL));
}

static void test_struct_padding(void **state)
{
    struct mur_type *olds[2] = {type_of(MPI_DOUBLE), type_of(MPI_CHAR)}, *type = NULL, *array = NULL;

    (void)state;
    assert_int_equal(mur_type_create_struct(2, (MPI_Count[]){1, 1}, (MPI_Count[]){0, 8}, olds, false, &type),
                     MPI_SUCCESS);
    assert_int_equal(type->size, 9);
    assert_int_equal(type->extent, 16);
    assert_int_equal(type->true_extent, 9);
    assert_int_equal(type->basic, MUR_BASIC_MIXED);
    assert_int_equal(type->basic_count, 2);
    assert_int_equal(mur_type_create_contiguous(3, type, false, &array), MPI_SUCCESS);
    assert_int_equal(array->extent, 48);
    assert_int_equal(array->basic_count, 6);
    free_type(type);
    free_type(array);
}

/* Padded components at places that their alignment forbids: the whole reaches to the end of the last one's padding. */
static void test_unaligned_padding(void **state)
{
    struct mur_type *inner = NULL, *outer = NULL;

    (void)state;
    assert_int_equal(mur_type_create_hvector(3, 4, 49, type_of(MPI_DOUBLE), false, &inner), MPI_SUCCESS);
    assert_int_equal(inner->true_extent, 130);
    assert_int_equal(inner->extent, 136);
    assert_int_equal(mur_type_create_hvector(2, 3, 4 * 136 + 1, inner, false, &outer), MPI_SUCCESS);
    assert_int_equal(outer->true_extent, 4 * 136 + 1 + 2 * 136 + 130);
    assert_int_equal(outer->extent, 960); /* 4 * 136 + 1 + 3 * 136 = 953, padded */
    free_type(inner);
    free_type(outer);
}

static void test_sticky_bounds(void **state)
{
    struct mur_type *resized = NULL, *olds[2], *type = NULL;

    (void)state;
    assert_int_equal(mur_type_create_resized(type_of(MPI_INT), -3, 20, false, &resized), MPI_SUCCESS);
    olds[0] = resized;
    olds[1] = type_of(MPI_DOUBLE);
    assert_int_equal(mur_type_create_struct(2, (MPI_Count[]){2, 1}, (MPI_Count[]){0, 100}, olds, false, &type),
                     MPI_SUCCESS);
    assert_int_equal(type->lb, -3);
    assert_int_equal(type->extent, 40); /* the double behind the markers does not count */
    assert_int_equal(type->true_lb, 0);
    assert_int_equal(type->true_extent, 108);
    free_type(type);
    /* A block without copies brings no markers. */
    assert_int_equal(mur_type_create_struct(2, (MPI_Count[]){0, 1}, (MPI_Count[]){0, 100}, olds, false, &type),
                     MPI_SUCCESS);
    assert_int_equal(type->lb, 100);
    assert_int_equal(type->extent, 8);
    free_type(type);
    free_type(resized);
}

static void test_dense(void **state)
{
    struct mur_type *olds[2] = {type_of(MPI_INT), type_of(MPI_FLOAT)}, *type = NULL;

    (void)state;
    assert_int_equal(mur_type_create_struct(2, (MPI_Count[]){1, 1}, (MPI_Count[]){0, 4}, olds, false, &type),
                     MPI_SUCCESS);
    assert_int_equal(mur_type_commit(type), MPI_SUCCESS);
    assert_true(type->is_dense);
    free_type(type);
    assert_int_equal(mur_type_create_struct(2, (MPI_Count[]){1, 1}, (MPI_Count[]){4, 0}, olds, false, &type),
                     MPI_SUCCESS);
    assert_int_equal(mur_type_commit(type), MPI_SUCCESS);
    assert_false(type->is_dense); /* the same bytes, in another order */
    free_type(type);
    assert_int_equal(mur_type_create_vector(5, 3, 3, type_of(MPI_INT), false, &type), MPI_SUCCESS);
    assert_int_equal(mur_type_commit(type), MPI_SUCCESS);
    assert_true(type->is_dense);
    free_type(type);
}

static void check_recipe(MPI_Datatype handle, int combiner, MPI_Count integers, MPI_Count addresses, MPI_Count larges,
                         MPI_Count types)
{
    struct mur_type *type = type_of(handle);

    assert_int_equal(type->recipe.combiner, combiner);
    assert_int_equal(type->recipe.is_large, larges > 0);
    assert_int_equal(type->recipe.integer_count, integers);
    assert_int_equal(type->recipe.address_count, addresses);
    assert_int_equal(type->recipe.large_count, larges);
    assert_int_equal(type->recipe.type_count, types);
    free_type(type);
}

static void test_recipes(void **state)
{
    struct mur_type *old = type_of(MPI_INT);
    const int one[] = {1, 1}, zero[] = {0, 2}, four[] = {4, 4}, block[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    const int dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, psizes[] = {2, 1};
    const MPI_Count large_one[] = {1, 1}, large_zero[] = {0, 8}, large_four[] = {4, 4};
    const MPI_Datatype olds[] = {MPI_INT, MPI_CHAR};
    MPI_Datatype handle = MPI_DATATYPE_NULL;

    (void)state;
    assert_int_equal(mur_mpi_type_contiguous(2, old, &handle, false), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1);
    assert_int_equal(mur_mpi_type_vector(2, 1, 3, old, &handle, false), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_VECTOR, 3, 0, 0, 1);
    assert_int_equal(mur_mpi_type_vector(2, 1, 3000000000, old, &handle, true), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_VECTOR, 0, 0, 3, 1);
    assert_int_equal(mur_mpi_type_create_hvector(2, 1, 3, old, &handle, false), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_HVECTOR, 2, 1, 0, 1);
    assert_int_equal(mur_mpi_type_indexed(2, ints(one), ints(zero), old, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_INDEXED, 5, 0, 0, 1);
    assert_int_equal(mur_mpi_type_indexed(2, wide(large_one), wide(large_zero), old, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_INDEXED, 0, 0, 5, 1);
    assert_int_equal(mur_mpi_type_create_hindexed(2, ints(one), wide(large_zero), old, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_HINDEXED, 3, 2, 0, 1);
    assert_int_equal(mur_mpi_type_create_indexed_block(2, 1, ints(zero), old, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_INDEXED_BLOCK, 4, 0, 0, 1);
    assert_int_equal(mur_mpi_type_create_hindexed_block(2, 1, wide(large_zero), old, &handle, false), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 0, 1);
    assert_int_equal(mur_mpi_type_create_struct(2, ints(one), wide(large_zero), olds, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_STRUCT, 3, 2, 0, 2);
    assert_int_equal(mur_mpi_type_create_struct(2, wide(large_one), wide(large_zero), olds, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_STRUCT, 0, 0, 5, 2);
    assert_int_equal(mur_mpi_type_create_resized(old, -1, 9, &handle, false), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_RESIZED, 0, 2, 0, 1);
    assert_int_equal(mur_mpi_type_dup(old, &handle), MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_DUP, 0, 0, 0, 1);
    assert_int_equal(mur_mpi_type_create_subarray(2, ints(four), ints(one), ints(zero), MPI_ORDER_C, old, &handle),
                     MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_SUBARRAY, 8, 0, 0, 1);
    assert_int_equal(
        mur_mpi_type_create_subarray(2, wide(large_four), wide(large_one), wide(large_one), MPI_ORDER_C, old, &handle),
        MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_SUBARRAY, 2, 0, 6, 1);
    assert_int_equal(mur_mpi_type_create_darray(2, 1, 2, ints(four), block, dargs, psizes, MPI_ORDER_C, old, &handle),
                     MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_DARRAY, 12, 0, 0, 1);
    assert_int_equal(
        mur_mpi_type_create_darray(2, 1, 2, wide(large_four), block, dargs, psizes, MPI_ORDER_C, old, &handle),
        MPI_SUCCESS);
    check_recipe(handle, MPI_COMBINER_DARRAY, 10, 0, 2, 1);
}

static void test_lifetime(void **state)
{
    struct mur_type *inner = NULL, *outer = NULL;
    MPI_Datatype handle, predefined = MPI_INT;
    struct mur_cursor cursor;
    const int data[4] = {1, 2, 3, 4};
    int packed[2] = {0};

    (void)state;
    assert_int_equal(mur_type_create_resized(type_of(MPI_INT), 0, 8, false, &inner), MPI_SUCCESS);
    assert_int_equal(mur_type_create_contiguous(2, inner, false, &outer), MPI_SUCCESS);
    assert_int_equal(inner->object.references, 2);
    handle = mur_object_handle(inner);
    free_type(inner);
    assert_ptr_equal(mur_type_find(handle), inner); /* lives on in the outer type */
    assert_int_equal(mur_type_commit(outer), MPI_SUCCESS);
    assert_int_equal(mur_type_commit(outer), MPI_SUCCESS);
    mur_cursor_start(&cursor, data, 1, outer);
    assert_int_equal(mur_cursor_pack(&cursor, packed, sizeof packed), sizeof packed);
    assert_memory_equal(packed, ((int[]){1, 3}), sizeof packed);
    free_type(outer);
    assert_null(mur_type_find(handle));
    assert_int_equal(mur_error_class(mur_mpi_type_free(&handle)), MPI_ERR_TYPE);
    assert_int_equal(mur_error_class(mur_mpi_type_commit(&handle)), MPI_ERR_TYPE);
    assert_int_equal(mur_error_class(mur_mpi_type_free(&predefined)), MPI_ERR_TYPE);
}

static void test_dup(void **state)
{
    struct mur_type *type = NULL, *copy = NULL;

    (void)state;
    assert_int_equal(mur_type_create_contiguous(2, type_of(MPI_DOUBLE_INT), false, &type), MPI_SUCCESS);
    assert_int_equal(mur_type_create_dup(type, &copy), MPI_SUCCESS);
    assert_false(copy->is_committed);
    free_type(copy);
    assert_int_equal(mur_type_commit(type), MPI_SUCCESS);
    assert_int_equal(mur_type_create_dup(type, &copy), MPI_SUCCESS);
    assert_true(copy->is_committed);
    assert_int_equal(copy->extent, 32);
    free_type(copy);
    free_type(type);
}

static void test_names(void **state)
{
    struct mur_type *type = NULL;
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int length;

    (void)state;
    assert_int_equal(mur_mpi_type_get_name(NULL, name, &length), MPI_SUCCESS);
    assert_string_equal(name, "MPI_DATATYPE_NULL");
    /* Of two names of one type the standard's first, not its synonym. */
    assert_int_equal(mur_mpi_type_get_name(type_of(MPI_LONG_LONG), name, &length), MPI_SUCCESS);
    assert_string_equal(name, "MPI_LONG_LONG_INT");
    assert_int_equal(mur_mpi_type_get_name(type_of(MPI_C_FLOAT_COMPLEX), name, &length), MPI_SUCCESS);
    assert_string_equal(name, "MPI_C_COMPLEX");
    assert_int_equal(mur_type_create_contiguous(2, type_of(MPI_INT), false, &type), MPI_SUCCESS);
    assert_int_equal(mur_mpi_type_get_name(type, name, &length), MPI_SUCCESS);
    assert_true(length == 0 && name[0] == '\0');
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(mur_mpi_type_set_name(type, longer), MPI_SUCCESS);
    assert_int_equal(mur_mpi_type_get_name(type, name, &length), MPI_SUCCESS);
    assert_int_equal(length, MPI_MAX_OBJECT_NAME - 1);
    assert_int_equal(strlen(name), length);
    free_type(type);
}

static void test_errors(void **state)
{
    struct mur_type *old = type_of(MPI_INT), *type = NULL;
    const int four[] = {4, 4}, five[] = {5, 1}, zero[] = {0, 0}, one[] = {1, 1}, psizes[] = {2, 2};
    const int block[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, dargs[] = {1, MPI_DISTRIBUTE_DFLT_DARG};
    const int none[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
    const MPI_Datatype olds[] = {MPI_INT, MPI_DATATYPE_NULL};
    const MPI_Count places[] = {0, 0};
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    int rc;

    (void)state;
    rc = mur_type_create_indexed(2, (MPI_Count[]){1, -1}, places, old, false, &type);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG);
    rc = mur_mpi_type_create_struct(2, ints(one), wide(places), olds, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_TYPE);
    rc = mur_mpi_type_contiguous(1, type_of(MPI_REAL2), &handle, false);
    assert_int_equal(mur_error_class(rc), MPI_ERR_TYPE);
    rc = mur_mpi_type_create_subarray(2, ints(four), ints(five), ints(zero), MPI_ORDER_C, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG);
    rc = mur_mpi_type_create_subarray(2, ints(four), ints(four), ints(one), MPI_ORDER_C, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG);
    rc = mur_mpi_type_create_subarray(2, ints(four), ints(four), ints(zero), 7, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG);
    rc = mur_mpi_type_create_darray(4, 0, 2, ints(four), block, dargs, psizes, MPI_ORDER_C, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG); /* 2 blocks of 1 do not cover 4 */
    rc = mur_mpi_type_create_darray(4, 0, 2, ints(four), none, dargs, psizes, MPI_ORDER_C, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG);
    rc = mur_mpi_type_create_darray(5, 0, 2, ints(four), block, dargs, psizes, MPI_ORDER_C, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_ARG);
    rc = mur_mpi_type_create_darray(4, 4, 2, ints(four), block, dargs, psizes, MPI_ORDER_C, old, &handle);
    assert_int_equal(mur_error_class(rc), MPI_ERR_RANK);
    assert_ptr_equal(handle, MPI_DATATYPE_NULL);
}

static void test_huge(void **state)
{
    struct mur_type *type = NULL, *huger = NULL;
    const MPI_Count sizes[] = {(MPI_Count)1 << 31, (MPI_Count)1 << 31}, ones[] = {1, 1};

    (void)state;
    assert_int_equal(mur_type_create_contiguous((MPI_Count)1 << 60, type_of(MPI_INT), true, &type), MPI_SUCCESS);
    assert_int_equal(type->size, (MPI_Count)1 << 62);
    assert_int_equal(mur_type_commit(type), MPI_SUCCESS);
    assert_int_equal(mur_error_class(mur_type_create_contiguous(2, type, true, &huger)), MPI_ERR_VALUE_TOO_LARGE);
    free_type(type);
    assert_int_equal(mur_error_class(mur_type_create_hvector(3, 1, INT64_MAX / 2 + 1, type_of(MPI_INT), true, &type)),
                     MPI_ERR_VALUE_TOO_LARGE);
    assert_int_equal(mur_type_create_subarray(2, sizes, ones, ones, MPI_ORDER_C, type_of(MPI_BYTE), true, &type),
                     MPI_SUCCESS);
    assert_int_equal(type->extent, (MPI_Count)1 << 62);
    assert_int_equal(type->true_lb, ((MPI_Count)1 << 31) + 1);
    free_type(type);
    assert_int_equal(
        mur_error_class(mur_type_create_subarray(2, sizes, ones, ones, MPI_ORDER_C, type_of(MPI_INT), true, &type)),
        MPI_ERR_VALUE_TOO_LARGE);
}

/* A chain of types is refused before it gets so deep that walking it could exhaust the stack. */
static void test_deep_nesting(void **state)
{
    struct mur_type *type = type_of(MPI_INT), *next = NULL;
    int depth = 0;

    (void)state;
    while (mur_type_create_dup(type, &next) == MPI_SUCCESS) {
        mur_type_release(type);
        type = next;
        assert_true(++depth < 1000000);
    }
    assert_true(depth > 1000);
    assert_int_equal(mur_type_commit(type), MPI_SUCCESS);
    mur_type_release(type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predefined),
        cmocka_unit_test(test_struct_padding),
        cmocka_unit_test(test_unaligned_padding),
        cmocka_unit_test(test_sticky_bounds),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_dup),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_deep_nesting),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
