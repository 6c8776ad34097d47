/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking and nonblocking collectives of a communicator, called in different orders by different ranks: each kind is
 * matched with its own, as MPICH and Open MPI do it. And communicators with both come and go. */
#include "random.h"
#include "test.h"

enum { MOST = 100000 };

static const int counts[] = {1, 12, 700, 5000, MOST};
static int rank, size;
static int out[MOST], in[MOST], told[MOST];

/* One rank starts before it waits for the others, which start after that. */
static void one_ahead(MPI_Comm comm, int ahead, int count)
{
    MPI_Request request;
    int flag = 0;

    for (int i = 0; i < count; i++)
        out[i] = rank + i;
    if (rank != ahead)
        MPI_Barrier(comm);
    MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, comm, &request);
    if (rank == ahead) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == (size == 1));
        MPI_Barrier(comm);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(in[i] == size * (size - 1) / 2 + size * i);
}

/* Two nonblocking ones and a few blocking ones, mixed by each rank as it likes. */
static void mixed(MPI_Comm comm, int root, int count)
{
    int first = random_below(4), second = first + random_below(5 - first), sum;
    MPI_Request requests[2];

    for (int i = 0; i < count; i++) {
        out[i] = rank * 3 + i;
        told[i] = rank == root ? 5 * i : -1;
    }
    for (int step = 0; step <= 4; step++) {
        if (step == first)
            MPI_Ibcast(told, count, MPI_INT, root, comm, &requests[0]);
        if (step == second)
            MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, comm, &requests[1]);
        if (step == 4)
            break;
        MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == step * size);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(told[i] == 5 * i && in[i] == 3 * (size * (size - 1) / 2) + size * i);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    random_state += (unsigned)rank * 0x9e3779b9u;
    for (int ahead = 0; ahead < size; ahead++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            one_ahead(MPI_COMM_WORLD, ahead, counts[i]);
    for (int round = 0; round < 60; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (round % 2)
            mixed(comm, round % size, counts[(size_t)round % (sizeof counts / sizeof *counts)]);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
