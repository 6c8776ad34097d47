/* SPDX-License-Identifier: BSD-3-Clause */
/* Many ranks on few cores: what the first operations of a job cost, and later ones. Beside the time, the slowest
 * rank's, it prints what all ranks together have spent on each: processor time, page faults, and switches to another
 * process, which tell how it grows with the number of ranks whatever else the machine does. Arguments name the
 * operations: barrier, allreduce-8B, alltoall-8B; without any it does all. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

enum { REPEATS = 10 };

struct spent {
    double cpu, faults, switches;
};

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static struct spent spent_so_far(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (struct spent){seconds(usage.ru_utime) + seconds(usage.ru_stime),
                          (double)(usage.ru_minflt + usage.ru_majflt), (double)(usage.ru_nvcsw + usage.ru_nivcsw)};
}

struct figure {
    const char *name;
    double took; /* seconds */
    struct spent spent;
};

static void print(const struct figure *figure)
{
    double slowest, sums[3];
    char name[64];

    MPI_Reduce(&figure->took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&figure->spent, sums, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench_rank())
        return;
    bench_print(figure->name, slowest * 1e3, "ms");
    snprintf(name, sizeof name, "%s-cpu", figure->name);
    bench_print(name, sums[0] * 1e3, "ms");
    snprintf(name, sizeof name, "%s-faults", figure->name);
    bench_print(name, sums[1], "faults");
    snprintf(name, sizeof name, "%s-switches", figure->name);
    bench_print(name, sums[2], "switches");
}

static char *in, *out;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(in, 8, MPI_BYTE, out, 8, MPI_BYTE, MPI_COMM_WORLD);
}

static struct figure measure(const char *name, void (*operation)(void), int repeats)
{
    struct spent before = spent_so_far(), after;
    struct figure figure = {.name = name};
    double start = MPI_Wtime();

    for (int i = 0; i < repeats; i++)
        operation();
    figure.took = (MPI_Wtime() - start) / repeats;
    after = spent_so_far();
    figure.spent.cpu = (after.cpu - before.cpu) / repeats;
    figure.spent.faults = (after.faults - before.faults) / repeats;
    figure.spent.switches = (after.switches - before.switches) / repeats;
    return figure;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *first, *later;
        void (*operation)(void);
    } operations[] = {{"first-barrier", "barrier", barrier},
                      {"first-allreduce-8B", "allreduce-8B", allreduce},
                      {"first-alltoall-8B", "alltoall-8B", alltoall}};
    struct figure figures[6];
    int size, count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc((size_t)size, 8);
    out = calloc((size_t)size, 8);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (!bench_is_wanted(argc, argv, operations[i].later))
            continue;
        figures[count++] = measure(operations[i].first, operations[i].operation, 1);
        figures[count++] = measure(operations[i].later, operations[i].operation, REPEATS);
    }
    for (int i = 0; i < count; i++)
        print(&figures[i]);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
