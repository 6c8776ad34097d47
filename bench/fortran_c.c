/* SPDX-License-Identifier: BSD-3-Clause */
/* What fortran.f90 is measured beside. */
#include <mpi.h>

double c_latency(int bytes, int count);
double c_null(int count);

double c_latency(int bytes, int count)
{
    char out[64] = {1}, in[64];
    double start;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < count; i++)
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - start) / count / 2;
}

double c_null(int count)
{
    double out = 1, start = MPI_Wtime();

    for (int i = 0; i < count; i++)
        MPI_Send(&out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / count;
}
