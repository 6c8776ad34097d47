/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on all ranks: barrier, allreduce, broadcast, allgather and all-to-all, in microseconds a call. */
#include "bench.h"

enum { LARGEST = 4 << 20 };

static char *out, *in;

enum operation { BARRIER, ALLREDUCE, BCAST, ALLGATHER, ALLTOALL, REDUCE_SCATTER };

static void call(enum operation operation, int bytes, int size)
{
    switch (operation) {
    case BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case ALLTOALL:
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_block(out, in, bytes / 8 / size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        enum operation operation;
        int bytes;
        const char *name;
    } rows[] = {{BARRIER, 0, "barrier"},
                {ALLREDUCE, 8, "allreduce-8B"},
                {ALLREDUCE, 65536, "allreduce-64KiB"},
                {ALLREDUCE, 1 << 20, "allreduce-1MiB"},
                {ALLREDUCE, LARGEST, "allreduce-4MiB"},
                {BCAST, 1 << 20, "bcast-1MiB"},
                {ALLGATHER, 16384, "allgather-16KiB"},
                {ALLTOALL, 16384, "alltoall-16KiB"},
                {REDUCE_SCATTER, 1 << 20, "reduce_scatter-1MiB"}};
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = bench_memory(LARGEST);
    in = bench_memory(LARGEST);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int count = rows[i].bytes > 100000 ? 20 : rows[i].bytes > 1000 ? 200 : 1000;
        double best = 1e9;
        char name[64];

        for (int r = 0; r < REPETITIONS; r++) {
            double start;

            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
            for (int k = 0; k < count; k++)
                call(rows[i].operation, rows[i].bytes, size);
            start = (MPI_Wtime() - start) / count * 1e6;
            best = start < best ? start : best;
        }
        snprintf(name, sizeof name, "%s-n%d", rows[i].name, size);
        if (bench_rank() == 0)
            bench_print(name, best, "us");
    }
    MPI_Finalize();
    return 0;
}
