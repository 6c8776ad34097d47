/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank has no memory for its part of a collective: which allocation of it fails, counted from 0, is the argument.
 * Ends with exit code 0 if
 * there are not so many. */
#define _GNU_SOURCE
#include "forms.h"
#include "scarce.h"

enum { COUNT = 30000 };

int main(int argc, char **argv)
{
    static int data[COUNT], sum[COUNT];
    int rank, size, code, which = atoi(argv[1]), form = atoi(argv[2]), is_refused;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size / 2)
        scarcity_begin(which);
    if (form == 0)
        code = MPI_Allreduce(data, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (form == 1)
        code = complete(MPI_Ibcast(data, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request), &request, 0);
    else
        code = complete(MPI_Reduce_init(data, sum, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
                        &request, 1);
    is_refused = scarcity_end();
    CHECK(is_refused || !code);
    MPI_Finalize();
    return !is_refused ? 0 : code ? 3 : 4; /* 4: it did without */
}
