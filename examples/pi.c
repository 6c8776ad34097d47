/* Pi: integrates 4 / (1 + x * x) from 0 to 1, the ranks sharing the intervals, and adds the parts up with one
 * reduction. It shows broadcast and reduce. Run: mpiexec -n 4 pi [intervals] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long intervals = 0;
    double part = 0, pi = 0, error;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        intervals = argc > 1 ? atol(argv[1]) : 1000000;
    MPI_Bcast(&intervals, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    for (long i = rank; i < intervals; i += size) {
        double x = ((double)i + 0.5) / (double)intervals;

        part += 4 / (1 + x * x) / (double)intervals;
    }
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

    if (rank == 0) {
        error = fabs(pi - 3.14159265358979323846);
        printf("pi is about %.15f, error %.1e, %ld intervals on %d ranks\n", pi, error, intervals, size);
        if (intervals >= 1000 && error > 1e-6)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
