/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking combined sends and receives, and generalized requests, in all wait and test calls. */
#include <pthread.h>

#include "test.h"

static int rank, size;
static int queries, frees, cancels;

static void shift(int count)
{
    int *out = malloc(((size_t)count + 1) * sizeof *out), *in = malloc(((size_t)count + 1) * sizeof *in), got;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < count; i++)
        out[i] = rank * 7 + i;
    MPI_Isendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK(request == MPI_REQUEST_NULL && status.MPI_SOURCE == left && status.MPI_TAG == 1 && got == count);
    for (int i = 0; i < count; i++)
        CHECK(in[i] == left * 7 + i);
    MPI_Isendrecv_replace(out, count, MPI_INT, left, 2, right, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == right);
    for (int i = 0; i < count; i++)
        CHECK(out[i] == right * 7 + i);
    MPI_Isendrecv(out, count, MPI_INT, MPI_PROC_NULL, 1, in, count, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    free(out);
    free(in);
}

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_source(status, 37 + *(int *)state);
    MPI_Status_set_tag(status, 43);
    queries++;
    return MPI_SUCCESS;
}

static int forget(void *state)
{
    (void)state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    cancels++;
    return MPI_SUCCESS;
}

static void *complete_later(void *request)
{
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

static void generalized(void)
{
    int state = 5, flag, index;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, copy;
    MPI_Status status;
    pthread_t thread;

    MPI_Grequest_start(query, forget, cancel, &state, &requests[1]);
    MPI_Test(&requests[1], &flag, &status);
    CHECK(!flag && queries == 0);
    MPI_Cancel(&requests[1]);
    CHECK(cancels == 1);
    copy = requests[1];
    CHECK(pthread_create(&thread, NULL, complete_later, &copy) == 0);
    MPI_Waitany(2, requests, &index, &status);
    pthread_join(thread, NULL);
    CHECK(index == 1 && requests[1] == MPI_REQUEST_NULL && queries == 1 && frees == 1);
    CHECK(status.MPI_SOURCE == 42 && status.MPI_TAG == 43);

    MPI_Grequest_start(query, forget, cancel, &state, &requests[0]);
    copy = requests[0];
    MPI_Request_free(&requests[0]);
    CHECK(frees == 1);
    MPI_Grequest_complete(copy);
    CHECK(frees == 2);
}

/* Errors of the callbacks are those of the call in which they run; the query's comes first. */
static int fail_query(void *state, MPI_Status *status)
{
    (void)status;
    return *(int *)state;
}

static int fail_free(void *state)
{
    frees++;
    return *(int *)state;
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void failing_callbacks(void)
{
    int state = MPI_ERR_BUFFER, other = MPI_ERR_COUNT, index;
    MPI_Request request, copy;
    MPI_Status status;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    frees = 0;
    MPI_Grequest_start(fail_query, forget, cancel, &state, &request);
    MPI_Grequest_complete(request);
    CHECK(class_of(MPI_Wait(&request, &status)) == MPI_ERR_BUFFER && frees == 1);
    MPI_Grequest_start(query, fail_free, cancel, &state, &request);
    MPI_Grequest_complete(request);
    CHECK(class_of(MPI_Wait(&request, &status)) == MPI_ERR_BUFFER && frees == 2 && request == MPI_REQUEST_NULL);
    MPI_Grequest_start(query, fail_free, cancel, &other, &request);
    MPI_Grequest_complete(request);
    CHECK(class_of(MPI_Waitall(1, &request, &status)) == MPI_ERR_IN_STATUS);
    CHECK(class_of(status.MPI_ERROR) == MPI_ERR_COUNT && frees == 3);
    MPI_Grequest_start(query, fail_free, cancel, &state, &request);
    MPI_Grequest_complete(request);
    CHECK(class_of(MPI_Waitany(1, &request, &index, &status)) == MPI_ERR_BUFFER && frees == 4);
    MPI_Grequest_start(query, fail_free, cancel, &state, &request);
    MPI_Grequest_complete(request);
    CHECK(class_of(MPI_Request_free(&request)) == MPI_ERR_BUFFER && frees == 5);
    MPI_Grequest_start(query, fail_free, cancel, &state, &request);
    copy = request;
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS && frees == 5);
    CHECK(class_of(MPI_Grequest_complete(copy)) == MPI_ERR_BUFFER && frees == 6);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shift(0);
    shift(1);
    shift(5000);
    shift(100000);
    generalized();
    failing_callbacks();
    MPI_Finalize();
    return 0;
}
