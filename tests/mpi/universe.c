/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_UNIVERSE_SIZE is the first argument. */
#include <mpi.h>
#include <stdlib.h>

#include "test.h"

int main(int argc, char **argv)
{
    int *value = NULL, flag = 0;

    MPI_Init(&argc, &argv);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag) == MPI_SUCCESS && flag);
    CHECK(argc == 2 && *value == atoi(argv[1]));
    MPI_Finalize();
    return 0;
}
