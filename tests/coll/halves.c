/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges of blocks that go through the halves of a board: the data of two that follow each other never meet,
 * whatever part of a half each begins at. Sizes are drawn so that together the blocks take from little to nearly all of
 * a half. */
#include "random.h"

enum { HALF = 1 << 20, TURNS = 300 };

static int rank, size;

static unsigned char value(int turn, int from, int to, int at)
{
    return (unsigned char)(turn * 7 + from * 13 + to * 29 + at);
}

static void exchange(int turn, int block, unsigned char *out, unsigned char *in)
{
    for (int to = 0; to < size; to++)
        for (int i = 0; i < block; i++)
            out[to * block + i] = value(turn, rank, to, i);
    MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < block; i++)
            CHECK(in[from * block + i] == value(turn, from, rank, i));
}

int main(int argc, char **argv)
{
    unsigned char *out = malloc(HALF), *in = malloc(HALF);
    int most;

    CHECK(out && in);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    most = HALF / size / size;
    for (int turn = 0; turn < TURNS; turn++)
        exchange(turn, 1 + random_below(turn % 2 ? most / 2 : most - 1), out, in);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
