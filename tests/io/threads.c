/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of each rank write and read their own parts of one file at the same time, strided and not, while another one
 * takes part in collective accesses. */
#include <pthread.h>

#include "test.h"

enum { THREADS = 3, COUNT = 20000, ROUNDS = 20 };

static int rank, size;
static MPI_File file, strided;

struct part {
    int number;
};

static void *run(void *argument)
{
    const struct part *part = argument;
    int *out = malloc(COUNT * sizeof *out), *in = malloc(COUNT * sizeof *in);
    MPI_Offset place = (MPI_Offset)(rank * THREADS + part->number) * COUNT;
    MPI_Request request;

    CHECK(out && in);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            out[i] = round * 1000 + part->number + i;
        if (part->number == 0) {
            CHECK(MPI_File_write_at_all(strided, 0, out, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(MPI_File_read_at_all(strided, 0, in, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        } else if (part->number == 1) {
            CHECK(MPI_File_write_at(file, place, out, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(MPI_File_read_at(file, place, in, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        } else {
            CHECK(MPI_File_iwrite_at(file, place, out, COUNT, MPI_INT, &request) == MPI_SUCCESS);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(MPI_File_iread_at(file, place, in, COUNT, MPI_INT, &request) == MPI_SUCCESS);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
        CHECK(memcmp(in, out, COUNT * sizeof *in) == 0);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    pthread_t threads[THREADS];
    struct part parts[THREADS];
    MPI_Datatype type;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "threads.tmp", amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "threads-strided.tmp", amode, MPI_INFO_NULL, &strided) == MPI_SUCCESS);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size + 4, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_set_view(strided, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
    for (int i = 0; i < THREADS; i++) {
        parts[i].number = i;
        CHECK(pthread_create(&threads[i], NULL, run, &parts[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Type_free(&type);
    MPI_File_close(&strided);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
