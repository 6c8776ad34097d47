/* SPDX-License-Identifier: BSD-3-Clause */
/* Helper of starved.sh: three collective accesses by messages are under way at a time, of which the file has memory for
 * one, and rank 1 has none for the others (WHAT is "access") or for the steps of a long one ("steps"). Prints "over"
 * if the accesses end. This program's own calloc and realloc fail at rank 1. */
#define _GNU_SOURCE
#include "test.h"

extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

enum { COUNT = 30000, PARTS = 3 };

static int is_calloc_out, is_realloc_out;

void *calloc(size_t count, size_t bytes)
{
    return is_calloc_out ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return is_realloc_out ? NULL : __libc_realloc(memory, bytes);
}

int main(int argc, char **argv)
{
    static int data[PARTS * COUNT];
    MPI_Request requests[PARTS];
    MPI_Datatype type;
    MPI_Info info;
    MPI_File file;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 3);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "4096");
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    for (int i = 0; i < PARTS; i++) {
        is_calloc_out = i == 1 && rank == 1 && strcmp(argv[2], "access") == 0;
        CHECK(MPI_File_iwrite_at_all(file, i * COUNT, data + i * COUNT, COUNT, MPI_INT, &requests[i]) == MPI_SUCCESS);
        is_calloc_out = 0;
    }
    is_realloc_out = rank == 1 && strcmp(argv[2], "steps") == 0;
    MPI_Waitall(PARTS, requests, MPI_STATUSES_IGNORE);
    printf("over\n");
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
