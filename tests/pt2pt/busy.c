/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that computes for long without calling MPI is waited for: the first message to it, one after the other from
 * each side, arrives when it calls again. */
#include <time.h>
#include <unistd.h>

#include "test.h"

int main(int argc, char **argv)
{
    int rank, size, value = 0, seconds = argc > 1 ? atoi(argv[1]) : 3;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank % 2 == 1) {
        sleep((unsigned)seconds);
        MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == rank - 1);
        sleep(1);
    } else if (rank + 1 < size) {
        MPI_Send(&rank, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
