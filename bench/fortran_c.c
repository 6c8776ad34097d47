/* SPDX-License-Identifier: BSD-3-Clause */
/* What fortran.f90 is measured beside. */
#include "bench.h"

double c_latency(int bytes, int count);
double c_null(int count);

double c_latency(int bytes, int count)
{
    char out[64] = {1}, in[64];

    return bench_ping_pong(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, count);
}

double c_null(int count)
{
    double out = 1, start = MPI_Wtime();

    for (int i = 0; i < count; i++)
        MPI_Send(&out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / count;
}
