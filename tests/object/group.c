/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: searching, comparing and the set operations on large shuffled groups against membership tables; ranges,
 * translation, the empty group and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "boot/process.h"
#include "mpi/bodies.h"
#include "object/group.h"

enum { MANY = 20000 };

static uint64_t random_state = 88172645463325252u;

/* xorshift */
static int random_below(int limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int)(random_state % (uint64_t)limit);
}

static int setup(void **state)
{
    (void)state;
    mur_process.rank = 3;
    mur_process.size = MANY;
    return mur_group_setup();
}

static struct mur_group *make(const int *processes, int size)
{
    struct mur_group *group = NULL;

    assert_int_equal(mur_group_create(processes, size, &group), MPI_SUCCESS);
    return group;
}

/* Every second process or so, in random order; present[] says which. */
static struct mur_group *make_random(bool *present)
{
    int *processes = malloc(MANY * sizeof *processes), size = 0;
    struct mur_group *group;

    assert_non_null(processes);
    for (int i = 0; i < MANY; i++) {
        present[i] = random_below(2);
        if (present[i])
            processes[size++] = i;
    }
    for (int i = size - 1; i > 0; i--) {
        int k = random_below(i + 1), process = processes[i];
        processes[i] = processes[k];
        processes[k] = process;
    }
    group = make(processes, size);
    free(processes);
    return group;
}

static struct mur_group *find(MPI_Group handle)
{
    struct mur_group *group = mur_group_find(handle);

    assert_non_null(group);
    return group;
}

static void test_search(void **state)
{
    static bool present[MANY];
    struct mur_group *group = make_random(present);

    (void)state;
    assert_int_equal(group->rank, mur_group_rank_of(group, 3));
    for (int i = 0; i < MANY; i++) {
        int rank = mur_group_rank_of(group, i);
        assert_int_equal(rank != MPI_UNDEFINED, present[i]);
        assert_true(rank == MPI_UNDEFINED || group->processes[rank] == i);
    }
    mur_group_release(group);
}

static void test_sets(void **state)
{
    static bool in_a[MANY], in_b[MANY];
    struct mur_group *a = make_random(in_a), *b = make_random(in_b), *result;
    MPI_Group handle;
    int n = 0;

    (void)state;
    assert_int_equal(mur_mpi_group_union(a, b, &handle), MPI_SUCCESS);
    result = find(handle);
    assert_memory_equal(result->processes, a->processes, (size_t)a->size * sizeof(int));
    n = a->size;
    for (int i = 0; i < b->size; i++)
        if (!in_a[b->processes[i]])
            assert_int_equal(result->processes[n++], b->processes[i]);
    assert_int_equal(result->size, n);
    assert_int_equal(mur_mpi_group_free(&handle), MPI_SUCCESS);
    assert_ptr_equal(handle, MPI_GROUP_NULL);

    for (int want = 0; want < 2; want++) {
        assert_int_equal((want ? mur_mpi_group_intersection : mur_mpi_group_difference)(a, b, &handle), MPI_SUCCESS);
        result = find(handle);
        n = 0;
        for (int i = 0; i < a->size; i++)
            if (in_b[a->processes[i]] == want)
                assert_int_equal(result->processes[n++], a->processes[i]);
        assert_int_equal(result->size, n);
        mur_group_release(result);
    }
    mur_group_release(a);
    mur_group_release(b);
}

static void test_compare(void **state)
{
    struct mur_group *a = make((int[]){5, 3, 9}, 3), *b = make((int[]){5, 3, 9}, 3), *c = make((int[]){9, 5, 3}, 3);
    struct mur_group *d = make((int[]){9, 5, 4}, 3), *e = make((int[]){9, 5}, 2);

    (void)state;
    assert_int_equal(mur_group_compare(a, b), MPI_IDENT);
    assert_int_equal(mur_group_compare(a, c), MPI_SIMILAR);
    assert_int_equal(mur_group_compare(a, d), MPI_UNEQUAL);
    assert_int_equal(mur_group_compare(a, e), MPI_UNEQUAL);
    assert_int_equal(mur_group_compare(&mur_group_empty, &mur_group_empty), MPI_IDENT);
    assert_int_equal(a->rank, 1);
    assert_int_equal(e->rank, MPI_UNDEFINED);
    mur_group_release(a);
    mur_group_release(b);
    mur_group_release(c);
    mur_group_release(d);
    mur_group_release(e);
}

