/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each rank work on one window at once: under MPI_Win_lock_all, where the first operations of all of
 * them take the lock of a rank together, and with locks of their own windows. */
#include <pthread.h>

#include "test.h"

enum { THREADS = 3, ROUNDS = 60 };

static int rank, size;
static MPI_Win common, own[THREADS];

static void add(MPI_Win win, int target, long value)
{
    long got;

    MPI_Fetch_and_op(&value, &got, MPI_LONG, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
    MPI_Accumulate(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, win);
}

static void *work(void *argument)
{
    int number = (int)(long)argument;

    for (int r = 0; r < ROUNDS; r++) {
        int target = (rank + r + number) % size, other = (target + 1) % size;
        long mine = 1000 * rank + number, got = -1;
        MPI_Request requests[2];

        add(common, target, 1);
        MPI_Rput(&mine, 1, MPI_LONG, other, 2 + rank * THREADS + number, 1, MPI_LONG, common, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Win_flush(other, common);
        MPI_Rget(&got, 1, MPI_LONG, other, 2 + rank * THREADS + number, 1, MPI_LONG, common, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        CHECK(got == mine);
        MPI_Win_lock(r % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, own[number]);
        add(own[number], target, 1);
        MPI_Win_unlock(target, own[number]);
    }
    return NULL;
}

static void check(MPI_Win win, const long *memory, long sum)
{
    long all[2] = {memory[0], memory[1]};

    (void)win;
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == sum && all[1] == sum);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    long *memory, *memories[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate((MPI_Aint)(2 + size * THREADS) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &common);
    for (int i = 0; i < THREADS; i++) {
        memories[i] = calloc(2, 8);
        MPI_Win_create(memories[i], 16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &own[i]);
    }
    MPI_Win_lock_all(0, common);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(common);
    MPI_Barrier(MPI_COMM_WORLD);
    check(common, memory, (long)size * THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        check(own[i], memories[i], (long)size * ROUNDS);
    for (int i = 0; i < THREADS; i++) {
        MPI_Win_free(&own[i]);
        free(memories[i]);
    }
    /* Nobody holds a lock that is forgotten: it can be had exclusively. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, common);
    MPI_Win_unlock((rank + 1) % size, common);
    MPI_Win_free(&common);
    MPI_Finalize();
    return 0;
}
