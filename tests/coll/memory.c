/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank has no memory for its part of a collective: which allocation of it fails, counted from 0, is the argument.
 * This program's own malloc and realloc fail there. Ends with exit code 0 if there are not so
 * many. */
#define _GNU_SOURCE
#include "forms.h"

enum { COUNT = 30000 };

extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static struct {
    int is_on, left; /* requests that still succeed */
    int refused;
} fault;

static int is_refused(void)
{
    if (!fault.is_on || fault.left-- != 0)
        return 0;
    fault.refused++;
    return 1;
}

void *malloc(size_t bytes)
{
    return is_refused() ? NULL : __libc_malloc(bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return is_refused() ? NULL : __libc_realloc(memory, bytes);
}

int main(int argc, char **argv)
{
    static int data[COUNT], sum[COUNT];
    int rank, size, code, which = atoi(argv[1]), form = atoi(argv[2]);
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    fault.left = which;
    fault.is_on = rank == size / 2;
    if (form == 0)
        code = MPI_Allreduce(data, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (form == 1)
        code = complete(MPI_Ibcast(data, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request), &request, 0);
    else
        code = complete(MPI_Reduce_init(data, sum, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
                        &request, 1);
    fault.is_on = 0;
    CHECK(fault.refused || !code);
    MPI_Finalize();
    return !fault.refused ? 0 : code ? 3 : 4; /* 4: it did without */
}
