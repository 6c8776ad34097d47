/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make and free communicators at the same time, each from a parent of its own, in an order that differs
 * from rank to rank: no two communicators of a process share a context, none waits for another's. */
#include <pthread.h>
#include <sched.h>

#include "test.h"

enum { THREADS = 4, TURNS = 60 };

static int rank, size;
static MPI_Comm parents[THREADS];

static void *work(void *argument)
{
    int me = (int)(long)argument, sum;

    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Comm copies[2];
        MPI_Request requests[2];
        int got[2] = {-1, -1}, value = me * TURNS + turn;

        for (int i = 0; i < (rank + me + turn) % 3; i++)
            sched_yield();
        MPI_Comm_dup(parents[me], &copies[0]);
        MPI_Comm_split(parents[me], rank % 2, 0, &copies[1]);
        MPI_Irecv(&got[0], 1, MPI_INT, (rank + size - 1) % size, 1, copies[0], &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, (rank + 1) % size, 1, copies[0], &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(got[0] == value);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_MAX, copies[1]);
        CHECK(sum == value);
        MPI_Comm_free(&copies[0]);
        MPI_Comm_free(&copies[1]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)((i + rank) % THREADS)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&parents[i]);
    MPI_Finalize();
    return 0;
}
