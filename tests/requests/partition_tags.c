/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a partitioned send never arrive at the receive of another, though a process makes so many partitioned
 * sends that what it tells their messages apart by comes again while an old one lives. */
#include "test.h"

enum { PARTITIONS = 4, MANY = 1 << 24, ROUND = 1 << 30 };

static int rank;

struct pair {
    int data[PARTITIONS];
    MPI_Request request;
};

static void make(struct pair *pair, int tag, int partitions, int count)
{
    if (rank == 0)
        MPI_Psend_init(pair->data, partitions, count, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &pair->request);
    else /* as many elements */
        MPI_Precv_init(pair->data, count ? partitions : 1, count, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &pair->request);
}

static void spend(int partitions)
{
    struct pair pair;

    make(&pair, 3, partitions, 0);
    MPI_Request_free(&pair.request);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void start(struct pair *pair, int first)
{
    for (int i = 0; i < PARTITIONS; i++)
        pair->data[i] = rank == 0 ? first + i : -1;
    MPI_Start(&pair->request);
}

static void finish(struct pair *pair, int first)
{
    if (rank == 0)
        MPI_Pready_range(0, PARTITIONS - 1, pair->request);
    MPI_Wait(&pair->request, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTITIONS; i++)
        CHECK(pair->data[i] == first + i);
}

int main(int argc, char **argv)
{
    struct pair old, new, between;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make(&old, 1, PARTITIONS, 1);
    for (int i = 0; i < ROUND / MANY / 2; i++)
        spend(MANY);
    make(&between, 4, PARTITIONS, 1);
    for (int i = 0; i < ROUND / MANY / 2 - 1; i++)
        spend(MANY);
    spend(MANY - 2 * PARTITIONS);
    for (int k = 0; k < 3; k++) { /* and again, with others that come and go */
        make(&new, 2, PARTITIONS, 1);
        start(&old, 10);
        start(&between, 20);
        start(&new, 30);
        finish(&new, 30);
        finish(&between, 20);
        finish(&old, 10);
        MPI_Request_free(&new.request);
        spend(k + 1);
    }
    MPI_Request_free(&old.request);
    MPI_Request_free(&between.request);
    MPI_Finalize();
    return 0;
}
