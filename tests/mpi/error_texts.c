/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors name the call, its arguments, what is wrong and what was expected. */
#include "test.h"

static int value;

/* The code's class is right, and its text is the call and the fault, with addresses left out. */
static void expect(int line, int code, int error_class, const char *call, const char *fault)
{
    char text[MPI_MAX_ERROR_STRING], whole[MPI_MAX_ERROR_STRING];
    int length, found;

    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &length);
    snprintf(whole, sizeof whole, "): %s", fault);
    if (found == error_class && length == (int)strlen(text) && strstr(text, call) == text && strstr(text, whole))
        return;
    fprintf(stderr, "error_texts.c:%d: class %d, text: %s\n", line, found, text);
    test_fail(__FILE__, line, fault);
}
#define EXPECT(code, error_class, call, fault) expect(__LINE__, code, error_class, call, fault)

static void test_arguments(int size)
{
    char fault[128];

    EXPECT(MPI_Send(&value, -1, MPI_INT, 0, 5, MPI_COMM_WORLD), MPI_ERR_COUNT, "MPI_Send(buf=0x",
           "count is -1, but must be 0 or more");
    EXPECT(MPI_Send_c(&value, -1, MPI_INT, 0, 5, MPI_COMM_WORLD), MPI_ERR_COUNT, "MPI_Send_c(buf=0x",
           "count is -1, but must be 0 or more");
    snprintf(fault, sizeof fault, "dest is %d, but must be a rank of the communicator (0 to %d) or MPI_PROC_NULL", size,
             size - 1);
    EXPECT(MPI_Send(&value, 1, MPI_INT, size, 5, MPI_COMM_WORLD), MPI_ERR_RANK, "MPI_Send(buf=0x", fault);
    EXPECT(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD), MPI_ERR_RANK, "MPI_Send(",
           "dest is MPI_ANY_SOURCE, which only receives and probes take");
    EXPECT(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG, "MPI_Send(",
           "tag is MPI_ANY_TAG, which only receives and probes take");
    EXPECT(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, -7, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TAG,
           "MPI_Recv(buf=0x", "tag is -7, but must be from 0 to 2147483647, or MPI_ANY_TAG");
    EXPECT(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=NULL",
           "rank is NULL, but must be an address");
    snprintf(fault, sizeof fault, "root is -1, but must be a rank of the communicator (0 to %d)", size - 1);
    EXPECT(MPI_Bcast(NULL, 0, MPI_BYTE, -1, MPI_COMM_WORLD), MPI_ERR_ROOT,
           "MPI_Bcast(buffer=NULL, count=0, datatype=MPI_BYTE, root=MPI_ANY_SOURCE, comm=MPI_COMM_WORLD)", fault);
}

static void test_handles(void)
{
    MPI_Comm comm, stale;
    MPI_Datatype type;

    EXPECT(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "MPI_Barrier(comm=MPI_COMM_NULL)",
           "comm is MPI_COMM_NULL, but must be a communicator");
    EXPECT(MPI_Barrier((MPI_Comm)MPI_INT), MPI_ERR_COMM, "MPI_Barrier(comm=0x209)",
           "comm is 0x209, which is not a live");
    EXPECT(MPI_Barrier((MPI_Comm)0), MPI_ERR_COMM, "MPI_Barrier(comm=NULL)", "comm is 0, a handle that was never set");
    EXPECT(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "MPI_Send(",
           "datatype is MPI_DATATYPE_NULL, but must be a datatype");

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    stale = comm;
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
    EXPECT(MPI_Barrier(stale), MPI_ERR_COMM, "MPI_Barrier(comm=0x", "comm is 0x");

    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_name(type, "triple");
    EXPECT(MPI_Send(&value, 0, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "MPI_Send(",
           "datatype is a datatype that is not committed");
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
}

/* Where an argument is not significant, nothing is said about it. */
static void test_significance(int rank, int size)
{
    int *all = malloc((size_t)size * sizeof *all);

    CHECK(all);
    value = rank;
    if (rank == 0)
        CHECK(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    else
        CHECK(MPI_Gather(&value, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank == 0)
        CHECK(MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    else
        CHECK(MPI_Scatter(NULL, -1, (MPI_Datatype)0, &value, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(value == rank);
    all[rank] = rank;
    CHECK(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        CHECK(all[i] == i);
    free(all);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_arguments(size);
    test_handles();
    test_significance(rank, size);
    MPI_Finalize();
    return 0;
}
