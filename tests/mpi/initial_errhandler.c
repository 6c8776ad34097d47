/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -initial-errhandler mpi_errors_return: errors return before MPI_Init, on the communicators that are there at
 * the start and on those made from them, and after MPI_Finalize. Without the option they are fatal: with an argument
 * the program only looks at which handler it has. */
#include "test.h"

static void expect(MPI_Comm comm, MPI_Errhandler wanted)
{
    MPI_Errhandler got;

    CHECK(MPI_Comm_get_errhandler(comm, &got) == MPI_SUCCESS && got == wanted);
    MPI_Errhandler_free(&got);
}

int main(int argc, char **argv)
{
    MPI_Errhandler wanted = argc == 1                   ? MPI_ERRORS_RETURN
                            : !strcmp(argv[1], "abort") ? MPI_ERRORS_ABORT
                                                        : MPI_ERRORS_ARE_FATAL;
    int rank, class, code;
    MPI_Comm copy;

    if (argc == 1)
        CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS);
    MPI_Init(NULL, NULL);
    expect(MPI_COMM_WORLD, wanted);
    expect(MPI_COMM_SELF, wanted);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    expect(copy, wanted);
    if (argc == 1) {
        code = MPI_Send(NULL, 0, MPI_INT, -7, 0, copy);
        CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_RANK);
    }
    MPI_Comm_free(&copy);
    MPI_Finalize();
    if (argc == 1)
        CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS);
    return 0;
}
