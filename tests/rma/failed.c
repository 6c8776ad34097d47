/* SPDX-License-Identifier: BSD-3-Clause */
/* A one-sided operation that fails while it is under way: waiting for its request takes the error to the handler of the
 * window, not to that of a communicator. With the argument "fatal" the window's handler ends the job. */
#include "test.h"

static char attached[64], beside[64], got[64];
static MPI_Win win;
static int rank, size, raised;

static void on_win(MPI_Win *failed, int *code, ...)
{
    int class;

    CHECK(*failed == win);
    MPI_Error_class(*code, &class);
    CHECK(class == MPI_ERR_RMA_RANGE || class == MPI_ERR_IN_STATUS);
    raised++;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    CHECK(!"the error came to a communicator");
}

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

/* Memory that no rank has attached; where that is known at once, there is no request that could fail. */
static int start(MPI_Aint where, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_Rget(got, 8, MPI_BYTE, size - 1, where, 8, MPI_BYTE, win, request);
}

/* Tells whether this window's errors come with the request. */
static int one(MPI_Aint where, int wanted)
{
    MPI_Request request;
    int flag = 0, code = start(where, &request), was_started = code == MPI_SUCCESS;

    if (was_started && rank % 2)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (was_started && rank % 2 == 0 && !flag && code == MPI_SUCCESS)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == MPI_ERR_RMA_RANGE && request == MPI_REQUEST_NULL && raised == wanted);
    return was_started;
}

static void several(MPI_Aint bad, MPI_Aint good, int wanted)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];

    CHECK(start(good, &requests[0]) == MPI_SUCCESS && start(bad, &requests[1]) == MPI_SUCCESS &&
          start(good, &requests[2]) == MPI_SUCCESS);
    CHECK(class_of(MPI_Waitall(3, requests, statuses)) == MPI_ERR_IN_STATUS && raised == wanted);
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && class_of(statuses[1].MPI_ERROR) == MPI_ERR_RMA_RANGE &&
          statuses[2].MPI_ERROR == MPI_SUCCESS);
}

/* The flush after it tells once more that something went wrong. */
static void each_handler(MPI_Aint good, MPI_Aint bad)
{
    MPI_Errhandler handler;
    int was_started;

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    was_started = one(bad, 0);
    MPI_Win_flush_all(win);
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    one(bad, 1);
    if (was_started)
        several(bad, good, 2);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_flush_all(win);
    CHECK(start(good, &(MPI_Request){MPI_REQUEST_NULL}) == MPI_SUCCESS);
    CHECK(MPI_Win_flush_all(win) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Aint good, bad;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, attached, sizeof attached);
    MPI_Get_address(attached, &good);
    MPI_Get_address(beside, &bad);
    MPI_Bcast(&good, 1, MPI_AINT, size - 1, MPI_COMM_WORLD);
    MPI_Bcast(&bad, 1, MPI_AINT, size - 1, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (argc > 1 && rank == 0)
        one(bad, -1);
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD); /* rank 0 does not come */
    each_handler(good, bad);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
