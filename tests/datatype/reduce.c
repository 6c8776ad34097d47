/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined operation on every predefined type: the pairs that the standard allows give what plain C gives
 * element by element, all others are refused; user functions and derived types. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "object/op.h"
#include "object/type_create.h"

enum { ELEMENTS = 67 };

static uint64_t random_state = 88172645463325252u;

/* xorshift */
static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int setup(void **state)
{
    (void)state;
    return mur_type_setup() || mur_op_setup();
}

static struct mur_op *op_of(MPI_Op handle)
{
    struct mur_op *op = mur_op_find(handle);

    assert_non_null(op);
    return op;
}

static struct mur_type *type_of(MPI_Datatype handle)
{
    struct mur_type *type = mur_type_find(handle);

    assert_non_null(type);
    return type;
}

/* What MPI-5.0 §6.9.2 says, in letters: i C integer, f Fortran integer, a address-like, r real, c complex, l logical,
 * b byte, p pair. */
static const struct {
    MPI_Op op;
    const char *letters;
} allowed[] = {
    {MPI_MAX, "ifar"}, {MPI_MIN, "ifar"}, {MPI_SUM, "ifarc"}, {MPI_PROD, "ifarc"}, {MPI_LAND, "ial"},
    {MPI_LOR, "ial"},  {MPI_LXOR, "ial"}, {MPI_BAND, "ifab"}, {MPI_BOR, "ifab"},   {MPI_BXOR, "ifab"},
    {MPI_MINLOC, "p"}, {MPI_MAXLOC, "p"}, {MPI_REPLACE, ""},  {MPI_NO_OP, ""},
};

static const struct {
    MPI_Datatype type;
    char letter;
} letters[] = {
    {MPI_SHORT, 'i'},
    {MPI_INT, 'i'},
    {MPI_LONG, 'i'},
    {MPI_LONG_LONG, 'i'},
    {MPI_UNSIGNED_SHORT, 'i'},
    {MPI_UNSIGNED, 'i'},
    {MPI_UNSIGNED_LONG, 'i'},
    {MPI_UNSIGNED_LONG_LONG, 'i'},
    {MPI_SIGNED_CHAR, 'i'},
    {MPI_UNSIGNED_CHAR, 'i'},
    {MPI_INT8_T, 'i'},
    {MPI_UINT8_T, 'i'},
    {MPI_INT16_T, 'i'},
    {MPI_UINT16_T, 'i'},
    {MPI_INT32_T, 'i'},
    {MPI_UINT32_T, 'i'},
    {MPI_INT64_T, 'i'},
    {MPI_UINT64_T, 'i'},
    {MPI_AINT, 'a'},
    {MPI_COUNT, 'a'},
    {MPI_OFFSET, 'a'},
    {MPI_CHAR, 'i'},
    {MPI_WCHAR, '-'},
    {MPI_CHARACTER, '-'},
    {MPI_PACKED, '-'},
    {MPI_BYTE, 'b'},
    {MPI_FLOAT, 'r'},
    {MPI_DOUBLE, 'r'},
    {MPI_LONG_DOUBLE, 'r'},
    {MPI_REAL, 'r'},
    {MPI_DOUBLE_PRECISION, 'r'},
    {MPI_REAL4, 'r'},
    {MPI_REAL8, 'r'},
    {MPI_REAL16, 'r'},
    {MPI_C_FLOAT_COMPLEX, 'c'},
    {MPI_C_DOUBLE_COMPLEX, 'c'},
    {MPI_C_LONG_DOUBLE_COMPLEX, 'c'},
    {MPI_CXX_FLOAT_COMPLEX, 'c'},
    {MPI_CXX_DOUBLE_COMPLEX, 'c'},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, 'c'},
    {MPI_COMPLEX, 'c'},
    {MPI_DOUBLE_COMPLEX, 'c'},
    {MPI_COMPLEX8, 'c'},
    {MPI_COMPLEX16, 'c'},
    {MPI_COMPLEX32, 'c'},
    {MPI_C_BOOL, 'l'},
    {MPI_CXX_BOOL, 'l'},
    {MPI_LOGICAL, 'l'},
    {MPI_LOGICAL1, 'l'},
    {MPI_LOGICAL2, 'l'},
    {MPI_LOGICAL4, 'l'},
    {MPI_LOGICAL8, 'l'},
    {MPI_LOGICAL16, 'l'},
    {MPI_INTEGER, 'f'},
    {MPI_INTEGER1, 'f'},
    {MPI_INTEGER2, 'f'},
    {MPI_INTEGER4, 'f'},
    {MPI_INTEGER8, 'f'},
    {MPI_INTEGER16, 'f'},
    {MPI_FLOAT_INT, 'p'},
    {MPI_DOUBLE_INT, 'p'},
    {MPI_LONG_INT, 'p'},
    {MPI_2INT, 'p'},
    {MPI_SHORT_INT, 'p'},
    {MPI_LONG_DOUBLE_INT, 'p'},
    {MPI_2REAL, 'p'},
    {MPI_2DOUBLE_PRECISION, 'p'},
    {MPI_2INTEGER, 'p'},
};

