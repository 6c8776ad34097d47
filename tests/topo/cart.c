/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian grids: ranks and coordinates, wrapping, shifts, copies, and a grid without dimensions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "topo/cart.h"

static const int dims[] = {3, 1, 4}, periods[] = {1, 7, 0};

static void test_ranks(void **state)
{
    int rank = 0;

    (void)state;
    for (int x = 0; x < 3; x++)
        for (int z = 0; z < 4; z++, rank++) {
            struct mur_topology *topology = mur_cart_new(3, dims, periods, rank);
            assert_non_null(topology);
            assert_memory_equal(topology->cart.coords, ((int[]){x, 0, z}), 3 * sizeof(int));
            assert_memory_equal(topology->cart.periods, ((int[]){1, 1, 0}), 3 * sizeof(int));
            assert_int_equal(mur_cart_rank(&topology->cart, (int[]){x, 0, z}), rank);
            assert_int_equal(mur_cart_rank(&topology->cart, (int[]){x - 6, 5, z}), rank);
            assert_int_equal(mur_cart_rank(&topology->cart, (int[]){x, 0, z + 4}), MPI_PROC_NULL);
            mur_topology_free(topology);
        }
}

static void test_shift(void **state)
{
    struct mur_topology *topology = mur_cart_new(3, dims, periods, 5); /* at 1, 0, 1 */

    (void)state;
    assert_non_null(topology);
    assert_int_equal(mur_cart_shifted(&topology->cart, 0, 1), 9);
    assert_int_equal(mur_cart_shifted(&topology->cart, 0, 2), 1);
    assert_int_equal(mur_cart_shifted(&topology->cart, 0, -(int64_t)INT32_MIN), 1); /* 2^31 = 2 (mod 3): to row 0 */
    assert_int_equal(mur_cart_shifted(&topology->cart, 1, 1), 5);                   /* its own neighbour */
    assert_int_equal(mur_cart_shifted(&topology->cart, 2, 2), 7);
    assert_int_equal(mur_cart_shifted(&topology->cart, 2, 3), MPI_PROC_NULL);
    assert_int_equal(mur_cart_shifted(&topology->cart, 2, -2), MPI_PROC_NULL);
    mur_topology_free(topology);
}

static void test_dup(void **state)
{
    struct mur_topology *topology = mur_cart_new(3, dims, periods, 6), *copy = mur_topology_dup(topology);

    (void)state;
    mur_topology_free(topology);
    assert_non_null(copy);
    assert_int_equal(copy->kind, MPI_CART);
    assert_int_equal(copy->cart.ndims, 3);
    assert_memory_equal(copy->cart.dims, dims, sizeof dims);
    assert_memory_equal(copy->cart.coords, ((int[]){1, 0, 2}), 3 * sizeof(int));
    mur_topology_free(copy);
    mur_topology_free(NULL);
}

static void test_no_dimensions(void **state)
{
    struct mur_topology *topology = mur_cart_new(0, NULL, NULL, 0), *copy = mur_topology_dup(topology);

    (void)state;
    assert_non_null(copy);
    assert_int_equal(mur_cart_rank(&copy->cart, NULL), 0);
    mur_topology_free(topology);
    mur_topology_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_dup),
        cmocka_unit_test(test_no_dimensions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
