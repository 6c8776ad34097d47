/* SPDX-License-Identifier: BSD-3-Clause */
/* The large-count forms of all point-to-point calls, with small counts: each pairs up with any other; and a message to
 * itself whose count is beyond an int, in elements of no bytes. */
#include "test.h"

static int rank, size, right, left;

static void pass(const char *what, int sent, int got)
{
    if (sent != got) {
        fprintf(stderr, "%s: sent %d, got %d\n", what, sent, got);
        CHECK(!"the number arrives");
    }
}

static void nonblocking(void)
{
    MPI_Request requests[2];
    int out, in;

#define EXCHANGE(name, start)                                                                                          \
    do {                                                                                                               \
        out = rank * 100 + __LINE__;                                                                                   \
        in = -1;                                                                                                       \
        MPI_Irecv_c(&in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);                                           \
        start;                                                                                                         \
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);                                                                 \
        pass(name, left * 100 + __LINE__, in);                                                                         \
    } while (0)
    EXCHANGE("Isend_c", MPI_Isend_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]));
    EXCHANGE("Issend_c", MPI_Issend_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]));
    EXCHANGE("Ibsend_c", MPI_Ibsend_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]));
    EXCHANGE("Send_init_c",
             (MPI_Send_init_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]), MPI_Start(&requests[1])));
    MPI_Request_free(&requests[1]);
    EXCHANGE("Ssend_init_c",
             (MPI_Ssend_init_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]), MPI_Start(&requests[1])));
    MPI_Request_free(&requests[1]);
    EXCHANGE("Bsend_init_c",
             (MPI_Bsend_init_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]), MPI_Start(&requests[1])));
    MPI_Request_free(&requests[1]);
    /* Ready sends: the receive is there before anybody sends. */
#define READY(name, start)                                                                                             \
    do {                                                                                                               \
        out = rank * 100 + __LINE__;                                                                                   \
        MPI_Irecv_c(&in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);                                           \
        MPI_Barrier(MPI_COMM_WORLD);                                                                                   \
        requests[1] = MPI_REQUEST_NULL;                                                                                \
        start;                                                                                                         \
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);                                                                 \
        pass(name, left * 100 + __LINE__, in);                                                                         \
    } while (0)
    READY("Irsend_c", MPI_Irsend_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]));
    READY("Rsend_c", MPI_Rsend_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD));
    READY("Rsend", MPI_Rsend(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD));
    READY("Rsend_init_c",
          (MPI_Rsend_init_c(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]), MPI_Start(&requests[1])));
    MPI_Request_free(&requests[1]);
}

static void blocking(void)
{
    MPI_Request request, receive;
    MPI_Message message;
    MPI_Status status;
    int out = rank, in, flag = 0;

    MPI_Isend(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &request);
    MPI_Recv_c(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
    pass("Recv_c", left, in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv_init_c(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &receive);
    MPI_Start(&receive);
    MPI_Bsend_c(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    pass("Bsend_c", left, in);
    MPI_Start(&receive);
    MPI_Ssend_c(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    pass("Ssend_c", left, in);
    MPI_Request_free(&receive);

    MPI_Isend(&out, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Improbe(left, 6, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Mrecv_c(&in, 1, MPI_INT, &message, &status);
    pass("Mrecv_c", left, in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(&out, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &request);
    MPI_Mprobe(left, 6, MPI_COMM_WORLD, &message, &status);
    MPI_Imrecv_c(&in, 1, MPI_INT, &message, &receive);
    MPI_Wait(&receive, &status);
    pass("Imrecv_c", left, in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    in = rank;
    MPI_Sendrecv_replace_c(&in, 1, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, &status);
    pass("Sendrecv_replace_c", left, in);
    in = rank;
    MPI_Isendrecv_replace_c(&in, 1, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    pass("Isendrecv_replace_c", left, in);
}

static void buffers(void)
{
    static char room[4096];
    void *address;
    MPI_Count bytes;

    MPI_Buffer_attach_c(room, sizeof room);
    nonblocking();
    blocking();
    MPI_Buffer_detach_c(&address, &bytes);
    CHECK(address == room && bytes == sizeof room);
    MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, room, sizeof room);
    MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &address, &bytes);
    CHECK(address == room && bytes == sizeof room);
}

static void partitioned(void)
{
    MPI_Request requests[2];
    int out[4], in[4] = {0};

    for (int i = 0; i < 4; i++)
        out[i] = rank * 10 + i;
    MPI_Precv_init_c(in, 2, 2, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init_c(out, 4, 1, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    for (int i = 3; i >= 0; i--)
        MPI_Pready(i, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        pass("Psend_init_c", left * 10 + i, in[i]);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void huge_count(void)
{
    MPI_Count count = ((MPI_Count)1 << 33) + 5, got;
    MPI_Datatype empty;
    MPI_Status status;
    int small;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Sendrecv_c(NULL, count, empty, rank, 9, NULL, count, empty, rank, 9, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, empty, &got);
    CHECK(got == 0);
    MPI_Type_size_c(empty, &got);
    CHECK(got == 0);
    MPI_Type_free(&empty);
    MPI_Type_contiguous_c(count, MPI_INT, &empty);
    MPI_Type_size_c(empty, &got);
    MPI_Type_size(empty, &small);
    CHECK(got == 4 * count && small == MPI_UNDEFINED);
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    buffers();
    partitioned();
    huge_count();
    MPI_Finalize();
    return 0;
}
