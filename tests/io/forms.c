/* SPDX-License-Identifier: BSD-3-Clause */
/* The large-count forms of file access, collective reading at an offset, and calling a file's error handler. */
#include "test.h"

static int calls;

static void handler(MPI_File *file, int *code, ...)
{
    (void)file;
    CHECK(*code == MPI_ERR_OTHER);
    calls++;
}

int main(int argc, char **argv)
{
    int rank, size, out[4], in[4] = {0};
    MPI_Errhandler errhandler;
    MPI_Status status;
    MPI_Offset mine;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "forms.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    mine = (MPI_Offset)rank * 16;
    for (int i = 0; i < 4; i++)
        out[i] = rank * 4 + i;
    MPI_File_write_at_c(file, mine, out, 2, MPI_INT, &status);
    MPI_File_seek(file, mine + 8, MPI_SEEK_SET);
    MPI_File_write_c(file, out + 2, 2, MPI_INT, &status);
    MPI_File_read_at_c(file, mine, in, 4, MPI_INT, &status);
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == rank * 4 + i);
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    in[0] = -1;
    MPI_File_read_c(file, in, 1, MPI_INT, &status);
    CHECK(in[0] == rank * 4);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (MPI_Offset)((rank + 1) % size) * 16, in, 4, MPI_INT, &status);
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == (rank + 1) % size * 4 + i);
    MPI_File_create_errhandler(handler, &errhandler);
    MPI_File_set_errhandler(file, errhandler);
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(calls == 1);
    MPI_Errhandler_free(&errhandler);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