static void test_allowed(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof allowed / sizeof allowed[0]; o++)
        for (size_t t = 0; t < sizeof letters / sizeof letters[0]; t++) {
            struct mur_op *op = op_of(allowed[o].op);
            struct mur_type *type = type_of(letters[t].type);
            _Alignas(16) char in[32] = {0}, inout[32] = {0};
            int code = mur_op_check(op, type);
            if (!type->is_supported) {
                assert_int_equal(mur_error_class(code), MPI_ERR_TYPE);
                continue;
            }
            if (!strchr(allowed[o].letters, letters[t].letter)) {
                assert_int_equal(mur_error_class(code), MPI_ERR_OP);
                continue;
            }
            assert_int_equal(code, MPI_SUCCESS);
            mur_op_apply(op, in, inout, 1, type); /* there is a kernel */
        }
    assert_int_equal(sizeof letters / sizeof letters[0] + 2, MUR_BASICS - 1); /* REAL2 and COMPLEX4 are left out */
    assert_int_equal(mur_error_class(mur_op_check(op_of(MPI_SUM), type_of(MPI_REAL2))), MPI_ERR_TYPE);
}

/* Compares one operation on one type with an expression of a (in) and b (inout). */
#define CHECK(OP, HANDLE, type, value, expression)                                                                     \
    do {                                                                                                               \
        type in[ELEMENTS], inout[ELEMENTS], before[ELEMENTS];                                                          \
        for (int i = 0; i < ELEMENTS; i++) {                                                                           \
            in[i] = (type)(value);                                                                                     \
            before[i] = inout[i] = (type)(value);                                                                      \
        }                                                                                                              \
        mur_op_apply(op_of(OP), in, inout, ELEMENTS - 1, type_of(HANDLE));                                             \
        for (int i = 0; i < ELEMENTS - 1; i++) {                                                                       \
            type a = in[i], b = before[i], expected = (type)(expression);                                              \
            (void)a;                                                                                                   \
            (void)b;                                                                                                   \
            assert_true(inout[i] == expected);                                                                         \
        }                                                                                                              \
        assert_true(inout[ELEMENTS - 1] == before[ELEMENTS - 1]);                                                      \
    } while (0)

#define CHECK_INTEGER(HANDLE, type)                                                                                    \
    do {                                                                                                               \
        CHECK(MPI_SUM, HANDLE, type, random_word(), (unsigned __int128)a + (unsigned __int128)b);                      \
        CHECK(MPI_PROD, HANDLE, type, random_word(), (unsigned __int128)a *(unsigned __int128)b);                      \
        CHECK(MPI_MIN, HANDLE, type, random_word(), a < b ? a : b);                                                    \
        CHECK(MPI_MAX, HANDLE, type, random_word(), a > b ? a : b);                                                    \
        CHECK(MPI_BAND, HANDLE, type, random_word(), a &b);                                                            \
        CHECK(MPI_BOR, HANDLE, type, random_word(), a | b);                                                            \
        CHECK(MPI_BXOR, HANDLE, type, random_word(), a ^ b);                                                           \
    } while (0)

#define CHECK_LOGICAL(HANDLE, type)                                                                                    \
    do {                                                                                                               \
        CHECK(MPI_LAND, HANDLE, type, random_word() % 3, a && b);                                                      \
        CHECK(MPI_LOR, HANDLE, type, random_word() % 3, a || b);                                                       \
        CHECK(MPI_LXOR, HANDLE, type, random_word() % 3, !a != !b);                                                    \
    } while (0)

