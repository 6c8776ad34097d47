/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that is not one run of bytes, 1 MiB in blocks of 64 B (also 8 B and 1 KiB) with gaps of the same size: half of a
 * ping-pong to the same type, and from and to contiguous data; MPI_Pack beside a loop written by hand. */
#include "bench.h"

enum { BYTES = 1 << 20, BLOCK = 64, COUNT = 60 };

static int rank;
static char *buffer;

static double latency(MPI_Datatype out, int out_count, MPI_Datatype in, int in_count)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double half = bench_ping_pong(buffer, out_count, out, buffer, in_count, in, COUNT) * 1e6;

        best = half < best ? half : best;
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

static MPI_Datatype blocks_of(int bytes)
{
    MPI_Datatype type;

    MPI_Type_vector(BYTES / bytes, bytes, 2 * bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Both sides strided, and one of them. */
static void all_ways(MPI_Datatype strided, const char *both, const char *to_dense, const char *to_strided)
{
    print_row(both, latency(strided, 1, strided, 1));
    print_row(to_dense, latency(strided, 1, MPI_BYTE, BYTES));
    print_row(to_strided, latency(MPI_BYTE, BYTES, strided, 1));
}

int main(int argc, char **argv)
{
    MPI_Datatype strided, fine, coarse;
    char *packed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    strided = blocks_of(BLOCK);
    fine = blocks_of(8);
    coarse = blocks_of(1024);
    buffer = bench_memory(2 * BYTES);
    all_ways(strided, "strided-1MiB", "strided-to-dense-1MiB", "dense-to-strided-1MiB");
    all_ways(fine, "strided-8B-1MiB", "strided-8B-to-dense-1MiB", "dense-to-strided-8B-1MiB");
    all_ways(coarse, "strided-1KiB-1MiB", "strided-1KiB-to-dense-1MiB", "dense-to-strided-1KiB-1MiB");
    packed = bench_memory(BYTES);
    print_row("pack-1MiB", packing(strided, packed));
    print_row("pack-by-hand-1MiB", packing(MPI_DATATYPE_NULL, packed));
    free(packed);
    MPI_Type_free(&strided);
    MPI_Type_free(&fine);
    MPI_Type_free(&coarse);
    free(buffer);
    MPI_Finalize();
    return 0;
}
