/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time that waiting ranks burn: all ranks but 0 wait for a message while rank 0 sleeps for a second. */
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv)
{
    double burnt, all;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    burnt = cpu_seconds();
    if (bench_rank() == 0) {
        sleep(1);
        for (int i = 1; i < size; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, 0, MPI_COMM_WORLD);
        burnt = 0;
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        burnt = cpu_seconds() - burnt;
    }
    MPI_Reduce(&burnt, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench_rank() == 0)
        bench_print("idle-cpu", all / (size > 1 ? size - 1 : 1) * 100, "%");
    MPI_Finalize();
    return 0;
}
