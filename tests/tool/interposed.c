/* SPDX-License-Identifier: BSD-3-Clause */
/* A program under a profiling library that defines every function: each call of the program's is seen there exactly
 * once, and none of the library's own, whatever it does inside; every function has its second name. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "interpose.h"
#include "test.h"

enum { MOST = 2000 };
static unsigned long expected[MOST];

static void expect(const char *name)
{
    for (int i = 0; i < interposed_count; i++)
        if (strcmp(interposed_names[i], name) == 0) {
            expected[i]++;
            return;
        }
    test_fail(__FILE__, __LINE__, name);
}

/* The call, counted here as well. */
#define CALL(function, ...) (expect(#function), CHECK(function(__VA_ARGS__) == MPI_SUCCESS))

static void check_names(void)
{
    char second[128];

    CHECK(interposed_count > 400 && interposed_count < MOST);
    for (int i = 0; i < interposed_count; i++) {
        void *first = dlsym(RTLD_DEFAULT, interposed_names[i]);

        snprintf(second, sizeof second, "P%s", interposed_names[i]);
        CHECK(first && dlsym(RTLD_DEFAULT, second) && dlsym(RTLD_DEFAULT, second) != first);
    }
}

static void check_counts(void)
{
    for (int i = 0; i < interposed_count; i++)
        if (interposed_calls(i) != expected[i]) {
            fprintf(stderr, "%s: called %lu times, but %lu calls were seen\n", interposed_names[i], expected[i],
                    interposed_calls(i));
            exit(1);
        }
}

static void use_messages(MPI_Comm comm, int rank, int size)
{
    static char large[300000], other[300000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];

    for (int bytes = 1; bytes < (int)sizeof large; bytes *= 9) {
        CALL(MPI_Irecv, other, bytes, MPI_BYTE, left, 0, comm, &requests[0]);
        CALL(MPI_Isend_c, large, bytes, MPI_BYTE, right, 0, comm, &requests[1]);
        CALL(MPI_Waitall, 2, requests, MPI_STATUSES_IGNORE);
        CALL(MPI_Sendrecv, large, bytes, MPI_BYTE, right, 0, other, bytes, MPI_BYTE, left, 0, comm, MPI_STATUS_IGNORE);
        CALL(MPI_Sendrecv_replace, large, bytes, MPI_BYTE, right, 0, left, 0, comm, MPI_STATUS_IGNORE);
    }
}

static void use_collectives(MPI_Comm comm, int rank, int size)
{
    double in[1000], out[1000];
    MPI_Request request;
    MPI_Comm copy, part;

    for (int i = 0; i < 1000; i++)
        in[i] = i;
    for (int count = 1; count <= 1000 / size; count *= 3) {
        CALL(MPI_Bcast, in, count, MPI_DOUBLE, 0, comm);
        CALL(MPI_Allreduce, in, out, count, MPI_DOUBLE, MPI_SUM, comm);
        CALL(MPI_Allgather, in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
        CALL(MPI_Ialltoall, in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm, &request);
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    }
    CALL(MPI_Allreduce_init, in, out, 3, MPI_DOUBLE, MPI_MAX, comm, MPI_INFO_NULL, &request);
    CALL(MPI_Start, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Request_free, &request);
    CALL(MPI_Comm_dup, comm, &copy);
    CALL(MPI_Comm_split, copy, rank % 2, 0, &part);
    CALL(MPI_Barrier, part);
    CALL(MPI_Comm_free, &part);
    CALL(MPI_Comm_free, &copy);
}

static void use_windows(MPI_Comm comm, int rank, int size)
{
    MPI_Datatype vector;
    long *memory, in[8] = {0}, sum = 1;
    MPI_Win window;

    CALL(MPI_Type_vector, 2, 1, 3, MPI_LONG, &vector);
    CALL(MPI_Type_commit, &vector);
    CALL(MPI_Win_allocate, 800, 8, MPI_INFO_NULL, comm, &memory, &window);
    CALL(MPI_Win_lock_all, 0, window);
    CALL(MPI_Put, in, 1, vector, (rank + 1) % size, 0, 1, vector, window);
    CALL(MPI_Fetch_and_op, &sum, in, MPI_LONG, 0, 20, MPI_SUM, window);
    CALL(MPI_Win_flush_all, window);
    CALL(MPI_Win_unlock_all, window);
    CALL(MPI_Win_free, &window);
    CALL(MPI_Type_free, &vector);
}

static void use_files(MPI_Comm comm, int rank)
{
    char name[64] = "", data[1000] = "";
    MPI_File file;

    if (rank == 0) {
        int fd;

        strcpy(name, "/tmp/murmur-interposed-XXXXXX");
        fd = mkstemp(name);
        CHECK(fd >= 0);
    }
    CALL(MPI_Bcast, name, sizeof name, MPI_CHAR, 0, comm);
    CALL(MPI_File_open, comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    CALL(MPI_File_write_at_all, file, rank * 1000, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    CALL(MPI_File_read_all, file, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    CALL(MPI_File_close, &file);
}

static void use_tools(void)
{
    MPI_T_pvar_session session;
    int number;

    CALL(MPI_T_init_thread, MPI_THREAD_SINGLE, &number);
    CALL(MPI_T_pvar_get_num, &number);
    CALL(MPI_T_pvar_session_create, &session);
    CALL(MPI_T_pvar_start, session, MPI_T_PVAR_ALL_HANDLES);
    CALL(MPI_T_finalize);
    CALL(MPI_Pcontrol, 2, "anything", 3.0);
}

int main(int argc, char **argv)
{
    int rank, size;

    check_names();
    check_counts();
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    use_messages(MPI_COMM_WORLD, rank, size);
    use_collectives(MPI_COMM_WORLD, rank, size);
    use_windows(MPI_COMM_WORLD, rank, size);
    use_files(MPI_COMM_WORLD, rank);
    use_tools();
    CALL(MPI_Finalize);
    check_counts();
    return 0;
}
