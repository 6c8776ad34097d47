/* SPDX-License-Identifier: BSD-3-Clause */
/* What the standard says of single calls: truncation, null processes, probes, statuses, the wait and test families with
 * null requests, errors in statuses, and synchronous sends that wait for their receive. */
#include "test.h"

static int rank, size, peer;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void truncation(int sent, int room)
{
    char *out = malloc((size_t)sent), *in = malloc((size_t)room + 1);
    MPI_Request request;
    MPI_Status status;

    memset(out, 1, (size_t)sent);
    memset(in, 2, (size_t)room + 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(out, sent, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
    CHECK(class_of(MPI_Recv(in, room, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &status)) == MPI_ERR_TRUNCATE);
    CHECK(in[room] == 2 && status.MPI_SOURCE == peer && status.MPI_TAG == 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, room, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request); /* the next message is not harmed */
    CHECK(MPI_Recv(in, room, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(out);
    free(in);
}

static void errors_in_statuses(void)
{
    int out[2] = {1, 2}, in[2], big[4];
    MPI_Request requests[3];
    MPI_Status statuses[3];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(big, 4, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Send(out, 2, MPI_INT, peer, 1, MPI_COMM_WORLD);
    MPI_Send(out, 2, MPI_INT, peer, 2, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Waitall(3, requests, statuses)) == MPI_ERR_IN_STATUS);
    CHECK(class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* An empty status has no error (section 3.7.3), whatever was there before. */
static void empty_statuses(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2] = {{.MPI_ERROR = 77}, {.MPI_ERROR = 77}}, *status = &statuses[0];
    int flag, index;

#define EMPTY(call)                                                                                                    \
    do {                                                                                                               \
        statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = 77;                                                            \
        CHECK((call) == MPI_SUCCESS && status->MPI_ERROR == MPI_SUCCESS && status->MPI_TAG == MPI_ANY_TAG);            \
    } while (0)
    EMPTY(MPI_Wait(requests, status));
    EMPTY(MPI_Test(requests, &flag, status));
    EMPTY(MPI_Waitany(2, requests, &index, status));
    EMPTY(MPI_Testany(2, requests, &index, &flag, status));
    EMPTY(MPI_Waitall(2, requests, statuses));
    CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS);
    EMPTY(MPI_Testall(2, requests, &flag, statuses));
    CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS);
    EMPTY(MPI_Request_get_status(requests[0], &flag, status));
    EMPTY(MPI_Request_get_status_any(2, requests, &index, &flag, status));
    EMPTY(MPI_Request_get_status_all(2, requests, &flag, statuses));
    CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS);
#undef EMPTY
}

static void null_process(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int value = 5, flag, count;

    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
    MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && message == MPI_MESSAGE_NULL);
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

static void null_requests(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    int flag = 0, index, count, indices[2];

    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(flag);
    MPI_Waitall(2, requests, statuses);
    MPI_Testall(2, requests, &flag, statuses);
    CHECK(flag);
    MPI_Waitany(2, requests, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Testany(2, requests, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Waitsome(2, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    MPI_Testsome(2, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
    CHECK(flag);
}

static void any_and_some(void)
{
    enum { MANY = 40 };
    MPI_Request requests[MANY], sends[MANY];
    int values[MANY], out[MANY], seen[MANY] = {0}, left = MANY, index, flag, count, indices[MANY];
    MPI_Status status, statuses[MANY];

    for (int i = 0; i < MANY; i++) {
        out[i] = rank * 100 + i;
        MPI_Irecv(&values[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Isend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &sends[i]);
    for (int turn = 0; left > 0; turn++) {
        if (turn % 4 == 0) {
            MPI_Waitany(MANY, requests, &index, &status);
            CHECK(status.MPI_TAG == index);
            indices[0] = index;
            count = 1;
        } else if (turn % 4 == 1) {
            MPI_Testany(MANY, requests, &index, &flag, &status);
            indices[0] = index;
            count = flag;
        } else if (turn % 4 == 2) {
            MPI_Waitsome(MANY, requests, &count, indices, statuses);
            CHECK(count >= 1 && statuses[0].MPI_TAG == indices[0]);
        } else {
            MPI_Testsome(MANY, requests, &count, indices, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; count != MPI_UNDEFINED && i < count; i++) {
            CHECK(!seen[indices[i]]++ && requests[indices[i]] == MPI_REQUEST_NULL);
            CHECK(values[indices[i]] == peer * 100 + indices[i]);
            left--;
        }
    }
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
}

/* A synchronous send is not complete before its receive has started. */
static void synchronous(int bytes)
{
    char *out = malloc((size_t)bytes + 1), *in = malloc((size_t)bytes + 1);
    MPI_Request request;
    int flag;

    memset(out, rank, (size_t)bytes + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Issend(out, bytes, MPI_CHAR, peer, 8, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 100; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(bytes == 0 || in[bytes - 1] == (char)peer);
    free(out);
    free(in);
}

static void freed_requests(void)
{
    static int in[2000], out[2000];
    MPI_Request request;

    for (int i = 0; i < 2000; i++)
        out[i] = rank + i;
    MPI_Irecv(in, 2000, MPI_INT, peer, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Isend(out, 2000, MPI_INT, peer, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Sendrecv(out, 1, MPI_INT, peer, 4, in, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    while (((volatile int *)in)[1999] != peer + 1999)
        MPI_Iprobe(peer, 99, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
}

static void replaced(void)
{
    int data[3] = {rank, rank + 1, rank + 2}, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;

    MPI_Sendrecv_replace(data, 3, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, &status);
    CHECK(data[0] == left && data[2] == left + 2 && status.MPI_SOURCE == left);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = size - 1 - rank;
    truncation(100, 50);
    truncation(5000, 1);
    truncation(200000, 100000);
    truncation(200000, 0);
    errors_in_statuses();
    empty_statuses();
    null_process();
    null_requests();
    any_and_some();
    synchronous(0);
    synchronous(10);
    synchronous(200000);
    freed_requests();
    replaced();
    MPI_Finalize();
    return 0;
}
