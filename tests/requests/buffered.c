/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends: from the process's and a communicator's buffer, automatic buffering, overflow, flush and iflush,
 * detach that waits, and messages too large for eager sending that nobody receives at first. */
#include "test.h"

static int rank, peer;

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void fill(int *data, int count, int seed)
{
    for (int i = 0; i < count; i++)
        data[i] = seed * 1000003 + i;
}

static void check(const int *data, int count, int seed)
{
    for (int i = 0; i < count; i++)
        CHECK(data[i] == seed * 1000003 + i);
}

/* Every rank sends before it receives: only the buffer makes that possible for large messages. */
static void exchange(MPI_Comm comm, int count, int messages)
{
    int *data = malloc((size_t)count * sizeof *data);

    for (int i = 0; i < messages; i++) {
        fill(data, count, rank * 100 + i);
        MPI_Bsend(data, count, MPI_INT, peer, i, comm);
        fill(data, count, -1); /* may be changed at once */
    }
    for (int i = messages - 1; i >= 0; i--) {
        MPI_Recv(data, count, MPI_INT, peer, i, comm, MPI_STATUS_IGNORE);
        check(data, count, peer * 100 + i);
    }
    free(data);
}

static void overflow(void)
{
    enum { COUNT = 20000 };
    int size = COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD, *data = malloc(COUNT * sizeof *data), got;
    char *buffer = malloc((size_t)size);
    void *detached;

    fill(data, COUNT, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Bsend(data, 1, MPI_INT, peer, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
    MPI_Buffer_attach(buffer, size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Buffer_attach(buffer, size)) == MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Bsend(data, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(class_of(MPI_Bsend(data, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(data, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&detached, &got);
    CHECK(detached == buffer && got == size);
    MPI_Buffer_detach(&detached, &got);
    CHECK(detached == NULL && got == 0);
    free(buffer);
    free(data);
}

/* Room for one large message is enough for many, each received before the next is sent. */
static void one_after_the_other(void)
{
    enum { COUNT = 300000 };
    int size = COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD, got, *data = malloc(COUNT * sizeof *data);
    char *buffer = malloc((size_t)size);
    void *detached;

    MPI_Buffer_attach(buffer, size);
    for (int turn = 0; turn < 50; turn++) {
        fill(data, COUNT, turn + rank);
        MPI_Bsend(data, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(data, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(data, COUNT, turn + peer);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&detached, &got);
    free(buffer);
    free(data);
}

static void flushes(MPI_Comm comm)
{
    enum { COUNT = 50000 };
    int *data = malloc(COUNT * sizeof *data), *in = malloc(COUNT * sizeof *in);
    MPI_Request requests[2], receive;
    void *detached;
    int got;

    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    fill(data, COUNT, rank);
    MPI_Irecv(in, COUNT, MPI_INT, peer, 3, comm, &receive);
    MPI_Ibsend(data, COUNT, MPI_INT, peer, 3, comm, &requests[0]);
    MPI_Comm_iflush_buffer(comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    check(in, COUNT, peer);
    MPI_Comm_flush_buffer(comm);
    MPI_Comm_detach_buffer(comm, &detached, &got);
    CHECK(detached == MPI_BUFFER_AUTOMATIC);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    free(data);
    free(in);
}

int main(int argc, char **argv)
{
    int size, bytes = 5 << 20, got;
    char *buffer = malloc((size_t)bytes);
    void *detached;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = size - 1 - rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    overflow();
    one_after_the_other();

    MPI_Buffer_attach(buffer + 1, bytes - 1); /* not aligned */
    exchange(MPI_COMM_WORLD, 1, 50);
    exchange(MPI_COMM_WORLD, 100000, 10);
    MPI_Buffer_detach(&detached, &got);
    CHECK(detached == buffer + 1 && got == bytes - 1);

    MPI_Comm_attach_buffer(comm, buffer, bytes);
    exchange(comm, 30000, 20);
    MPI_Comm_detach_buffer(comm, &detached, &got);
    CHECK(detached == buffer && got == bytes);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    exchange(comm, 30000, 20);
    MPI_Buffer_detach(&detached, &got);
    CHECK(detached == MPI_BUFFER_AUTOMATIC);
    flushes(comm);
    MPI_Comm_free(&comm);
    free(buffer);
    MPI_Finalize();
    return 0;
}
