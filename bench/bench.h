/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmark programs share: each prints lines "name value unit", which bench/run collects. They use the
 * standard ABI only, so that one binary runs under every MPI. Every figure is the best of several repetitions. */
#ifndef MUR_BENCH_H
#define MUR_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 7 };

static inline void *bench_memory(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(memory, 1, bytes);
    return memory;
}

/* Whether an argument is a part of this figure's name, or there is none. */
static inline bool bench_is_wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return argc < 2;
}

static inline int bench_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Half of a ping-pong between ranks 0 and 1, in seconds: the mean of `count`. */
static inline double bench_ping_pong(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                                     MPI_Datatype in_type, int count)
{
    bool is_first = bench_rank() == 0;
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < count; i++)
        if (is_first) {
            MPI_Send(out, out_count, out_type, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, in_count, in_type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, in_count, in_type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, out_count, out_type, 0, 0, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - start) / count / 2;
}

static inline void bench_print(const char *name, double value, const char *unit)
{
    printf("%s %.6g %s\n", name, value, unit);
    fflush(stdout);
}

#endif
