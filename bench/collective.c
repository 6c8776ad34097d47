/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on all ranks, in microseconds a call; blocking, nonblocking and persistent forms; and how much of a
 * nonblocking one computation hides. Arguments choose the rows whose names contain one of them. A row's time ends when
 * all ranks have done all calls: a rank that others only need something from may be ahead of them by many. */
#include "bench.h"

enum { LARGEST = 8 << 20, MOST_RANKS = 256 };

static char *out, *in;
static int size, bytes; /* ranks; bytes of the row under way: of a block, or of all data */
static int counts[MOST_RANKS], places[MOST_RANKS];
static MPI_Request kept;

#define WORLD MPI_COMM_WORLD

static void barrier(void)
{
    MPI_Barrier(WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void reduce(void)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, WORLD);
}

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    const double *a = left;
    double *b = right;

    (void)type;
    for (int i = 0; i < *count; i++)
        b[i] += a[i];
}

static MPI_Op own_sum;

static void allreduce_own(void)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, own_sum, WORLD);
}

static void reduce_own(void)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, own_sum, 0, WORLD);
}

static void scan(void)
{
    MPI_Scan(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void bcast(void)
{
    MPI_Bcast(in, bytes, MPI_BYTE, 0, WORLD);
}

static void gather(void)
{
    MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, WORLD);
}

static void gatherv(void)
{
    MPI_Gatherv(out, bytes, MPI_BYTE, in, counts, places, MPI_BYTE, 0, WORLD);
}

static void scatter(void)
{
    MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, WORLD);
}

static void scatterv(void)
{
    MPI_Scatterv(out, counts, places, MPI_BYTE, in, bytes, MPI_BYTE, 0, WORLD);
}

static void allgather(void)
{
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, WORLD);
}

static void allgatherv(void)
{
    MPI_Allgatherv(out, bytes, MPI_BYTE, in, counts, places, MPI_BYTE, WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, WORLD);
}

static void alltoallv(void)
{
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, WORLD);
}

