/* SPDX-License-Identifier: BSD-3-Clause */
/* What all do at once to the same memory: every accumulate counts exactly once, fetched values tell of one order, and
 * exclusive locks exclude. The memory lies across the borders of stripes, and is reached by whichever way the window
 * has. Argument: rounds. */
#include "test.h"

enum { NUMBERS = 5000, HOT = 4 };

static int rank, size, rounds = 40;

struct long_int {
    long value;
    int index;
};

/* Sums of whole arrays, of one element, and of strided ones, at the same time. */
static void sums(MPI_Win win, double *mine)
{
    static double ones[NUMBERS];
    MPI_Datatype strided;
    double result;

    MPI_Type_vector(NUMBERS / 2, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < NUMBERS; i++)
        ones[i] = 1;
    MPI_Win_fence(0, win);
    for (int r = 0; r < rounds; r++) {
        int target = (rank + r) % size;

        MPI_Accumulate(ones, NUMBERS, MPI_DOUBLE, target, 0, NUMBERS, MPI_DOUBLE, MPI_SUM, win);
        MPI_Accumulate(ones, NUMBERS / 2, MPI_DOUBLE, target, 0, 1, strided, MPI_SUM, win);
        for (int i = 0; i < 20; i++)
            MPI_Fetch_and_op(ones, &result, MPI_DOUBLE, target, 2047 + i, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    /* Each rank has been the target of as many rounds as each has played, where ranks divide rounds. */
    for (int i = 0; i < NUMBERS; i++)
        CHECK(mine[i] == rounds * (i % 2 ? 1 : 2) + (i >= 2047 && i < 2067 ? rounds : 0));
    MPI_Type_free(&strided);
    MPI_Win_fence(0, win);
}

/* Fetched values of a counter are all different, and rise for each rank; so do those of get_accumulate. */
static void tickets(MPI_Win win, double *memory)
{
    long *mine = (long *)memory, one[2] = {1, 1}, *taken = malloc(2 * (size_t)rounds * sizeof *taken), before[2];
    char *seen;

    mine[0] = mine[1] = 0;
    MPI_Win_fence(0, win);
    for (int r = 0; r < rounds; r++) {
        MPI_Fetch_and_op(one, &taken[2 * r], MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Get_accumulate(one, 2, MPI_LONG, before, 2, MPI_LONG, 0, 0, 2, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
        taken[2 * r + 1] = before[0];
        CHECK(taken[2 * r] < taken[2 * r + 1]);
    }
    MPI_Win_fence(0, win);
    CHECK(rank || (mine[0] == 2L * rounds * size && mine[1] == 1L * rounds * size));
    seen = calloc(2 * (size_t)rounds * (size_t)size, 1);
    for (int i = 0; i < 2 * rounds; i++)
        seen[taken[i]] = 1;
    MPI_Allreduce(MPI_IN_PLACE, seen, 2 * rounds * size, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * rounds * size; i++)
        CHECK(seen[i]);
    free(seen);
    free(taken);
}

/* A spin lock out of compare-and-swap guards a counter that is read and written by get and put. */
static void spinning(MPI_Win win, double *memory)
{
    int *mine = (int *)memory, one = 1, zero = 0, got, count;

    mine[0] = mine[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int r = 0; r < rounds; r++) {
        do {
            MPI_Compare_and_swap(&one, &zero, &got, MPI_INT, size - 1, 0, win);
            MPI_Win_flush(size - 1, win);
        } while (got);
        MPI_Get(&count, 1, MPI_INT, size - 1, 1, 1, MPI_INT, win);
        MPI_Win_flush(size - 1, win);
        count++;
        MPI_Put(&count, 1, MPI_INT, size - 1, 1, 1, MPI_INT, win);
        MPI_Win_flush(size - 1, win);
        MPI_Accumulate(&zero, 1, MPI_INT, size - 1, 0, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(size - 1, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(rank != size - 1 || mine[1] == rounds * size);
    MPI_Win_unlock(rank, win);
}

/* Exclusive locks guard a counter; shared ones see it at rest. The owner of the memory takes part, with its own
 * loads and stores. */
static void exclusion(MPI_Win win, double *memory)
{
    long *mine = (long *)memory, pair[2];

    mine[0] = mine[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < rounds; r++) {
        int target = r % size, reads = (rank + r) % 3 == 0;

        MPI_Win_lock(reads ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
        if (target == rank) {
            CHECK(mine[0] == mine[1]);
            if (!reads) {
                mine[0]++;
                mine[1]++;
            }
        } else {
            MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win);
            MPI_Win_flush(target, win);
            CHECK(pair[0] == pair[1]);
            pair[0]++;
            if (!reads)
                MPI_Put(pair, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            MPI_Win_flush(target, win);
            if (!reads)
                MPI_Put(pair, 1, MPI_LONG, target, 1, 1, MPI_LONG, win);
        }
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    {
        long expected = 0;

        for (int r = rank; r < rounds; r += size)
            for (int other = 0; other < size; other++)
                expected += (other + r) % 3 != 0;
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        CHECK(mine[0] == expected && mine[1] == expected);
        MPI_Win_unlock(rank, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The largest value and who had it, whoever comes first. */
static void pairs(MPI_Win win, double *memory)
{
    struct long_int *mine = (struct long_int *)memory, own = {.value = 0, .index = rank};

    for (int i = 0; i < HOT; i++)
        mine[i] = (struct long_int){.value = -1, .index = -1};
    MPI_Win_fence(0, win);
    for (int r = 0; r < rounds; r++) {
        own.value = r + (rank == r % size);
        for (int i = 0; i < HOT; i++)
            MPI_Accumulate(&own, 1, MPI_LONG_INT, r % size, 2 * i, 1, MPI_LONG_INT, MPI_MAXLOC, win);
        MPI_Win_fence(0, win);
        if (r % size == rank)
            for (int i = 0; i < HOT; i++)
                CHECK(mine[i].value == r + 1 && mine[i].index == rank);
        MPI_Win_fence(0, win);
    }
}

static void all(MPI_Win win, double *memory)
{
    for (int i = 0; i < NUMBERS; i++)
        memory[i] = 0;
    sums(win, memory);
    tickets(win, memory);
    pairs(win, memory);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    exclusion(win, memory);
}

static void spin(MPI_Comm comm)
{
    double *memory;
    MPI_Win win;

    MPI_Win_allocate(64, 4, MPI_INFO_NULL, comm, &memory, &win);
    spinning(win, memory);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    double *memory;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    rounds = (rounds + size - 1) / size * size;
    MPI_Win_allocate(NUMBERS * sizeof(double), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    all(win, memory);
    MPI_Win_free(&win);
    memory = malloc(NUMBERS * sizeof(double));
    MPI_Win_create(memory, NUMBERS * sizeof(double), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all(win, memory);
    MPI_Win_free(&win);
    free(memory);
    spin(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
