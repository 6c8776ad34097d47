/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers that come late: the rings are full, sends queue up behind them, small and large ones mixed, some without a
 * handle any more. Nothing is lost or reordered, and the sender's own receives go on meanwhile. */
#include <unistd.h>

#include "test.h"

enum { MESSAGES = 3000, LARGE = 40000 };

static int rank, size;

/* Both ends know the length of message i from a source. */
static int length_of(int source, int i)
{
    int kind = (source * 7 + i) % 50;

    return kind == 0 ? LARGE - i % 100 : kind < 5 ? 3000 + i % 2000 : 4 + i % 60;
}

static void fill(unsigned char *data, int source, int i)
{
    int bytes = length_of(source, i);

    memcpy(data, &i, sizeof i);
    for (int at = sizeof i; at < bytes; at++)
        data[at] = (unsigned char)(source + i * 3 + at);
}

static void check(const unsigned char *data, int source, int i, const MPI_Status *status)
{
    int bytes, number;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    memcpy(&number, data, sizeof number);
    CHECK(number == i && bytes == length_of(source, i));
    for (int at = sizeof i; at < bytes; at++)
        CHECK(data[at] == (unsigned char)(source + i * 3 + at));
}

/* Each rank sends to each other one before it receives anything; every fifth request is freed at once. */
static void all_send_first(int messages)
{
    unsigned char *out = malloc((size_t)messages * 6000 + LARGE), *in = malloc(LARGE), *at = out;
    MPI_Request *requests = malloc((size_t)messages * (size_t)size * sizeof(MPI_Request));
    int *next = calloc((size_t)size, sizeof *next), count = 0;
    MPI_Status status;

    CHECK(out && in && requests && next);
    for (int i = 0; i < messages; i++) {
        fill(at, rank, i);
        for (int k = 1; k < size; k++) {
            MPI_Isend(at, length_of(rank, i), MPI_BYTE, (rank + k) % size, 7, MPI_COMM_WORLD, &requests[count]);
            if (i % 5 == 4)
                MPI_Request_free(&requests[count]);
            count++;
        }
        at += length_of(rank, i);
    }
    for (int i = 0; i < messages * (size - 1); i++) {
        MPI_Recv(in, LARGE, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
        check(in, status.MPI_SOURCE, next[status.MPI_SOURCE]++, &status);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* the freed sends have been received, so `out` is free */
    free(out);
    free(in);
    free(requests);
    free(next);
}

/* Rank 0 sleeps while the others send to it, with blocking sends that must wait for room. */
static void slow_receiver(void)
{
    unsigned char *data = malloc(LARGE);
    int next[64] = {0};
    MPI_Status status;

    CHECK(data);
    if (rank) {
        for (int i = 0; i < MESSAGES; i++) {
            fill(data, rank, i);
            MPI_Send(data, length_of(rank, i), MPI_BYTE, 0, 8, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < MESSAGES * (size - 1); i++) {
            if (i % 1000 == 0)
                usleep(5000);
            MPI_Recv(data, LARGE, MPI_BYTE, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
            check(data, status.MPI_SOURCE, next[status.MPI_SOURCE]++, &status);
        }
    }
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A hundred thousand small messages wait for receives that take them in another order than they came in. */
static void flood(void)
{
    enum { COUNT = 100000, TAGS = 1000 };
    int value;

    if (rank == size - 1 && size > 1) {
        MPI_Request *requests = malloc(COUNT * sizeof *requests);
        int *values = malloc(COUNT * sizeof *values);

        CHECK(requests && values);
        for (int i = 0; i < COUNT; i++) {
            values[i] = i;
            MPI_Isend(&values[i], 1, MPI_INT, 0, i % TAGS, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
        free(requests);
        free(values);
    } else if (rank == 0 && size > 1) {
        for (int tag = TAGS - 1; tag >= 0; tag--)
            for (int i = 0; i < COUNT / TAGS; i++) {
                MPI_Recv(&value, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : size - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK(value == i * TAGS + tag);
            }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all_send_first(MESSAGES / size);
    slow_receiver();
    flood();
    MPI_Finalize();
    return 0;
}
