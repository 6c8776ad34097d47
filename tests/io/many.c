/* SPDX-License-Identifier: BSD-3-Clause */
/* Many files open at once, opened and closed again and again: each works, also those for which there is no shared
 * memory left, and messages between ranks still go through. */
#include "test.h"

enum { FILES = 40, COUNT = 3000, ROUNDS = 3 };

int main(int argc, char **argv)
{
    int rank, size, out[COUNT], in[COUNT], sum;
    MPI_File files[FILES];
    MPI_Datatype type;
    char name[40];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_commit(&type);
    for (int round = 0; round < ROUNDS; round++) {
        for (int f = 0; f < FILES; f++) {
            snprintf(name, sizeof name, "many-%d.tmp", f);
            CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                MPI_INFO_NULL, &files[f]) == MPI_SUCCESS);
            CHECK(MPI_File_set_view(files[f], 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
            for (int i = 0; i < COUNT; i++)
                out[i] = (f * size + rank) * COUNT + i + round;
            CHECK(MPI_File_write_all(files[f], out, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
        for (int f = 0; f < FILES; f++) {
            CHECK(MPI_File_read_at_all(files[f], 0, in, COUNT, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            for (int i = 0; i < COUNT; i++)
                CHECK(in[i] == (f * size + rank) * COUNT + i + round);
        }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
        for (int f = 0; f < FILES; f++)
            CHECK(MPI_File_close(&files[f]) == MPI_SUCCESS);
    }
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
