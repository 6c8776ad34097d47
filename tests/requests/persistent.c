/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends and receives: all modes, many starts, mixed with null and inactive requests in every wait and test,
 * free while active, cancel, MPI_PROC_NULL, and the errors of misuse. */
#include "test.h"

static int rank, peer;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void all_modes(void)
{
    int out[4], in[4];
    char *buffer = malloc(4096);
    MPI_Request requests[8];
    MPI_Status statuses[8];
    void *detached;
    int size;

    MPI_Buffer_attach(buffer, 4096);
    MPI_Send_init(&out[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[4 + i]);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 4; i++) {
            out[i] = rank * 1000 + round * 4 + i;
            in[i] = -1;
        }
        MPI_Startall(4, &requests[4]);
        MPI_Barrier(MPI_COMM_WORLD); /* ready sends need their receives */
        MPI_Startall(4, requests);
        MPI_Waitall(8, requests, statuses);
        for (int i = 0; i < 4; i++) {
            CHECK(in[i] == peer * 1000 + round * 4 + i);
            CHECK(statuses[4 + i].MPI_SOURCE == peer && statuses[4 + i].MPI_TAG == i);
        }
    }
    for (int i = 0; i < 8; i++) {
        CHECK(requests[i] != MPI_REQUEST_NULL);
        MPI_Request_free(&requests[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&detached, &size);
    CHECK(detached == buffer && size == 4096);
    free(buffer);
}

/* Inactive requests complete at once with an empty status, and never count as complete in any and some. */
static void inactive(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int value = rank, got = -1, index, flag, count, indices[3];
    MPI_Status status;

    MPI_Recv_init(&got, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Test(&requests[1], &flag, &status);
    CHECK(flag);
    MPI_Waitany(3, requests, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Testsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
    MPI_Request_get_status_any(3, requests, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Request_get_status_some(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
    MPI_Request_get_status_all(3, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);

    MPI_Start(&requests[1]);
    MPI_Send(&value, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    do
        MPI_Request_get_status_some(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    while (count == 0);
    CHECK(count == 1 && indices[0] == 1);
    MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == 1 && indices[0] == 1 && got == peer && requests[1] != MPI_REQUEST_NULL);
    MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
    MPI_Request_free(&requests[1]);
}

static void freed_while_active(void)
{
    int value = rank + 7, got;
    MPI_Request request;

    MPI_Send_init(&value, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Recv(&got, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == peer + 7);
}

static void cancelled(void)
{
    int got = -1, flag;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&got, 1, MPI_INT, peer, 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && got == -1);

    MPI_Recv_init(&got, 1, MPI_INT, MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
    }
    MPI_Request_free(&request);
}

static void nobody(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value = 3;

    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        CHECK(statuses[1].MPI_SOURCE == MPI_PROC_NULL && value == 3);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void misuse(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int value;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Start(&request)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Cancel(&request)) == MPI_ERR_REQUEST);
    MPI_Irecv(&value, 1, MPI_INT, peer, 50, MPI_COMM_WORLD, &request);
    CHECK(class_of(MPI_Start(&request)) == MPI_ERR_REQUEST);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv_init(&value, 1, MPI_INT, peer, 51, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    CHECK(class_of(MPI_Start(&request)) == MPI_ERR_REQUEST);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = size - 1 - rank; /* the middle one of an odd number is its own */
    all_modes();
    inactive();
    freed_while_active();
    cancelled();
    nobody();
    misuse();
    MPI_Finalize();
    return 0;
}
