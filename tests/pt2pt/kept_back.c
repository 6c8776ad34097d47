/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has sent leaves it, though it does not call MPI again before it has arrived: small messages are kept back
 * for a moment to go with what may follow. The last ones are sent by MPI_Isend and completed, or by collectives; of
 * three ranks, the last call is a receive whose message has come already from rank 2 of the same node. */
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { MESSAGES = 50, PATIENCE_S = 30 };

static char path[64];
static int rank;

static void tell(void)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fclose(file) == 0);
}

/* Outside of MPI, until rank 1 has all. */
static void hear(void)
{
    struct stat state;
    int left = PATIENCE_S * 1000;

    while (stat(path, &state) && left-- > 0)
        usleep(1000);
    CHECK(left >= 0);
    unlink(path);
}

static void receive_all(int count)
{
    int value;

    for (int i = 0; i < count; i++) {
        MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == i);
    }
}

static void start_all(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    for (int i = 0; i < MESSAGES; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
}

static void wait_all(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    start_all(values, requests);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

static void wait_each(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    start_all(values, requests);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void wait_any(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    int index;

    start_all(values, requests);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Waitany(MESSAGES, requests, &index, MPI_STATUS_IGNORE);
}

static void wait_some(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    int indices[MESSAGES], count;

    start_all(values, requests);
    for (int left = MESSAGES; left > 0; left -= count)
        MPI_Waitsome(MESSAGES, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void (*const ways[])(int[MESSAGES], MPI_Request[MESSAGES]) = {wait_all, wait_each, wait_any, wait_some};

/* A broadcast only sends, at the root. */
static void broadcast(void)
{
    int value = 0;

    for (int i = 0; i < MESSAGES; i++) {
        value = rank == 0 ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(value == i);
    }
}

/* What the receive needs is there when it is called. */
static void receive_after(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    usleep(10000);
    start_all(values, requests);
    MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    hear();
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

static void three(int values[MESSAGES], MPI_Request requests[MESSAGES])
{
    if (rank == 0) {
        receive_after(values, requests);
    } else if (rank == 1) {
        receive_all(MESSAGES);
        tell();
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int values[MESSAGES], size, parent = (int)getppid(); /* of all: one host */
    MPI_Request requests[MESSAGES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "/tmp/murmur-kept-back-%d", parent);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 25; round++) {
        if (size == 3) {
            three(values, requests);
        } else if (rank == 0 && round % 5 == 4) {
            broadcast();
            hear();
        } else if (rank == 0) {
            ways[round % 5](values, requests);
            hear();
        } else {
            if (round % 5 == 4)
                broadcast();
            else
                receive_all(MESSAGES);
            tell();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
