/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks connect to rank 0 at once, and keep their connections: each sends it a message and gets an answer. With the
 * argument "limit" each then starts a program that prints its limit of open files. */
#include "test.h"

int main(int argc, char **argv)
{
    int rank, size, value = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Status status;

        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        CHECK(value == status.MPI_SOURCE);
    }
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Send(&i, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
    if (rank) {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == rank);
    }
    if (argc > 1 && !strcmp(argv[1], "limit"))
        CHECK(system("ulimit -Sn") == 0);
    MPI_Finalize();
    return 0;
}
