/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: order, replacing, lengths, truncation, errors, MPI_INFO_ENV, and use from several threads at once. */
#include <stdlib.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "boot/process.h"
#include "mpi/bodies.h"
#include "object/info.h"

static struct mur_info *make(void)
{
    MPI_Info handle = MPI_INFO_NULL;

    assert_int_equal(mur_mpi_info_create(&handle), MPI_SUCCESS);
    assert_non_null(mur_info_find(handle));
    return mur_info_find(handle);
}

static void test_keys(void **state)
{
    struct mur_info *info = make(), *copy;
    MPI_Info handle;
    char key[MPI_MAX_INFO_KEY], name[16];
    int n, flag;

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "key%d", i);
        assert_int_equal(mur_mpi_info_set(info, name, "old"), MPI_SUCCESS);
    }
    assert_int_equal(mur_mpi_info_set(info, "key3", "new"), MPI_SUCCESS);
    assert_int_equal(mur_mpi_info_delete(info, "key1"), MPI_SUCCESS);
    assert_int_equal(mur_mpi_info_dup(info, &handle), MPI_SUCCESS);
    mur_info_free(info);
    copy = mur_info_find(handle);
    assert_int_equal(mur_mpi_info_get_nkeys(copy, &n), MPI_SUCCESS);
    assert_int_equal(n, 39);
    assert_int_equal(mur_mpi_info_get_nthkey(copy, 0, key), MPI_SUCCESS);
    assert_string_equal(key, "key0");
    assert_int_equal(mur_mpi_info_get_nthkey(copy, 2, key), MPI_SUCCESS);
    assert_string_equal(key, "key3");
    assert_string_equal(mur_info_get(copy, "key3"), "new");
    assert_int_equal(mur_mpi_info_get_valuelen(copy, "key4", &n, &flag), MPI_SUCCESS);
    assert_true(flag && n == 3);
    assert_int_equal(mur_error_class(mur_mpi_info_get_nthkey(copy, 39, key)), MPI_ERR_ARG);
    assert_int_equal(mur_error_class(mur_mpi_info_delete(copy, "key1")), MPI_ERR_INFO_NOKEY);
    assert_int_equal(mur_mpi_info_free(&handle), MPI_SUCCESS);
    assert_ptr_equal(handle, MPI_INFO_NULL);
    assert_int_equal(mur_error_class(mur_mpi_info_free(&handle)), MPI_ERR_INFO);
}

static void test_get(void **state)
{
    struct mur_info *info = make();
    char value[8] = "-------";
    int length = 0, flag;

    (void)state;
    assert_int_equal(mur_mpi_info_set(info, "k", "0123456789"), MPI_SUCCESS);
    assert_int_equal(mur_mpi_info_get_string(info, "k", &length, NULL, &flag), MPI_SUCCESS);
    assert_true(flag && length == 11);
    length = 4;
    assert_int_equal(mur_mpi_info_get_string(info, "k", &length, value, &flag), MPI_SUCCESS);
    assert_true(flag && length == 11);
    assert_memory_equal(value, "012\0---", 7);
    length = 4;
    assert_int_equal(mur_mpi_info_get_string(info, "no", &length, value, &flag), MPI_SUCCESS);
    assert_true(!flag && length == 4 && value[0] == '0');
    assert_int_equal(mur_mpi_info_get(info, "k", 4, value, &flag), MPI_SUCCESS);
    assert_memory_equal(value, "0123\0--", 7);
    assert_null(mur_info_get(NULL, "k"));
    mur_info_free(info);
}

static void test_limits(void **state)
{
    struct mur_info *info = make();
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];

    (void)state;
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = '\0';
    assert_int_equal(mur_mpi_info_set(info, key, value), MPI_SUCCESS);
    assert_string_equal(mur_info_get(info, key), value);
    key[MPI_MAX_INFO_KEY - 1] = 'k';
    key[MPI_MAX_INFO_KEY] = '\0';
    assert_int_equal(mur_error_class(mur_mpi_info_set(info, key, "")), MPI_ERR_INFO_KEY);
    value[MPI_MAX_INFO_VAL - 1] = 'v';
    value[MPI_MAX_INFO_VAL] = '\0';
    assert_int_equal(mur_error_class(mur_mpi_info_set(info, "k", value)), MPI_ERR_INFO_VALUE);
    assert_int_equal(mur_error_class(mur_mpi_info_set(info, "", "v")), MPI_ERR_INFO_KEY);
    mur_info_free(info);
}

static void test_environment(void **state)
{
    char *argv[] = {(char[]){"program"}, (char[]){"-x"}, (char[]){"two words"}, NULL};
    MPI_Info handle = MPI_INFO_ENV;
    struct mur_info *info;

    (void)state;
    mur_process.size = 4;
    setenv("MUR_MAXPROCS", "4", 1);
    assert_int_equal(mur_info_env_setup(MPI_THREAD_FUNNELED), MPI_SUCCESS);
    info = mur_info_find(MPI_INFO_ENV);
    assert_non_null(info);
    assert_string_equal(mur_info_get(info, "maxprocs"), "4");
    assert_string_equal(mur_info_get(info, "thread_level"), "MPI_THREAD_FUNNELED");
    assert_non_null(mur_info_get(info, "command"));
    assert_non_null(mur_info_get(info, "wdir"));
    assert_int_equal(mur_error_class(mur_mpi_info_set(info, "a", "b")), MPI_ERR_INFO);
    assert_int_equal(mur_error_class(mur_mpi_info_delete(info, "wdir")), MPI_ERR_INFO);
    assert_int_equal(mur_error_class(mur_mpi_info_free(&handle)), MPI_ERR_INFO);
    assert_int_equal(mur_mpi_info_dup(info, &handle), MPI_SUCCESS); /* the copy can be changed */
    assert_int_equal(mur_mpi_info_set(mur_info_find(handle), "a", "b"), MPI_SUCCESS);
    assert_int_equal(mur_mpi_info_free(&handle), MPI_SUCCESS);

    assert_int_equal(mur_mpi_info_create_env(3, argv, &handle), MPI_SUCCESS);
    info = mur_info_find(handle);
    assert_string_equal(mur_info_get(info, "command"), "program");
    assert_string_equal(mur_info_get(info, "argv"), "-x two words");
    assert_string_equal(mur_info_get(info, "maxprocs"), "4");
    mur_info_free(info);
}

static void *create_and_free(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        struct mur_info *info = NULL;
        if (mur_info_create(&info) || mur_info_set(info, "a", "b") || info->count != 1)
            return "the info object is another thread's";
        mur_info_free(info);
    }
    return unused;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    void *failure;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create_and_free, NULL), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failure);
        assert_null(failure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),        cmocka_unit_test(test_get),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
