/* SPDX-License-Identifier: BSD-3-Clause */
/* What the standard forbids but MPICH and Open MPI allow works: MPI_CHAR as a small integer, and freeing the requests
 * of collectives that are under way. With MUR_CHECK=strict (argument: strict) it is refused. */
#include "test.h"

enum { COUNT = 1000 };

static int rank, size, is_strict;
static MPI_Comm comm;

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

/* The call succeeds; where checks are strict it is refused with this class of error. */
#define ALLOWED(call, class) CHECK(class_of(call) == (is_strict ? (class) : MPI_SUCCESS))

static void reductions(void)
{
    char in[COUNT], out[COUNT], least = (char)(rank % 2 ? -3 : 5), most;
    MPI_Request request;

    for (int i = 0; i < COUNT; i++)
        in[i] = (char)(i % 5 - 2);
    for (int count = 1; count <= COUNT; count += COUNT - 1) {
        memset(out, 99, sizeof out);
        ALLOWED(MPI_Allreduce(in, out, count, MPI_CHAR, MPI_SUM, comm), MPI_ERR_OP);
        for (int i = 0; i < count && !is_strict; i++)
            CHECK(out[i] == in[i] * size);
        memset(out, 99, sizeof out);
        request = MPI_REQUEST_NULL;
        ALLOWED(MPI_Iallreduce(in, out, count, MPI_CHAR, MPI_SUM, comm, &request), MPI_ERR_OP);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count && !is_strict; i++)
            CHECK(out[i] == in[i] * size);
    }
    ALLOWED(MPI_Allreduce(&least, &most, 1, MPI_CHAR, MPI_MAX, comm), MPI_ERR_OP);
    CHECK(is_strict || most == 5);
    out[0] = 6;
    in[0] = 3;
    ALLOWED(MPI_Reduce_local(in, out, 1, MPI_CHAR, MPI_BAND), MPI_ERR_OP);
    CHECK(is_strict || out[0] == 2);
    ALLOWED(MPI_Reduce_local(in, out, 1, MPI_CHAR, MPI_LAND), MPI_ERR_OP);
    CHECK(is_strict || out[0] == 1);
    CHECK(class_of(MPI_Reduce_local(in, out, 1, MPI_CHARACTER, MPI_SUM)) == MPI_ERR_OP); /* not with all others */
    CHECK(class_of(MPI_Reduce_local(in, out, 1, MPI_WCHAR, MPI_SUM)) == MPI_ERR_OP);
}

static void one_sided(void)
{
    char *memory, one = 1, ten = 10, got = 0;
    MPI_Win win;

    MPI_Win_allocate(1, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    *memory = -50;
    MPI_Win_fence(0, win);
    ALLOWED(MPI_Accumulate(&one, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, MPI_SUM, win), MPI_ERR_OP);
    MPI_Win_fence(0, win);
    ALLOWED(MPI_Fetch_and_op(&ten, &got, MPI_CHAR, (rank + 1) % size, 0, MPI_SUM, win), MPI_ERR_OP);
    MPI_Win_fence(0, win);
    CHECK(is_strict || got == ((rank + 1) % size ? -50 : -50 + size));
    CHECK(is_strict || *memory == (rank ? -40 : -40 + size));
    ALLOWED(MPI_Compare_and_swap(&one, memory, &got, MPI_CHAR, rank, 0, win), MPI_ERR_TYPE);
    MPI_Win_fence(0, win);
    CHECK(is_strict || *memory == 1);
    /* bytes are small integers here, though not in reductions; also if there are none */
    unsigned char byte = 200, before = 0;

    MPI_Barrier(comm);
    *memory = 100;
    MPI_Win_fence(0, win);
    ALLOWED(MPI_Get_accumulate(&byte, 1, MPI_BYTE, &before, 1, MPI_BYTE, rank, 0, 1, MPI_BYTE, MPI_MAX, win),
            MPI_ERR_OP);
    ALLOWED(MPI_Get_accumulate(&byte, 0, MPI_BYTE, &before, 0, MPI_BYTE, rank, 0, 0, MPI_BYTE, MPI_SUM, win),
            MPI_ERR_OP);
    MPI_Win_fence(0, win);
    CHECK(is_strict || (before == 100 && (unsigned char)*memory == 200));
    CHECK(class_of(MPI_Reduce_local(&byte, &before, 1, MPI_BYTE, MPI_SUM)) == MPI_ERR_OP);
    MPI_Win_free(&win);
}

/* Rank `last` starts when all others have started and freed their requests. */
static void wait_for_others(int last)
{
    int ignored = 0;

    for (int i = 1; i < size && rank == last; i++)
        MPI_Recv(&ignored, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, MPI_STATUS_IGNORE);
}

static void tell_last(int last)
{
    int ignored = 0;

    if (rank != last)
        MPI_Send(&ignored, 1, MPI_INT, last, 7, comm);
}

static void free_or_wait(MPI_Request *request)
{
    ALLOWED(MPI_Request_free(request), MPI_ERR_REQUEST);
    CHECK((*request == MPI_REQUEST_NULL) == !is_strict);
}

static void freed_collectives(int last)
{
    static int numbers[COUNT], sums[COUNT]; /* in use until MPI_Finalize */
    MPI_Request requests[3];

    wait_for_others(last);
    MPI_Ibarrier(comm, &requests[0]);
    free_or_wait(&requests[0]);
    MPI_Iallreduce(numbers, sums, COUNT, MPI_INT, MPI_SUM, comm, &requests[1]);
    free_or_wait(&requests[1]);
    tell_last(last);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    MPI_Bcast_init(numbers, COUNT, MPI_INT, last, comm, MPI_INFO_NULL, &requests[2]);
    wait_for_others(last);
    MPI_Start(&requests[2]);
    free_or_wait(&requests[2]);
    tell_last(last);
    if (is_strict) {
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[2]);
    }
}

static void freed_file_access(void)
{
    static int number;
    char name[] = "/tmp/murmur-forgiving-XXXXXX";
    MPI_Request request;
    MPI_File file;

    if (rank == 0) {
        int fd = mkstemp(name);

        CHECK(fd >= 0);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
    MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    number = rank;
    MPI_File_iwrite_at_all(file, rank * (int)sizeof number, &number, 1, MPI_INT, &request);
    free_or_wait(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    is_strict = argc > 1 && !strcmp(argv[1], "strict");
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    reductions();
    one_sided();
    for (int last = 0; last < size; last++)
        freed_collectives(last);
    freed_file_access();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
