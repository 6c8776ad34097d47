/* SPDX-License-Identifier: BSD-3-Clause */
/* Megabytes, dense and strided, to a rank that waits in MPI and may help, and to one that is in MPI only now and then;
 * in windows of memory of MPI's and of the program's own. */
#include "random.h"

enum { MOST = 3 << 20 };

static int rank, size;
static double *memory, *buffer, *result;
static MPI_Win win;

static double number(int at, int seed)
{
    return (at * 7 + seed) % 1000;
}

static void set(double *numbers, int count, int seed)
{
    for (int i = 0; i < count; i++)
        numbers[i] = number(i, seed);
}

static void same(const double *numbers, int count, int seed, int times)
{
    for (int i = 0; i < count; i++)
        CHECK(numbers[i] == times * number(i, seed));
}

/* Rank 0 works on the last rank's memory. */
static void dense(int target, int count, int seed)
{
    set(buffer, count, seed);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(buffer, count, MPI_DOUBLE, target, 3, count, MPI_DOUBLE, win);
    MPI_Win_flush(target, win);
    MPI_Get(result, count, MPI_DOUBLE, target, 3, count, MPI_DOUBLE, win);
    MPI_Win_flush(target, win);
    same(result, count, seed, 1);
    MPI_Accumulate(buffer, count, MPI_DOUBLE, target, 3, count, MPI_DOUBLE, MPI_SUM, win);
    MPI_Accumulate(buffer, count, MPI_DOUBLE, target, 3, count, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get_accumulate(buffer, count, MPI_DOUBLE, result, count, MPI_DOUBLE, target, 3, count, MPI_DOUBLE, MPI_SUM,
                       win);
    MPI_Win_flush(target, win);
    same(result, count, seed, 3);
    MPI_Get(result, count, MPI_DOUBLE, target, 3, count, MPI_DOUBLE, win);
    MPI_Win_unlock(target, win);
    same(result, count, seed, 4);
}

/* Every other number there, every third one here. */
static void strided(int target, int count, int seed)
{
    MPI_Datatype there, here;

    count /= 3;
    MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &there);
    MPI_Type_vector(count, 1, 3, MPI_DOUBLE, &here);
    MPI_Type_commit(&there);
    MPI_Type_commit(&here);
    for (int i = 0; i < count; i++)
        buffer[3 * i] = number(i, seed);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Put(buffer, 1, here, target, 0, 1, there, win);
    MPI_Win_flush(target, win);
    MPI_Accumulate(buffer, 1, here, target, 0, 1, there, MPI_SUM, win);
    MPI_Win_flush(target, win);
    MPI_Get(result, count, MPI_DOUBLE, target, 0, 1, there, win);
    MPI_Win_unlock(target, win);
    same(result, count, seed, 2);
    MPI_Type_free(&here);
    MPI_Type_free(&there);
}

static void rounds(void)
{
    int target = size - 1;

    for (int round = 0; round < 12; round++) {
        int count = (192 << 10) / 8 + random_below((MOST - (200 << 10)) / 8), seed = random_below(100);
        int is_lazy = random_below(2), is_over = 0;
        MPI_Request request;

        if (rank == 0)
            random_below(2) ? dense(target, count, seed) : strided(target, count, seed);
        else
            random_below(2);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        while (is_lazy && !is_over) { /* mostly outside MPI */
            for (volatile int i = 0; i < 20000; i++)
                ;
            MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    buffer = malloc(MOST);
    result = malloc(MOST);
    MPI_Win_allocate(MOST, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    rounds();
    MPI_Win_free(&win);
    memory = malloc(MOST);
    MPI_Win_create(memory, MOST, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    rounds();
    MPI_Win_free(&win);
    free(memory);
    free(buffer);
    free(result);
    MPI_Finalize();
    return 0;
}
