/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress without the target: while rank 0 computes and calls nothing of MPI, the others lock, put, get, accumulate
 * and unlock on its memory, in windows of all kinds, and tell it by the memory alone when they have done. It would wait
 * for ever if any of that needed it. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>

#include "share.h"

static int rank, size;

/* Rank 0 looks at memory that others change, in some runs another thread of its own process: with nothing but the
 * memory between them, which a sanitizer cannot know to be what is tested. */
#define LOOKS __attribute__((no_sanitize("thread")))

/* What rank 0 waits for: all others have counted up. */
LOOKS static void wait_for_all(const int *counter)
{
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < size - 1)
        sched_yield();
}

/* The memory of rank 0: a counter, a sum, and room for each. */
static void use(MPI_Win win, int target_disp_is_address, MPI_Aint base)
{
    MPI_Aint place = target_disp_is_address ? base : 0, step = target_disp_is_address ? 4 : 1;
    int one = 1, got = 0, mine = 100 + rank;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&mine, 1, MPI_INT, 0, place + (2 + rank) * step, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Get(&got, 1, MPI_INT, 0, place + (2 + rank) * step, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    CHECK(got == mine);
    MPI_Accumulate(&mine, 1, MPI_INT, 0, place + step, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Fetch_and_op(&one, &got, MPI_INT, 0, place, MPI_SUM, win);
    MPI_Win_unlock_all(win);
}

LOOKS static void check(const int *memory)
{
    int sum = 0;

    wait_for_all(&memory[0]);
    for (int i = 1; i < size; i++) {
        sum += 100 + i;
        CHECK(memory[2 + i] == 100 + i);
    }
    CHECK(memory[1] == sum);
}

int main(int argc, char **argv)
{
    int *memory, kinds;
    MPI_Aint bytes, base;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bytes = (MPI_Aint)(2 + size) * 4;
    kinds = all_can_copy(MPI_COMM_WORLD) ? 4 : 2;
    if (kinds < 4 && rank == 0)
        puts("NOT TESTED: windows on memory of the program's own, since processes may not copy from each other");
    for (int kind = 0; kind < kinds; kind++) {
        if (kind == 0)
            MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        else if (kind == 1)
            MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        else
            memory = calloc(1, (size_t)bytes);
        if (kind == 2)
            MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        if (kind == 3) {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
            MPI_Win_attach(win, memory, bytes);
        }
        MPI_Get_address(memory, &base);
        MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank)
            use(win, kind == 3, base);
        else
            check(memory);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
        if (kind > 1)
            free(memory);
    }
    MPI_Finalize();
    return 0;
}
