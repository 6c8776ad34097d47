/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs of MPI_Win_post, start, complete and wait, again and again: each origin waits for the exposure of this round,
 * not of an earlier one, and each exposure lasts until this round's access has ended. Many epochs leave no memory
 * behind. */
#include <unistd.h>

#include "memory_use.h"
#include "test.h"

enum { ROUNDS = 6, LOOKS = 50, EPOCHS = 150000, LEFT_KIB = 2048 };
#ifdef __SANITIZE_ADDRESS__
enum { FREED_KIB = 1 << 20 }; /* the sanitizer keeps what was freed */
#else
enum { FREED_KIB = 0 };
#endif

static int rank, size;

static MPI_Group group_of(int member)
{
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &member, &group);
    MPI_Group_free(&world);
    return group;
}

/* Rank 0 exposes its memory once it has seen for a while that nobody writes there, and no message tells that the access
 * has begun. The access ends when rank 0 has seen that it lasts. */
static void expose(MPI_Win win, volatile int *memory, int round)
{
    MPI_Group origin = group_of(size - 1);
    int flag;

    for (int i = 0; i < LOOKS; i++) {
        MPI_Iprobe(size - 1, round, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag && memory[0] == round);
        usleep(200);
    }
    MPI_Win_post(origin, 0, win);
    MPI_Recv(NULL, 0, MPI_BYTE, size - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < LOOKS; i++) {
        MPI_Win_test(win, &flag);
        CHECK(!flag);
    }
    MPI_Send(NULL, 0, MPI_BYTE, size - 1, round, MPI_COMM_WORLD);
    if (round % 2) {
        MPI_Win_wait(win);
    } else {
        for (flag = 0; !flag;)
            MPI_Win_test(win, &flag);
    }
    CHECK(memory[0] == round + 1);
    MPI_Group_free(&origin);
}

static void use(MPI_Win win, int round)
{
    MPI_Group target = group_of(0);
    int value = round + 1;

    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Send(NULL, 0, MPI_BYTE, 0, round, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_complete(win);
    MPI_Group_free(&target);
}

/* With itself. */
static void many(MPI_Win win)
{
    MPI_Group self = group_of(rank);
    long before = 0;

    for (int i = 0; i < EPOCHS; i++) {
        if (i == 1000)
            before = memory_of(getpid());
        MPI_Win_post(self, 0, win);
        MPI_Win_start(self, 0, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    CHECK(memory_of(getpid()) <= before + LEFT_KIB + FREED_KIB);
    MPI_Group_free(&self);
}

int main(int argc, char **argv)
{
    int *memory;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS && size > 1; round++) {
        if (rank == 0)
            expose(win, memory, round);
        else if (rank == size - 1)
            use(win, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        many(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