static void reduce_scatter(void)
{
    MPI_Reduce_scatter_block(out, in, bytes / 8 / size, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void iallreduce(void)
{
    MPI_Request request;

    MPI_Iallreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ibcast(void)
{
    MPI_Request request;

    MPI_Ibcast(in, bytes, MPI_BYTE, 0, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ialltoall(void)
{
    MPI_Request request;

    MPI_Ialltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void restart(void)
{
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
}

static const struct row {
    void (*call)(void);
    int bytes;
    const char *name;
} rows[] = {{barrier, 0, "barrier"},
            {allreduce, 8, "allreduce-8B"},
            {allreduce, 65536, "allreduce-64KiB"},
            {allreduce, 1 << 20, "allreduce-1MiB"},
            {allreduce, 4 << 20, "allreduce-4MiB"},
            {bcast, 1 << 20, "bcast-1MiB"},
            {allgather, 16384, "allgather-16KiB"},
            {alltoall, 16384, "alltoall-16KiB"},
            {reduce_scatter, 1 << 20, "reduce_scatter-1MiB"},
            {allreduce, 16384, "allreduce-16KiB"},
            {allreduce_own, 8, "allreduce_own-8B"},
            {allreduce_own, 16384, "allreduce_own-16KiB"},
            {allreduce_own, 1 << 20, "allreduce_own-1MiB"},
            {reduce, 8, "reduce-8B"},
            {reduce, 16384, "reduce-16KiB"},
            {reduce, 1 << 20, "reduce-1MiB"},
            {reduce_own, 16384, "reduce_own-16KiB"},
            {reduce_own, 1 << 20, "reduce_own-1MiB"},
            {scan, 8, "scan-8B"},
            {scan, 16384, "scan-16KiB"},
            {scan, 1 << 20, "scan-1MiB"},
            {bcast, 8, "bcast-8B"},
            {bcast, 16384, "bcast-16KiB"},
            {gather, 8, "gather-8B"},
            {gather, 16384, "gather-16KiB"},
            {gather, 1 << 20, "gather-1MiB"},
            {gatherv, 8, "gatherv-8B"},
            {gatherv, 16384, "gatherv-16KiB"},
            {gatherv, 1 << 20, "gatherv-1MiB"},
            {scatter, 8, "scatter-8B"},
            {scatter, 16384, "scatter-16KiB"},
            {scatter, 1 << 20, "scatter-1MiB"},
            {scatterv, 8, "scatterv-8B"},
            {scatterv, 16384, "scatterv-16KiB"},
            {scatterv, 1 << 20, "scatterv-1MiB"},
            {allgather, 8, "allgather-8B"},
            {allgather, 1 << 20, "allgather-1MiB"},
            {allgatherv, 8, "allgatherv-8B"},
            {allgatherv, 16384, "allgatherv-16KiB"},
            {allgatherv, 1 << 20, "allgatherv-1MiB"},
            {alltoall, 8, "alltoall-8B"},
            {alltoall, 1 << 20, "alltoall-1MiB"},
            {alltoallv, 8, "alltoallv-8B"},
            {alltoallv, 16384, "alltoallv-16KiB"},
            {alltoallv, 1 << 20, "alltoallv-1MiB"},
            {iallreduce, 8, "iallreduce-8B"},
            {iallreduce, 65536, "iallreduce-64KiB"},
            {iallreduce, 1 << 20, "iallreduce-1MiB"},
            {ibcast, 1 << 20, "ibcast-1MiB"},
            {ialltoall, 16384, "ialltoall-16KiB"},
            {restart, 8, "persistent-allreduce-8B"},
            {restart, 65536, "persistent-allreduce-64KiB"},
            {restart, 1 << 20, "persistent-allreduce-1MiB"}};

static double seconds_of(void (*call)(void), int count)
{
    double start;

    MPI_Barrier(WORLD);
    start = MPI_Wtime();
    for (int k = 0; k < count; k++)
        call();
    MPI_Barrier(WORLD);
    return (MPI_Wtime() - start) / count;
}

/* So many calls that they take about 10 ms: the same number at all ranks. */
static int calls_of(void (*call)(void))
{
    int count;

    seconds_of(call, 3);
    count = (int)(0.01 / seconds_of(call, 3));
    MPI_Bcast(&count, 1, MPI_INT, 0, WORLD);
    return count < 3 ? 3 : count > 2000 ? 2000 : count;
}

static double best_of(void (*call)(void))
{
    int count = calls_of(call);
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double seconds = seconds_of(call, count);

        best = seconds < best ? seconds : best;
    }
    return best;
}

static void measure(const struct row *row)
{
    char name[64];
    double best;

    bytes = row->bytes;
    for (int i = 0; i < size && i < MOST_RANKS; i++) {
        counts[i] = bytes;
        places[i] = bytes * i;
    }
    if (row->call == restart)
        MPI_Allreduce_init(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD, MPI_INFO_NULL, &kept);
    best = best_of(row->call);
    if (row->call == restart)
        MPI_Request_free(&kept);
    snprintf(name, sizeof name, "%s-n%d", row->name, size);
    if (bench_rank() == 0)
        bench_print(name, best * 1e6, "us");
}

/* ---- overlap ---- */

static long work_rounds; /* of computation that takes as long as the collective alone */

static double work(long rounds)
{
    volatile double x = 1;

    for (long i = 0; i < rounds; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

static void compute(void)
{
    work(work_rounds);
}

enum { TESTS = 20 };

static void compute_beside(void)
{
    MPI_Request request;
    int is_done;

    MPI_Iallreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD, &request);
    for (int i = 0; i < TESTS; i++) {
        work(work_rounds / TESTS);
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What part of the collective's time computation of the same length hides. */
static void measure_overlap(void)
{
    double alone, computing, both;
    char name[64];

    bytes = 1 << 20;
    alone = best_of(iallreduce);
    work_rounds = 1000000;
    work_rounds = (long)(alone / best_of(compute) * 1000000);
    MPI_Bcast(&work_rounds, 1, MPI_LONG, 0, WORLD);
    computing = best_of(compute);
    both = best_of(compute_beside);
    snprintf(name, sizeof name, "overlap-iallreduce-1MiB-n%d", size);
    if (bench_rank() == 0)
        bench_print(name, (alone + computing - both) / alone * 100, "%");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(WORLD, &size);
    MPI_Op_create(add, 1, &own_sum);
    out = bench_memory(LARGEST);
    in = bench_memory(LARGEST);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bench_is_wanted(argc, argv, rows[i].name) &&
            (rows[i].bytes <= 65536 || size <= 8)) /* what the buffers hold */
            measure(&rows[i]);
    if (bench_is_wanted(argc, argv, "overlap-iallreduce-1MiB"))
        measure_overlap();
    MPI_Op_free(&own_sum);
    MPI_Finalize();
    return 0;
}
