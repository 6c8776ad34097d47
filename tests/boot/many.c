/* SPDX-License-Identifier: BSD-3-Clause */
/* Many ranks on few cores: all start, pass a barrier, and agree on a sum; each talks to each. */
#include "test.h"

int main(int argc, char **argv)
{
    int rank, size, *out, *in;
    long sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (long)size * (size - 1) / 2);
    out = malloc((size_t)size * sizeof *out);
    in = malloc((size_t)size * sizeof *in);
    CHECK(out && in);
    for (int i = 0; i < size; i++)
        out[i] = rank * size + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i * size + rank);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
