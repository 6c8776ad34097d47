/* Ring: a token goes round all ranks, each adding its number; rank 0 checks the sum and prints the time of a lap. It
 * shows point-to-point messages and what one hop costs. Run: mpiexec -n 4 ring [laps] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, laps = argc > 1 ? atoi(argv[1]) : 1000;
    long token = 0, expected;
    double start;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expected = (long)laps * size * (size - 1) / 2;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int lap = 0; lap < laps; lap++) {
        int left = (rank + size - 1) % size, right = (rank + 1) % size;

        if (rank == 0) {
            MPI_Request request;

            MPI_Isend(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Recv(&token, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("ring of %d ranks: %d laps, %.2f us a lap, sum %ld %s\n", size, laps,
               (MPI_Wtime() - start) / (laps > 0 ? laps : 1) * 1e6, token, token == expected ? "is right" : "IS WRONG");
        if (token != expected)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