static void test_integers(void **state)
{
    (void)state;
    CHECK_INTEGER(MPI_SHORT, short);
    CHECK_INTEGER(MPI_INT, int);
    CHECK_INTEGER(MPI_LONG, long);
    CHECK_INTEGER(MPI_LONG_LONG, long long);
    CHECK_INTEGER(MPI_UNSIGNED_SHORT, unsigned short);
    CHECK_INTEGER(MPI_UNSIGNED, unsigned);
    CHECK_INTEGER(MPI_UNSIGNED_LONG, unsigned long);
    CHECK_INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long);
    CHECK_INTEGER(MPI_SIGNED_CHAR, signed char);
    CHECK_INTEGER(MPI_CHAR, char);
    CHECK_INTEGER(MPI_UNSIGNED_CHAR, unsigned char);
    CHECK_INTEGER(MPI_INT8_T, int8_t);
    CHECK_INTEGER(MPI_UINT16_T, uint16_t);
    CHECK_INTEGER(MPI_INT64_T, int64_t);
    CHECK_INTEGER(MPI_AINT, MPI_Aint);
    CHECK_INTEGER(MPI_COUNT, MPI_Count);
    CHECK_INTEGER(MPI_OFFSET, MPI_Offset);
    CHECK_INTEGER(MPI_INTEGER, int32_t);
    CHECK_INTEGER(MPI_INTEGER1, int8_t);
    CHECK_INTEGER(MPI_INTEGER16, __int128);
    CHECK(MPI_BXOR, MPI_BYTE, unsigned char, random_word(), a ^ b);
}

static void test_logicals(void **state)
{
    (void)state;
    CHECK_LOGICAL(MPI_C_BOOL, bool);
    CHECK_LOGICAL(MPI_LOGICAL, int32_t);
    CHECK_LOGICAL(MPI_LOGICAL1, int8_t);
    CHECK_LOGICAL(MPI_LOGICAL2, int16_t);
    CHECK_LOGICAL(MPI_LOGICAL8, int64_t);
    CHECK_LOGICAL(MPI_LOGICAL16, __int128);
    CHECK_LOGICAL(MPI_INT, int);
    CHECK_LOGICAL(MPI_UNSIGNED_LONG, unsigned long);
    CHECK_LOGICAL(MPI_AINT, MPI_Aint);
}

/* Small whole numbers and halves: every result is exact. */
#define SOME_REAL ((double)(int64_t)(random_word() % 2001 - 1000) / 2)

#define CHECK_REAL(HANDLE, type)                                                                                       \
    do {                                                                                                               \
        CHECK(MPI_SUM, HANDLE, type, SOME_REAL, a + b);                                                                \
        CHECK(MPI_PROD, HANDLE, type, SOME_REAL, a *b);                                                                \
        CHECK(MPI_MIN, HANDLE, type, SOME_REAL, a < b ? a : b);                                                        \
        CHECK(MPI_MAX, HANDLE, type, SOME_REAL, a > b ? a : b);                                                        \
    } while (0)

#define CHECK_COMPLEX(HANDLE, type)                                                                                    \
    do {                                                                                                               \
        CHECK(MPI_SUM, HANDLE, type, SOME_REAL + SOME_REAL * I, a + b);                                                \
        CHECK(MPI_PROD, HANDLE, type, SOME_REAL + SOME_REAL * I, a * b);                                               \
    } while (0)

static void test_floats(void **state)
{
    (void)state;
    CHECK_REAL(MPI_FLOAT, float);
    CHECK_REAL(MPI_DOUBLE, double);
    CHECK_REAL(MPI_LONG_DOUBLE, long double);
    CHECK_REAL(MPI_REAL, float);
    CHECK_REAL(MPI_DOUBLE_PRECISION, double);
    CHECK_REAL(MPI_REAL8, double);
#if MUR_HAVE_FLOAT128
    CHECK_REAL(MPI_REAL16, mur_float128);
#endif
    CHECK_COMPLEX(MPI_C_FLOAT_COMPLEX, float complex);
    CHECK_COMPLEX(MPI_C_DOUBLE_COMPLEX, double complex);
    CHECK_COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double complex);
    CHECK_COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double complex);
    CHECK_COMPLEX(MPI_DOUBLE_COMPLEX, double complex);
    CHECK_COMPLEX(MPI_COMPLEX8, float complex);
}

