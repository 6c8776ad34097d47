/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that polls, and never rests, must not keep what another thread sleeps for from waking that thread. One
 * thread of rank 0 sleeps in MPI_Recv; the other polls until the first has its message. The two share a core, so the
 * one that polls has done so many times before the other can run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

enum { ROUNDS = 60, MESSAGE = 1, NEVER_SENT = 2, ANSWER = 3 };

static atomic_int received;

static void stay_here(void)
{
    int cpu = sched_getcpu();
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *receive(void *unused)
{
    const struct sched_param none = {0};

    (void)unused;
    sched_setscheduler(0, SCHED_BATCH, &none); /* does not take the core from the other when it wakes */
    for (int round = 1; round <= ROUNDS; round++) {
        int value = 0;

        MPI_Recv(&value, 1, MPI_INT, 1, MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == round);
        atomic_store(&received, round);
    }
    return NULL;
}

static void poll_until(int round)
{
    int flag = 0;

    while (atomic_load(&received) < round) {
        MPI_Iprobe(1, NEVER_SENT, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
}

int main(int argc, char **argv)
{
    int rank, provided, answer = 0;
    pthread_t thread;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        stay_here(); /* and so does the thread */
    if (rank == 0)
        CHECK(pthread_create(&thread, NULL, receive, NULL) == 0);
    for (int round = 1; round <= ROUNDS && rank < 2; round++)
        if (rank == 0) {
            poll_until(round);
            MPI_Send(&round, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
        } else {
            usleep(20000); /* for the receiver to go to sleep; if it does not, the round is easy */
            MPI_Send(&round, 1, MPI_INT, 0, MESSAGE, MPI_COMM_WORLD);
            MPI_Recv(&answer, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(answer == round);
        }
    if (rank == 0)
        pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
