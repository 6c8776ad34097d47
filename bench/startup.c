/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of MPI_Init, the slowest rank's, and the memory of an idle rank. With no argument it prints nothing: then it
 * is the 'hello' whose launch bench/run times. */
#include <time.h>

#include "bench.h"

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Proportional set size in MiB. */
static double memory(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    double kib = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lf", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib / 1024;
}

int main(int argc, char **argv)
{
    double start = now(), took, slowest, used, most;

    MPI_Init(&argc, &argv);
    took = (now() - start) * 1e3;
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    used = memory();
    MPI_Reduce(&used, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (argc > 1 && bench_rank() == 0) {
        bench_print("init", slowest, "ms");
        bench_print("memory", most, "MiB");
    }
    MPI_Finalize();
    return 0;
}
