/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: against a search through all factorisations, its rules, and its speed on hard numbers. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"
#include "topo/cart.h"

/* The least spread of `count` factors of `rest`, none above `limit`; `first` is the first factor, 0: not chosen. */
static int least_spread(int rest, int count, int limit, int first)
{
    int best = INT_MAX;

    if (count == 1)
        return rest <= limit ? (first ? first - rest : 0) : INT_MAX;
    for (int factor = 1; factor <= rest && factor <= limit; factor++)
        if (rest % factor == 0) {
            int spread = least_spread(rest / factor, count - 1, factor, first ? first : factor);
            if (spread < best)
                best = spread;
        }
    return best;
}

static void check(int nnodes, int ndims, const int *dims)
{
    int64_t product = 1;

    for (int i = 0; i < ndims; i++) {
        product *= dims[i];
        assert_true(i == 0 || dims[i] <= dims[i - 1]);
    }
    assert_int_equal(product, nnodes);
}

static void test_brute_force(void **state)
{
    (void)state;
    for (int nnodes = 1; nnodes <= 1500; nnodes++)
        for (int ndims = 1; ndims <= 4; ndims++) {
            int dims[4] = {0};
            assert_int_equal(mur_dims_create(nnodes, ndims, dims), MPI_SUCCESS);
            check(nnodes, ndims, dims);
            assert_int_equal(dims[0] - dims[ndims - 1], least_spread(nnodes, ndims, nnodes, 0));
        }
}

static void test_known(void **state)
{
    int dims[3] = {0};

    (void)state;
    assert_int_equal(mur_dims_create(6, 2, memset(dims, 0, sizeof dims)), MPI_SUCCESS);
    assert_memory_equal(dims, ((int[]){3, 2}), 2 * sizeof(int));
    assert_int_equal(mur_dims_create(7, 3, memset(dims, 0, sizeof dims)), MPI_SUCCESS);
    assert_memory_equal(dims, ((int[]){7, 1, 1}), sizeof dims);
    assert_int_equal(mur_dims_create(72, 3, memset(dims, 0, sizeof dims)), MPI_SUCCESS);
    assert_memory_equal(dims, ((int[]){6, 4, 3}), sizeof dims);
}

static void test_constraints(void **state)
{
    int dims[3] = {0, 3, 0};

    (void)state;
    assert_int_equal(mur_dims_create(6, 3, dims), MPI_SUCCESS);
    assert_memory_equal(dims, ((int[]){2, 3, 1}), sizeof dims);
    assert_int_equal(mur_dims_create(6, 3, dims), MPI_SUCCESS); /* nothing left to choose */
    assert_int_equal(mur_error_class(mur_dims_create(12, 3, dims)), MPI_ERR_DIMS);
    assert_int_equal(mur_error_class(mur_dims_create(7, 3, (int[]){0, 3, 0})), MPI_ERR_DIMS);
    assert_int_equal(mur_error_class(mur_dims_create(6, 3, (int[]){0, -3, 0})), MPI_ERR_DIMS);
    assert_int_equal(mur_error_class(mur_dims_create(0, 1, (int[]){0})), MPI_ERR_DIMS);
    assert_int_equal(mur_error_class(mur_dims_create(6, 3, (int[]){INT_MAX, INT_MAX, INT_MAX})), MPI_ERR_DIMS);
    assert_int_equal(mur_dims_create(1, 0, NULL), MPI_SUCCESS);
}

/* Numbers with very many divisors, primes, and more dimensions than there are factors. */
static void test_hard_numbers(void **state)
{
    static const int numbers[] = {2095133040, 1073741824, 2147483647, 223092870, 1102701600, 2147395600};
    clock_t start = clock();

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (int ndims = 1; ndims <= 40; ndims++) {
            int dims[40] = {0};
            assert_int_equal(mur_dims_create(numbers[i], ndims, dims), MPI_SUCCESS);
            check(numbers[i], ndims, dims);
        }
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_hard_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
