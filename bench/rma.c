/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations of rank 0 on the memory of rank 1, which waits in a barrier meanwhile: time of small operations
 * with their flush, of locks and fences, and how fast a megabyte goes. */
#include "bench.h"

enum { LARGE = 1 << 20, SMALL_COUNT = 50000, LARGE_COUNT = 200 };

static MPI_Win win;
static char *memory, *buffer, *result;
static int rank;

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

/* Seconds of one call by rank 0. */
static double measure(operation *run, int count)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < count && rank == 0; i++)
            run();
        start = (MPI_Wtime() - start) / count;
        best = start < best ? start : best;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return best;
}

static void print(const char *name, double value, const char *unit)
{
    if (rank == 0)
        bench_print(name, value, unit);
}

static void all_locked(const char *prefix)
{
    char name[64];
    const struct {
        const char *name;
        operation *run;
    } small[] = {{"put-8B-flush", put_small},
                 {"get-8B-flush", get_small},
                 {"fetch-and-add-flush", fetch_and_add},
                 {"compare-and-swap-flush", compare_and_swap},
                 {"accumulate-8B-flush", accumulate_small}},
      large[] = {{"put-1MiB", put_large}, {"get-1MiB", get_large}};

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, small[i].name);
        print(name, measure(small[i].run, SMALL_COUNT) * 1e9, "ns");
    }
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, large[i].name);
        print(name, LARGE / measure(large[i].run, LARGE_COUNT) / 1e9, "GB/s");
    }
    snprintf(name, sizeof name, "%saccumulate-1MiB", prefix);
    print(name, measure(accumulate_large, LARGE_COUNT) * 1e6, "us");
    snprintf(name, sizeof name, "%sget-accumulate-1MiB", prefix);
    print(name, measure(get_accumulate_large, LARGE_COUNT) * 1e6, "us");
    MPI_Win_unlock_all(win);
    snprintf(name, sizeof name, "%slock-unlock", prefix);
    print(name, measure(lock_unlock, SMALL_COUNT) * 1e9, "ns");
    snprintf(name, sizeof name, "%slock-put-unlock", prefix);
    print(name, measure(lock_put_unlock, SMALL_COUNT) * 1e9, "ns");
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

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = bench_rank();
    buffer = bench_memory(LARGE);
    result = bench_memory(LARGE);
    memset(buffer, 0, LARGE);
    print("win-allocate-free", make_and_free() * 1e6, "us");
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, LARGE);
    all_locked("");
    print("fence", fence() * 1e6, "us");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    memory = bench_memory(LARGE);
    memset(memory, 0, LARGE);
    MPI_Win_create(memory, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_locked("created-");
    MPI_Win_free(&win);
    free(memory);
    free(buffer);
    free(result);
    MPI_Finalize();
    return 0;
}
