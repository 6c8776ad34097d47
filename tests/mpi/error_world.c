/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that sets an error handler for MPI_COMM_WORLD only gets what belongs to no communicator there, as with
 * MPICH and Open MPI; one that sets one for MPI_COMM_SELF gets it there. With MUR_CHECK=strict the first such error
 * ends the job. */
#include "test.h"

static int calls;
static MPI_Comm called_with;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    calls++;
    called_with = *comm;
}

int main(int argc, char **argv)
{
    MPI_Request garbage = (MPI_Request)(void *)&calls;
    MPI_Errhandler handler;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) != MPI_SUCCESS);
    CHECK(MPI_Comm_size(MPI_COMM_NULL, &size) != MPI_SUCCESS);
    CHECK(MPI_Wait(&garbage, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Type_contiguous(-1, MPI_INT, &(MPI_Datatype){0}) != MPI_SUCCESS);

    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) != MPI_SUCCESS);
    CHECK(calls == 1 && called_with == MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) != MPI_SUCCESS);
    CHECK(calls == 2 && called_with == MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) != MPI_SUCCESS && calls == 2);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
