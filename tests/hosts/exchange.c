/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks exchange messages of random sizes, whose contents are checked, for so many seconds: exchange SECONDS. Each
 * rank knows what the others send by their seeds, so a byte that is lost or comes twice is found. */
#include "random.h"
#include "test.h"

enum { LARGEST = 300000, WINDOW = 8 };

static unsigned char out[WINDOW][LARGEST], in[WINDOW][LARGEST];

static void fill(unsigned char *data, int bytes, uint64_t seed)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (unsigned char)((seed + (uint64_t)i * 2654435761u) >> 7);
}

static int size_of(uint64_t seed)
{
    return seed % 3 == 0 ? (int)(seed / 3 % 64) : (int)(seed / 3 % LARGEST);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2, start;
    uint64_t round = 0;
    int rank, size, go_on = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    start = MPI_Wtime();
    for (; go_on; round++) {
        int to = (rank + 1 + (int)(round % (uint64_t)(size - 1))) % size;
        int from = (rank + size - 1 - (int)(round % (uint64_t)(size - 1))) % size;
        MPI_Request requests[2 * WINDOW];

        for (int k = 0; k < WINDOW; k++) {
            uint64_t mine = (round * 1000 + (uint64_t)rank) * WINDOW + (uint64_t)k;

            MPI_Irecv(in[k], LARGEST, MPI_BYTE, from, k, MPI_COMM_WORLD, &requests[k]);
            fill(out[k], size_of(mine), mine);
            MPI_Isend(out[k], size_of(mine), MPI_BYTE, to, k, MPI_COMM_WORLD, &requests[WINDOW + k]);
        }
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < WINDOW; k++) {
            uint64_t theirs = (round * 1000 + (uint64_t)from) * WINDOW + (uint64_t)k;
            static unsigned char expected[LARGEST];

            fill(expected, size_of(theirs), theirs);
            CHECK(memcmp(expected, in[k], (size_t)size_of(theirs)) == 0);
        }
        go_on = MPI_Wtime() - start < seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%llu rounds are right\n", (unsigned long long)round);
    MPI_Finalize();
    return 0;
}
