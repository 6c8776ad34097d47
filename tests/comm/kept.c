/* SPDX-License-Identifier: BSD-3-Clause */
/* Very many communicators alive at once: what they share of the node's memory must not keep ranks from talking that
 * have not talked before, and collectives work on all of them. */
#include "random.h"

enum { KEPT = 1500, STEP = 97 };

static MPI_Comm kept[KEPT];

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < KEPT; i++)
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &kept[i]);
    for (int distance = 0; distance < size; distance++) {
        int out = rank, in = -1, from = (rank + size - distance) % size;

        MPI_Sendrecv(&out, 1, MPI_INT, (rank + distance) % size, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(in == from);
    }
    for (int i = 0; i < KEPT; i += STEP) {
        int one = 1, sum = 0, first = rank;

        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, kept[i]);
        CHECK(sum == size);
        MPI_Bcast(&first, 1, MPI_INT, 0, kept[i]);
        CHECK(first == (i % 2 ? 0 : size - 1));
    }
    for (int i = 0; i < KEPT; i++)
        MPI_Comm_free(&kept[i]);
    MPI_Finalize();
    return 0;
}
