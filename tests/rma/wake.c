/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that sleep for a lock are woken by whoever gives it back, and by nothing else: the holder unlocks while all
 * others sleep, and then stays outside MPI until each has said by a signal that it got the lock. In every way to give
 * a lock back. */
#include <signal.h>
#include <unistd.h>

#include "test.h"

enum { RANKS_MOST = 16, ROUNDS = 2 };
enum way { UNLOCK, UNLOCK_OTHER, UNLOCK_ALL, WAYS };

static int rank, size, pids[RANKS_MOST];
static volatile sig_atomic_t heard;
static MPI_Win win;
static long *memory;

static void note(int signal)
{
    (void)signal;
    heard++;
}

/* Whether the process sleeps, as far as the system knows. */
static int is_asleep(int pid)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    CHECK(file);
    CHECK(fscanf(file, "%*d %*[^)]) %c", &state) == 1);
    fclose(file);
    return state == 'S';
}

/* Asleep whenever it is looked at for a while: it does not only wait for a core. */
static void wait_until_asleep(int pid)
{
    for (int looks = 0; looks < 20; usleep(2000))
        looks = is_asleep(pid) ? looks + 1 : 0;
}

/* The lock of rank 0 is held by rank 0, or by rank 1. */
static void hold(enum way way)
{
    long word = 1;

    if (way == UNLOCK_ALL) {
        MPI_Win_lock_all(0, win);
        MPI_Put(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int other = 0; other < size; other++)
        if (other != rank)
            wait_until_asleep(pids[other]);
    if (way == UNLOCK_ALL)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_unlock(0, win);
    while (heard < 1) /* outside MPI */
        usleep(100);
}

/* The first to get the lock says so; the others get it from it. */
static void get(int holder)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    kill(pids[holder], SIGUSR1);
    MPI_Win_unlock(0, win);
}

int main(int argc, char **argv)
{
    int pid = (int)getpid();

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size > 1 && size <= RANKS_MOST);
    signal(SIGUSR1, note);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            int holder = way == UNLOCK_OTHER;

            heard = 0;
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == holder)
                hold((enum way)way);
            else
                get(holder);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