/* Few different values, so that ties are common. */
#define CHECK_PAIR(HANDLE, type)                                                                                       \
    for (int is_max = 0; is_max < 2; is_max++) {                                                                       \
        type in[ELEMENTS], inout[ELEMENTS], before[ELEMENTS];                                                          \
        for (int i = 0; i < ELEMENTS; i++) {                                                                           \
            in[i] = (type){.value = (int)(random_word() % 3) - 1, .index = (int)(random_word() % 5)};                  \
            before[i] = inout[i] = (type){.value = (int)(random_word() % 3) - 1, .index = (int)(random_word() % 5)};   \
        }                                                                                                              \
        mur_op_apply(op_of(is_max ? MPI_MAXLOC : MPI_MINLOC), in, inout, ELEMENTS, type_of(HANDLE));                   \
        for (int i = 0; i < ELEMENTS; i++) {                                                                           \
            type a = in[i], b = before[i], expected = b;                                                               \
            if (a.value == b.value)                                                                                    \
                expected.index = a.index < b.index ? a.index : b.index;                                                \
            else if ((a.value > b.value) == is_max)                                                                    \
                expected = a;                                                                                          \
            assert_true(inout[i].value == expected.value && inout[i].index == expected.index);                         \
        }                                                                                                              \
    }

static void test_pairs(void **state)
{
    (void)state;
    CHECK_PAIR(MPI_FLOAT_INT, struct mur_float_int)
    CHECK_PAIR(MPI_DOUBLE_INT, struct mur_double_int)
    CHECK_PAIR(MPI_LONG_INT, struct mur_long_int)
    CHECK_PAIR(MPI_2INT, struct mur_int_int)
    CHECK_PAIR(MPI_SHORT_INT, struct mur_short_int)
    CHECK_PAIR(MPI_LONG_DOUBLE_INT, struct mur_long_double_int)
    CHECK_PAIR(MPI_2REAL, struct mur_float_float)
    CHECK_PAIR(MPI_2DOUBLE_PRECISION, struct mur_double_double)
    CHECK_PAIR(MPI_2INTEGER, struct mur_int_int)
}

static MPI_Datatype seen_type;
static MPI_Count seen_count;

static void subtract(void *in, void *inout, int *length, MPI_Datatype *type)
{
    seen_type = *type;
    seen_count += *length;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}

static void count_only(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    seen_type = *type;
    seen_count += *length;
}

static void count_only_large(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    seen_type = *type;
    seen_count += *length;
}

static void test_user_functions(void **state)
{
    int in[3] = {10, 20, 30}, inout[3] = {1, 2, 3};
    struct mur_type *type = NULL;
    struct mur_op *op = NULL;

    (void)state;
    assert_int_equal(mur_type_create_contiguous(0, type_of(MPI_INT), false, &type), MPI_SUCCESS);
    assert_int_equal(mur_op_create(subtract, NULL, false, &op), MPI_SUCCESS);
    assert_int_equal(mur_op_check(op, type), MPI_SUCCESS);
    assert_int_equal(mur_error_class(mur_op_check(op_of(MPI_SUM), type)), MPI_ERR_OP);
    mur_op_apply(op, in, inout, 3, type_of(MPI_INT));
    assert_memory_equal(inout, ((int[]){9, 18, 27}), sizeof inout);
    assert_ptr_equal(seen_type, MPI_INT);
    mur_op_release(op);

    seen_count = 0;
    assert_int_equal(mur_op_create(count_only, NULL, false, &op), MPI_SUCCESS);
    mur_op_apply(op, in, inout, 5000000000, type); /* no data, so the buffers are long enough */
    assert_int_equal(seen_count, 5000000000);
    assert_ptr_equal(seen_type, mur_object_handle(type));
    mur_op_release(op);

    seen_count = 0;
    assert_int_equal(mur_op_create(NULL, count_only_large, true, &op), MPI_SUCCESS);
    mur_op_apply(op, in, inout, 5000000000, type);
    assert_int_equal(seen_count, 5000000000);
    mur_op_release(op);
    mur_type_release(type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed), cmocka_unit_test(test_integers), cmocka_unit_test(test_logicals),
        cmocka_unit_test(test_floats),  cmocka_unit_test(test_pairs),    cmocka_unit_test(test_user_functions),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
