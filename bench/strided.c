/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that is not one run of bytes, 1 MiB in blocks of 64 B, 128 B apart: half of a ping-pong to the same type, and
 * from and to contiguous data; MPI_Pack beside a loop written by hand. */
#include "bench.h"

enum { BYTES = 1 << 20, BLOCK = 64, COUNT = 300 };

static int rank;
static char *buffer;

static double latency(MPI_Datatype out, int out_count, MPI_Datatype in, int in_count)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < COUNT; i++)
            if (rank == 0) {
                MPI_Send(buffer, out_count, out, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(buffer, in_count, in, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(buffer, in_count, in, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, out_count, out, 0, 0, MPI_COMM_WORLD);
            }
        start = (MPI_Wtime() - start) / COUNT / 2 * 1e6;
        best = start < best ? start : best;
    }
    return best;
}

/* Best of many; the loop by hand where the type is null. */
static double packing(MPI_Datatype type, char *packed)
{
    double best = 1e9;

    for (int i = 0; i < COUNT; i++) {
        double start = MPI_Wtime();
        int position = 0;

        if (type != MPI_DATATYPE_NULL)
            MPI_Pack(buffer, 1, type, packed, BYTES, &position, MPI_COMM_SELF);
        for (int k = 0; type == MPI_DATATYPE_NULL && k < BYTES / BLOCK; k++)
            memcpy(packed + k * BLOCK, buffer + 2 * k * BLOCK, BLOCK);
        __asm__ volatile("" : : "r"(packed) : "memory"); /* the loop is not for nothing */
        start = (MPI_Wtime() - start) * 1e6;
        best = start < best ? start : best;
    }
    return best;
}

static void print_row(const char *name, double value)
{
    if (rank == 0)
        bench_print(name, value, "us");
}

int main(int argc, char **argv)
{
    MPI_Datatype strided;
    char *packed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(BYTES / BLOCK, BLOCK, 2 * BLOCK, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
    buffer = bench_memory(2 * BYTES);
    print_row("strided-1MiB", latency(strided, 1, strided, 1));
    print_row("strided-to-dense-1MiB", latency(strided, 1, MPI_BYTE, BYTES));
    print_row("dense-to-strided-1MiB", latency(MPI_BYTE, BYTES, strided, 1));
    packed = bench_memory(BYTES);
    print_row("pack-1MiB", packing(strided, packed));
    print_row("pack-by-hand-1MiB", packing(MPI_DATATYPE_NULL, packed));
    free(packed);
    MPI_Type_free(&strided);
    free(buffer);
    MPI_Finalize();
    return 0;
}
