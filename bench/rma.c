/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations of rank 0 on the memory of rank 1, which waits in a barrier meanwhile: time of small operations
 * with their flush, of locks and fences, and how fast a megabyte goes; large ones also while rank 1 computes. Memory of
 * the origin is from malloc; in rows named "from-alloc-mem" from MPI_Alloc_mem. Windows are allocated; in rows named
 * "created" made of memory from malloc, in those named "created-on-alloc-mem" of memory from MPI_Alloc_mem. Arguments
 * are parts of the names of the figures that are wanted; without any, all are measured. */
#include <stdbool.h>

#include "bench.h"

enum { LARGE = 1 << 20, SMALL_COUNT = 50000, LARGE_COUNT = 200 };

static MPI_Win win;
static char *memory, *buffer, *result;
static int rank;
static bool computes; /* rank 1 is outside MPI, mostly */
static char **wanted; /* NULL at the end */

typedef void operation(void);

static void put_small(void)
{
    MPI_Put(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get_small(void)
{
    MPI_Get(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void fetch_and_add(void)
{
    MPI_Fetch_and_op(buffer, result, MPI_INT64_T, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void compare_and_swap(void)
{
    MPI_Compare_and_swap(buffer, buffer + 8, result, MPI_INT64_T, 1, 0, win);
    MPI_Win_flush(1, win);
}

static void accumulate_small(void)
{
    MPI_Accumulate(buffer, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void put_large(void)
{
    MPI_Put(buffer, LARGE, MPI_BYTE, 1, 0, LARGE, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get_large(void)
{
    MPI_Get(buffer, LARGE, MPI_BYTE, 1, 0, LARGE, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void accumulate_large(void)
{
    MPI_Accumulate(buffer, LARGE / 8, MPI_DOUBLE, 1, 0, LARGE / 8, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void get_accumulate_large(void)
{
    MPI_Get_accumulate(buffer, LARGE / 8, MPI_DOUBLE, result, LARGE / 8, MPI_DOUBLE, 1, 0, LARGE / 8, MPI_DOUBLE,
                       MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void lock_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
}

static void lock_put_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
    MPI_Win_unlock(1, win);
}

/* Rank 1 waits meanwhile. */
static void meet(void)
{
    if (!computes)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Seconds of one call by rank 0. */
static double measure(operation *run, int count)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double start;

        meet();
        start = MPI_Wtime();
        for (int i = 0; i < count && rank == 0; i++)
            run();
        start = (MPI_Wtime() - start) / count;
        best = start < best ? start : best;
        meet();
    }
    return best;
}

static bool is_wanted(const char *name)
{
    for (int i = 0; wanted[i]; i++)
        if (strstr(name, wanted[i]))
            return true;
    return !wanted[0];
}

static void print(const char *name, double value, const char *unit)
{
    if (rank == 0)
        bench_print(name, value, unit);
}

struct row {
    const char *name;
    operation *run;
    bool is_large, is_bandwidth;
};

static void measure_rows(const char *prefix, const char *suffix, const struct row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        char name[64];
        double seconds;

        snprintf(name, sizeof name, "%s%s%s", prefix, row->name, suffix);
        if (!is_wanted(name))
            continue;
        seconds = measure(row->run, row->is_large ? LARGE_COUNT : SMALL_COUNT);
        if (row->is_bandwidth)
            print(name, LARGE / seconds / 1e9, "GB/s");
        else
            print(name, seconds * (row->is_large ? 1e6 : 1e9), row->is_large ? "us" : "ns");
    }
}

static const struct row large[] = {{"put-1MiB", put_large, true, true},
                                   {"get-1MiB", get_large, true, true},
                                   {"accumulate-1MiB", accumulate_large, true, false},
                                   {"get-accumulate-1MiB", get_accumulate_large, true, false}};

static void *alloc_mem(void)
{
    void *some;

    MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &some);
    memset(some, 0, LARGE);
    return some;
}

static void measure_large(const char *prefix)
{
    char *buffer_before = buffer, *result_before = result;

    measure_rows(prefix, "", large, 4);
    buffer = alloc_mem();
    result = alloc_mem();
    measure_rows(prefix, "-from-alloc-mem", large, 4);
    MPI_Free_mem(buffer);
    MPI_Free_mem(result);
    buffer = buffer_before;
    result = result_before;
}

static void all_locked(const char *prefix)
{
    static const struct row small[] = {{"put-8B-flush", put_small, false, false},
                                       {"get-8B-flush", get_small, false, false},
                                       {"fetch-and-add-flush", fetch_and_add, false, false},
                                       {"compare-and-swap-flush", compare_and_swap, false, false},
                                       {"accumulate-8B-flush", accumulate_small, false, false}},
                            locks[] = {{"lock-unlock", lock_unlock, false, false},
                                       {"lock-put-unlock", lock_put_unlock, false, false}};

    MPI_Win_lock_all(0, win);
    measure_rows(prefix, "", small, 5);
    measure_large(prefix);
    MPI_Win_unlock_all(win);
    measure_rows(prefix, "", locks, 2);
}

/* Both ranks call it. */
static double fence(void)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < SMALL_COUNT / 5; i++)
            MPI_Win_fence(0, win);
        start = (MPI_Wtime() - start) / (SMALL_COUNT / 5);
        best = start < best ? start : best;
    }
    return best;
}

static double make_and_free(void)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double start;
        char *own;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < 20; i++) {
            MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
            MPI_Win_free(&win);
        }
        start = (MPI_Wtime() - start) / 20;
        best = start < best ? start : best;
    }
    return best;
}

/* Rank 1 computes, and looks every millisecond or so whether it is over. */
static void compute(void)
{
    volatile double sum = 0;
    int is_over = 0;

    while (!is_over) {
        for (int i = 0; i < 500000; i++)
            sum = sum + 1;
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_over, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void computing_target(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    computes = true;
    if (rank == 1) {
        compute();
    } else {
        measure_large("computing-");
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    }
    computes = false;
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    wanted = argv + 1;
    rank = bench_rank();
    buffer = bench_memory(LARGE);
    result = bench_memory(LARGE);
    memset(buffer, 0, LARGE);
    if (is_wanted("win-allocate-free"))
        print("win-allocate-free", make_and_free() * 1e6, "us");
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, LARGE);
    all_locked("");
    computing_target();
    if (is_wanted("fence")) {
        print("fence", fence() * 1e6, "us");
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
    MPI_Win_free(&win);
    memory = bench_memory(LARGE);
    memset(memory, 0, LARGE);
    MPI_Win_create(memory, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_locked("created-");
    MPI_Win_free(&win);
    free(memory);
    memory = alloc_mem();
    MPI_Win_create(memory, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_locked("created-on-alloc-mem-");
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
    free(buffer);
    free(result);
    MPI_Finalize();
    return 0;
}
