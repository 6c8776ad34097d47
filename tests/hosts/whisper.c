/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends rank 1 messages of many sizes that are full of a word, and gets them back: whisper WORD. */
#include "test.h"

enum { LARGEST = 1 << 20 };

static char out[LARGEST], in[LARGEST];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc == 2 && strlen(argv[1]) > 1);
    for (size_t at = 0, length = strlen(argv[1]); at < LARGEST; at++)
        out[at] = argv[1][at % length];
    for (int bytes = 16; bytes <= LARGEST; bytes *= 4) {
        if (rank == 0)
            MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(memcmp(in, out, (size_t)bytes) == 0);
        if (rank == 1)
            MPI_Send(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