static void check_processes(MPI_Group handle, const int *processes, int size)
{
    struct mur_group *group = find(handle);

    assert_int_equal(group->size, size);
    assert_memory_equal(group->processes, processes, (size_t)size * sizeof(int));
    mur_group_release(group);
}

static void test_ranges(void **state)
{
    struct mur_group *group = make((int[]){10, 11, 12, 13, 14, 15, 16, 17}, 8);
    int ranges[][3] = {{6, 1, -2}, {1, 1, 5}, {7, 7, -1}};
    MPI_Group handle = MPI_GROUP_NULL;

    (void)state;
    assert_int_equal(mur_mpi_group_range_incl(group, 3, ranges, &handle), MPI_SUCCESS);
    check_processes(handle, (int[]){16, 14, 12, 11, 17}, 5);
    assert_int_equal(mur_mpi_group_range_excl(group, 3, ranges, &handle), MPI_SUCCESS);
    check_processes(handle, (int[]){10, 13, 15}, 3);
    assert_int_equal(mur_mpi_group_incl(group, 2, (int[]){4, 0}, &handle), MPI_SUCCESS);
    check_processes(handle, (int[]){14, 10}, 2);
    assert_int_equal(mur_mpi_group_excl(group, 2, (int[]){7, 0}, &handle), MPI_SUCCESS);
    check_processes(handle, (int[]){11, 12, 13, 14, 15, 16}, 6);

    assert_int_equal(mur_error_class(mur_mpi_group_range_incl(group, 1, (int[][3]){{0, 8, 1}}, &handle)), MPI_ERR_RANK);
    assert_int_equal(mur_error_class(mur_mpi_group_range_incl(group, 1, (int[][3]){{0, 7, 0}}, &handle)), MPI_ERR_ARG);
    assert_int_equal(mur_error_class(mur_mpi_group_incl(group, 2, (int[]){1, 1}, &handle)), MPI_ERR_RANK);
    assert_int_equal(mur_error_class(mur_mpi_group_excl(group, 1, (int[]){-1}, &handle)), MPI_ERR_RANK);
    mur_group_release(group);
}

static void test_translate(void **state)
{
    struct mur_group *a = make((int[]){4, 7, 2}, 3), *b = make((int[]){2, 4}, 2);
    int ranks[4];

    (void)state;
    assert_int_equal(mur_mpi_group_translate_ranks(a, 4, (int[]){0, 1, 2, MPI_PROC_NULL}, b, ranks), MPI_SUCCESS);
    assert_memory_equal(ranks, ((int[]){1, MPI_UNDEFINED, 0, MPI_PROC_NULL}), sizeof ranks);
    assert_int_equal(mur_error_class(mur_mpi_group_translate_ranks(a, 1, (int[]){3}, b, ranks)), MPI_ERR_RANK);
    mur_group_release(a);
    mur_group_release(b);
}

static void test_empty(void **state)
{
    struct mur_group *a = make((int[]){4, 7}, 2);
    MPI_Group handle = MPI_GROUP_NULL;

    (void)state;
    assert_int_equal(mur_mpi_group_difference(a, a, &handle), MPI_SUCCESS);
    assert_ptr_equal(handle, MPI_GROUP_EMPTY);
    for (int i = 0; i < 3; i++) {
        handle = MPI_GROUP_EMPTY;
        assert_int_equal(mur_mpi_group_free(&handle), MPI_SUCCESS);
    }
    assert_ptr_equal(find(MPI_GROUP_EMPTY), &mur_group_empty);
    assert_int_equal(mur_error_class(mur_mpi_group_free(&handle)), MPI_ERR_GROUP);
    handle = mur_object_handle(a);
    mur_group_release(a);
    assert_int_equal(mur_error_class(mur_mpi_group_free(&handle)), MPI_ERR_GROUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search), cmocka_unit_test(test_sets),      cmocka_unit_test(test_compare),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_translate), cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
