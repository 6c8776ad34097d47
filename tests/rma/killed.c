/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of memory that others have mapped is killed while they load from it and store to it: the job ends because
 * of that rank, and of no other. The argument says how the window is made: "allocate" or "create". */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "test.h"

enum { BYTES = 1 << 20, BEFORE = 50 };

int main(int argc, char **argv)
{
    int rank, operations = 0;
    char *memory, *buffer;
    MPI_Win win;
    long pid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &buffer);
    memset(buffer, 1, BYTES);
    if (argc > 1 && !strcmp(argv[1], "allocate")) {
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    } else {
        MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory);
        MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    pid = getpid();
    MPI_Bcast(&pid, 1, MPI_LONG, 1, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (;;) {
        if (rank == 1)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* which never comes */
        MPI_Put(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win);
        MPI_Accumulate(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, MPI_BXOR, win);
        MPI_Get(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win);
        MPI_Put(buffer, 8, MPI_BYTE, 1, BYTES - 8, 8, MPI_BYTE, win);
        MPI_Win_flush(1, win);
        if (++operations == BEFORE && rank == 0)
            kill((pid_t)pid, SIGKILL);
    }
}
