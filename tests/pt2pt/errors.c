/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose error handler hears of an error, and that a call which fails leaves nothing behind: no posted receive, no
 * handler for the next call to trip over. */
#include "test.h"

static int rank, size, peer;
static int calls, last_class;
static MPI_Comm last_comm;

static void listen(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    MPI_Error_class(*code, &last_class);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static MPI_Comm quiet_comm(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static MPI_Comm listening_comm(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(listen, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    calls = 0;
    return comm;
}

/* The communicator of the call, or the one on which the operation was started. */
static void which_handler(void)
{
    MPI_Comm comm = listening_comm(), silent = quiet_comm();
    int out[8] = {0}, in[2];
    MPI_Request request;

    CHECK(class_of(MPI_Send(out, -1, MPI_INT, peer, 1, silent)) == MPI_ERR_COUNT && calls == 0);
    CHECK(class_of(MPI_Send(out, -1, MPI_INT, peer, 1, comm)) == MPI_ERR_COUNT && calls == 1 && last_comm == comm);
    MPI_Irecv(in, 2, MPI_INT, peer, 1, comm, &request);
    MPI_Send(out, 8, MPI_INT, peer, 1, comm);
    CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE && calls == 2 && last_comm == comm);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&silent);
}

/* Calls that complete or start operations of MPI_COMM_WORLD, whose errors are fatal, say nothing about the next. */
static void next_call(void)
{
    MPI_Comm comm = quiet_comm();
    int value = 1, got = 0, flag;
    MPI_Message message;
    MPI_Request request;

    MPI_Isend(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
    MPI_Mprobe(peer, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, size, 0, comm)) == MPI_ERR_RANK);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Send_init(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, size, 0, comm)) == MPI_ERR_RANK);
    MPI_Recv(&got, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    CHECK(class_of(MPI_Iprobe(size, 0, comm, &flag, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
    MPI_Comm_free(&comm);
}

/* The handler is still there when the program has let go of it and of the communicator. */
static void freed_before(void)
{
    MPI_Comm comm = listening_comm();
    int out[8] = {0}, in[2];
    MPI_Request request;

    MPI_Irecv(in, 2, MPI_INT, peer, 1, comm, &request);
    MPI_Send(out, 8, MPI_INT, peer, 1, comm);
    MPI_Comm_free(&comm);
    CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    CHECK(calls == 1 && last_class == MPI_ERR_TRUNCATE);
}

/* A combined call whose send is impossible leaves no receive behind that takes the next message. */
static void half_a_call(void)
{
    MPI_Comm comm = quiet_comm();
    int value = rank + 5, got = -1, trap = -1;
    MPI_Count too_many = (MPI_Count)1 << 62;
    MPI_Request request;

    CHECK(class_of(MPI_Sendrecv_c(&value, too_many, MPI_INT, peer, 1, &trap, 1, MPI_INT, peer, 1, comm,
                                  MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Isendrecv_c(&value, too_many, MPI_INT, peer, 1, &trap, 1, MPI_INT, peer, 1, comm, &request)) ==
          MPI_ERR_COUNT);
    MPI_Sendrecv(&value, 1, MPI_INT, peer, 1, &got, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
    CHECK(got == peer + 5 && trap == -1);
    MPI_Comm_free(&comm);
}

/* Nor does it take a message that waits already. */
static void half_a_call_late(void)
{
    MPI_Comm comm = quiet_comm();
    int value = rank + 5, got = -1, trap = -1;
    MPI_Count too_many = (MPI_Count)1 << 62;
    MPI_Request sent, request;

    MPI_Isend(&value, 1, MPI_INT, peer, 1, comm, &sent);
    MPI_Probe(peer, 1, comm, MPI_STATUS_IGNORE);
    CHECK(class_of(MPI_Sendrecv_c(&value, too_many, MPI_INT, peer, 1, &trap, 1, MPI_INT, peer, 1, comm,
                                  MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Isendrecv_c(&value, too_many, MPI_INT, peer, 1, &trap, 1, MPI_INT, peer, 1, comm, &request)) ==
          MPI_ERR_COUNT);
    MPI_Recv(&got, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
    CHECK(got == peer + 5 && trap == -1);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

/* Of three receives the second fails. */
static void some_fail(void)
{
    MPI_Comm comm = quiet_comm();
    int out[4] = {1, 2, 3, 4}, in[3][2], count, indices[3], done = 0, failed = 0;
    MPI_Request requests[3];
    MPI_Status statuses[3];

    for (int i = 0; i < 3; i++)
        MPI_Irecv(in[i], 2, MPI_INT, peer, i, comm, &requests[i]);
    for (int i = 0; i < 3; i++)
        MPI_Send(out, i == 1 ? 4 : 2, MPI_INT, peer, i, comm);
    while (done < 3) {
        int code = MPI_Waitsome(3, requests, &count, indices, statuses);

        CHECK(!code || class_of(code) == MPI_ERR_IN_STATUS);
        for (int i = 0; i < count; i++) {
            int class = code ? class_of(statuses[i].MPI_ERROR) : MPI_SUCCESS;

            CHECK(class == (indices[i] == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
            CHECK(statuses[i].MPI_TAG == indices[i] && requests[indices[i]] == MPI_REQUEST_NULL);
            failed += class != MPI_SUCCESS;
        }
        done += count;
    }
    CHECK(failed == 1);
    MPI_Comm_free(&comm);
}

/* Calls that return one error return the operation's own. */
static void one_fails(void)
{
    MPI_Comm comm = quiet_comm();
    int out[3] = {0}, in[2], index = -1, flag, class;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Irecv(in, 2, MPI_INT, peer, 0, comm, &requests[1]);
    MPI_Send(out, 3, MPI_INT, peer, 0, comm);
    CHECK(class_of(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE && index == 1);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    MPI_Irecv(in, 2, MPI_INT, peer, 0, comm, &requests[1]);
    MPI_Send(out, 3, MPI_INT, peer, 0, comm);
    do
        class = class_of(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    while (class == MPI_SUCCESS && !flag);
    CHECK(class == MPI_ERR_TRUNCATE && requests[1] == MPI_REQUEST_NULL);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = size - 1 - rank;
    which_handler();
    next_call();
    freed_before();
    half_a_call();
    half_a_call_late();
    some_fail();
    one_fails();
    MPI_Finalize();
    return 0;
}
