/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations whose origin's buffer is shorter than its count says, on memory that the system copies from and to:
 * the missing page is an error of the operation, whichever side comes to it, and neither side crashes. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/mman.h>

#include "share.h"

enum { BYTES = 4 << 20, PAGE = 4096, TURNS = 20 };

static MPI_Win win;

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

static int operate(bool is_put, char *buffer)
{
    return is_put ? MPI_Put(buffer, BYTES, MPI_BYTE, 0, 0, BYTES, MPI_BYTE, win)
                  : MPI_Get(buffer, BYTES, MPI_BYTE, 0, 0, BYTES, MPI_BYTE, win);
}

/* Without the page that begins at byte `at`; with all of them where it is not in the buffer. */
static void try(bool is_put, char *buffer, int at)
{
    int code;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (at < BYTES)
        CHECK(mprotect(buffer + at, PAGE, PROT_NONE) == 0);
    code = operate(is_put, buffer);
    if (at < BYTES)
        CHECK(mprotect(buffer + at, PAGE, PROT_READ | PROT_WRITE) == 0);
    if (at < BYTES) /* the origin comes to it, or the target does */
        CHECK(class_of(code) == MPI_ERR_RMA_RANGE || class_of(code) == MPI_ERR_BUFFER);
    else
        CHECK(code == MPI_SUCCESS);
    CHECK(MPI_Win_unlock(0, win) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    char *buffer, *memory;
    int rank, can_test;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    can_test = all_share(MPI_COMM_WORLD) && all_can_copy(MPI_COMM_WORLD);
    if (can_test) {
        buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(buffer != MAP_FAILED && memory != MAP_FAILED);
        MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        for (int turn = 0; rank == 1 && turn < TURNS; turn++) {
            try(turn % 2, buffer, turn / 2 % 2 ? BYTES - PAGE : 0);
            try(turn % 2, buffer, BYTES);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return can_test ? 0 : test_skip("ranks share no memory, or the system does not let them copy from each other");
}
