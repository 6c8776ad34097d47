/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 has a port, so it sleeps in the network's wait. Rank 0, which has no network, and no descriptor left, wakes
 * it. */
#include <fcntl.h>
#include <unistd.h>

#include "test.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int rank, fd, last = -1, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    while (rank == 0 && (fd = open("/dev/null", O_RDONLY)) >= 0)
        last = fd;
    CHECK(rank != 0 || last > 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        sleep(1); /* it sleeps soon */
        value = 5;
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 5);
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    }
    MPI_Finalize();
    return 0;
}
