/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ABI tells about itself, before MPI_Init too: sizes, Fortran's sizes and logical values, set once; the
 * environment as info; where this process is confined to; memory with an alignment. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>

#include "test.h"

/* The sanitizer is to return NULL for too much memory, as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static const char *get(MPI_Info info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag;

    MPI_Info_get_string(info, key, &length, value, &flag);
    return flag ? value : "(none)";
}

static void sizes(void)
{
    int32_t yes = -5, no = -5;
    int is_set, major, minor;
    char odd[9];
    MPI_Info info;

    MPI_Abi_get_version(&major, &minor);
    CHECK(major == 1 && minor == 0);
    MPI_Abi_get_info(&info);
    CHECK(!strcmp(get(info, "mpi_aint_size"), "8") && !strcmp(get(info, "mpi_count_size"), "8"));
    CHECK(!strcmp(get(info, "mpi_offset_size"), "8"));
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    CHECK(!strcmp(get(info, "mpi_integer_size"), "4") && !strcmp(get(info, "mpi_double_precision_size"), "8"));
    CHECK(!strcmp(get(info, "mpi_real8_supported"), "true"));
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    CHECK(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI);
    MPI_Info_free(&info);
    CHECK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set) == MPI_SUCCESS && is_set && yes == 1 && no == 0);
    CHECK(MPI_Abi_get_fortran_booleans(8, odd + 1, odd, &is_set) == MPI_SUCCESS); /* at any address */
    CHECK(class_of(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set)) == MPI_ERR_ARG);
    CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_SUCCESS);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(4, &yes, &no)) == MPI_ERR_ABI);
}

static void environment(int argc, char **argv)
{
    MPI_Info info;

    MPI_Info_create_env(argc, argv, &info);
    CHECK(!strcmp(get(info, "command"), argv[0]) && strcmp(get(info, "wdir"), "(none)"));
    CHECK(!strcmp(get(info, "maxprocs"), "1"));
    MPI_Info_free(&info);
    MPI_Info_create_env(4, (char *[]){"a.out", "-x", "two words", ""}, &info);
    CHECK(!strcmp(get(info, "command"), "a.out") && !strncmp(get(info, "argv"), "-x two words", 12));
    MPI_Info_free(&info);
    MPI_Info_create_env(0, NULL, &info);
    CHECK(!strcmp(get(info, "command"), "(none)") && !strcmp(get(info, "argv"), "(none)"));
    MPI_Info_free(&info);
}

static void resources(void)
{
    cpu_set_t set, one;
    MPI_Info info;

    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
        }
    sched_setaffinity(0, sizeof one, &one);
    CHECK(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS);
    CHECK(!strcmp(get(info, "hwloc://PU"), "true") || !strcmp(get(info, "hwloc://PU"), "(none)"));
    CHECK(!strcmp(get(info, "hwloc://Core"), "true") || !strcmp(get(info, "hwloc://Core"), "(none)"));
    MPI_Info_free(&info);
    sched_setaffinity(0, sizeof set, &set);
}

static void memory(void)
{
    MPI_Info info;
    char *base, *other;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "8192");
    CHECK(MPI_Alloc_mem(100, info, &base) == MPI_SUCCESS && (uintptr_t)base % 8192 == 0);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "nonsense");
    CHECK(MPI_Alloc_mem(100, info, &other) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(class_of(MPI_Free_mem(base + 8)) == MPI_ERR_BASE);
    CHECK(MPI_Free_mem(base) == MPI_SUCCESS && MPI_Free_mem(other) == MPI_SUCCESS);
    CHECK(class_of(MPI_Free_mem(base)) == MPI_ERR_BASE);
    CHECK(class_of(MPI_Free_mem(&base)) == MPI_ERR_BASE);
    CHECK(class_of(MPI_Alloc_mem(PTRDIFF_MAX, MPI_INFO_NULL, &base)) == MPI_ERR_NO_MEM);
    CHECK(class_of(MPI_Alloc_mem(-1, MPI_INFO_NULL, &base)) == MPI_ERR_ARG);
    CHECK(MPI_Alloc_mem(0, MPI_INFO_NULL, &base) == MPI_SUCCESS && MPI_Free_mem(base) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    int provided;

    environment(argc, argv);
    MPI_Abi_get_fortran_info(&info);
    MPI_Info_free(&info);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(!strcmp(get(MPI_INFO_ENV, "thread_level"), "MPI_THREAD_SERIALIZED"));
    sizes();
    resources();
    memory();
    MPI_Finalize();
    return 0;
}
