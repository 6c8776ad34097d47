/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that spawn at the same time, each on a communicator of its own, and talk to their own children. */
#include <pthread.h>
#include <unistd.h>

#include "dynamic/talk.h"

enum { THREADS = 3, ROUNDS = 3 };

static char path[4096];
static MPI_Comm own[THREADS];

static void *spawn(void *argument)
{
    int number = *(int *)argument, value, all, codes[2];
    char text[16], *argv[] = {text, NULL};

    snprintf(text, sizeof text, "%d", number);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter;

        CHECK(MPI_Comm_spawn(path, argv, 2, MPI_INFO_NULL, 0, own[number], &inter, codes) == MPI_SUCCESS);
        value = 0;
        MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, inter);
        CHECK(all == 2 * number + 1); /* children of another thread would say another number */
        talk_pairs(inter, 20000);
        CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], level, all;
    MPI_Comm parent;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int rank, value;

        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        value = atoi(argv[1]) + rank * (rank == 1);
        MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, parent);
        talk_pairs(parent, 20000);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, spawn, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&own[i]);
    MPI_Finalize();
    return 0;
}
