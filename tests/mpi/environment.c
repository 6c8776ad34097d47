/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions, names, clocks, memory, addresses and statuses; and what may be called before MPI_Init. */
#include "test.h"

static void test_versions(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int version, subversion, length;

    CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version == 5 && subversion == 0);
    CHECK(MPI_Abi_get_version(&version, &subversion) == MPI_SUCCESS && version == 1 && subversion == 0);
    CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS && length == (int)strlen(text));
    CHECK(!strncmp(text, "Murmur ", 7));
}

static void test_clock(void)
{
    double start = MPI_Wtime(), tick = MPI_Wtick();

    CHECK(tick > 0 && tick < 1e-3);
    CHECK(MPI_Wtime() >= start);
}

static void test_memory(void)
{
    char *memory, array[8];
    MPI_Aint first = 0, last = 0;

    CHECK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory) == MPI_SUCCESS && (uintptr_t)memory % 16 == 0);
    memset(memory, 1, 1000);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory) == MPI_SUCCESS);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) != MPI_SUCCESS);
    CHECK(MPI_Get_address(array, &first) == MPI_SUCCESS && MPI_Get_address(array + 7, &last) == MPI_SUCCESS);
    CHECK(MPI_Aint_diff(last, first) == 7 && MPI_Aint_add(first, 7) == last);
}

static void test_status(void)
{
    MPI_Status status;
    int value;

    memset(&status, 0, sizeof status);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_set_error(&status, MPI_ERR_OTHER);
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == MPI_ERR_OTHER);
    CHECK(MPI_Status_get_source(&status, &value) == MPI_SUCCESS && value == 3);
    CHECK(MPI_Status_get_tag(&status, &value) == MPI_SUCCESS && value == 4);
    CHECK(MPI_Status_get_error(&status, &value) == MPI_SUCCESS && value == MPI_ERR_OTHER);
}

/* Counts in bytes, in elements that fit and that do not, and of a type without data. */
static void test_count(void)
{
    char out[6] = "hello", in[6];
    MPI_Datatype empty;
    MPI_Status status;
    MPI_Count large;
    int count;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Sendrecv(out, 6, MPI_CHAR, 0, 1, in, 6, MPI_CHAR, 0, 1, MPI_COMM_SELF, &status);
    CHECK(MPI_Get_count(&status, MPI_CHAR, &count) == MPI_SUCCESS && count == 6);
    CHECK(MPI_Get_count(&status, MPI_SHORT, &count) == MPI_SUCCESS && count == 3);
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Get_count_c(&status, MPI_SHORT, &large) == MPI_SUCCESS && large == 3);
    CHECK(MPI_Get_count(&status, empty, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    MPI_Sendrecv(out, 0, MPI_CHAR, 0, 1, in, 6, MPI_CHAR, 0, 1, MPI_COMM_SELF, &status);
    CHECK(MPI_Get_count(&status, empty, &count) == MPI_SUCCESS && count == 0);
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int flag, length;

    test_versions();
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
    MPI_Init(&argc, &argv);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && !flag);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS && length == (int)strlen(name) && length > 0);
    test_clock();
    test_memory();
    test_status();
    test_count();
    MPI_Finalize();
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
    test_versions();
    return 0;
}
