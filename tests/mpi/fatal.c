/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one error that ends the job: fatal before|running|after. tests/mpi/fatal.sh looks at what is said. */
#include "test.h"

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "";
    int value = 0;

    if (!strcmp(when, "before"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    if (!strcmp(when, "running"))
        MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (!strcmp(when, "after"))
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
    return 0;
}
