/* SPDX-License-Identifier: BSD-3-Clause */
/* A client that polls MPI_Lookup_name until a server is there: the launcher keeps nothing of the questions and answers,
 * so its memory does not grow. All ranks of the node poll, also for a name that is published. */
#include "memory_use.h"
#include "test.h"

#include <unistd.h>

enum { ROUNDS = 4000 };

static void poll_names(void)
{
    char port[MPI_MAX_PORT_NAME];

    for (int i = 0; i < ROUNDS; i++) {
        CHECK(MPI_Lookup_name("nobody publishes this", MPI_INFO_NULL, port) != MPI_SUCCESS);
        CHECK(MPI_Lookup_name("here", MPI_INFO_NULL, port) == MPI_SUCCESS && strcmp(port, "a port") == 0);
    }
}

int main(int argc, char **argv)
{
    long before, after;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0)
        CHECK(MPI_Publish_name("here", MPI_INFO_NULL, "a port") == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    poll_names(); /* for the allocator to settle */
    MPI_Barrier(MPI_COMM_WORLD);
    before = memory_of(getppid());
    MPI_Barrier(MPI_COMM_WORLD);
    poll_names();
    MPI_Barrier(MPI_COMM_WORLD);
    after = memory_of(getppid());
    printf("the agent grew by %ld KiB in %d questions\n", after - before, 2 * ROUNDS);
    CHECK(after - before < 256); /* each question and its answer would take some 200 bytes */
    MPI_Finalize();
    return 0;
}
