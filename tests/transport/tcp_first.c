/* SPDX-License-Identifier: BSD-3-Clause */
/* The first message to a rank, for which a connection must be made, arrives while the sender is outside MPI: a send
 * does not return before the connection is made, if the receiver answers soon. Each receiver tells the sender by a
 * signal. One of several has to: on a machine with much else to do some may answer too late. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static void send_and_leave(int size)
{
    const struct timespec patience = {.tv_sec = 20};
    pid_t own = getpid();
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGRTMIN);
    for (int rank = 1; rank < size; rank++)
        CHECK(MPI_Send(&own, sizeof own, MPI_BYTE, rank, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sigtimedwait(&signals, NULL, &patience) == SIGRTMIN);
}

static void receive_and_tell(void)
{
    pid_t sender;

    MPI_Recv(&sender, sizeof sender, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(kill(sender, SIGRTMIN) == 0);
}

int main(int argc, char **argv)
{
    sigset_t signals;
    int rank, size;

    sigemptyset(&signals);
    sigaddset(&signals, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        send_and_leave(size);
    else
        receive_and_tell();
    MPI_Barrier(MPI_COMM_WORLD); /* rank 0 lives until all have told it */
    MPI_Finalize();
    return 0;
}
