/* SPDX-License-Identifier: BSD-3-Clause */
/* Every size around every threshold, from nothing to 4 MiB, with every kind of send, dense and strided data on either
 * side, the receive posted early or late; the bytes around the received ones stay as they were. */
#include "test.h"

enum { LARGEST = (4 << 20) + 1, MARGIN = 64, GUARD = 0xA5 };

static int rank, size, right, left;
static unsigned char *out, *in;

/* Thresholds: what fits into a slot, the eager limit, parts of rings, pages, chunks of a copy. */
static const int edges[] = {0,     40,    64,    128,    512,    1024,    4096,   8192,
                            16384, 32768, 65536, 131072, 524288, 1 << 20, 4 << 20};

static unsigned char byte_of(int source, int bytes, int i)
{
    return (unsigned char)(source * 41 + bytes * 7 + i + (i >> 8) + (i >> 16));
}

/* The blocking ones come first. */
enum kind { SEND, SSEND, SENDRECV, ISEND, ISSEND, ISEND_LARGE, RSEND, KINDS };

/* A datatype of `bytes` bytes: blocks of three with a hole of one after each; 0..2 bytes more at the end. */
static MPI_Datatype strided(int bytes)
{
    int lengths[2] = {1, bytes % 3};
    MPI_Aint places[2] = {0, bytes / 3 * 4};
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_BYTE}, type;

    MPI_Type_vector(bytes / 3, 3, 4, MPI_BYTE, &parts[0]);
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&parts[0]);
    return type;
}

/* Where byte i of a message lies in a buffer. */
static int place(int is_strided, int i)
{
    return is_strided ? i / 3 * 4 + i % 3 : i;
}

static void send(enum kind kind, int tag, int count, MPI_Datatype type, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (kind == SEND)
        MPI_Send(out, count, type, right, tag, MPI_COMM_WORLD);
    else if (kind == SSEND)
        MPI_Ssend(out, count, type, right, tag, MPI_COMM_WORLD);
    else if (kind == ISSEND)
        MPI_Issend(out, count, type, right, tag, MPI_COMM_WORLD, request);
    else if (kind == ISEND_LARGE)
        MPI_Isend_c(out, count, type, right, tag, MPI_COMM_WORLD, request);
    else if (kind == RSEND)
        MPI_Irsend(out, count, type, right, tag, MPI_COMM_WORLD, request);
    else
        MPI_Isend(out, count, type, right, tag, MPI_COMM_WORLD, request);
}

static void check(int bytes, int is_strided, const MPI_Status *status)
{
    int got;

    MPI_Get_count(status, MPI_BYTE, &got);
    CHECK(status->MPI_SOURCE == left && status->MPI_TAG == bytes % 1000 && got == bytes);
    for (int i = 0; i < bytes; i++)
        CHECK(in[place(is_strided, i)] == byte_of(left, bytes, i));
    for (int i = 0; is_strided && i < bytes / 3; i++)
        CHECK(in[i * 4 + 3] == GUARD);
    for (int i = 0; i < MARGIN; i++)
        CHECK(in[place(is_strided, bytes) + i] == GUARD);
}

static void exchange(int bytes, enum kind kind, int send_strided, int receive_strided, int is_early)
{
    MPI_Datatype send_type = send_strided ? strided(bytes) : MPI_BYTE;
    MPI_Datatype receive_type = receive_strided ? strided(bytes) : MPI_BYTE;
    int send_count = send_strided ? 1 : bytes, receive_count = receive_strided ? 1 : bytes, tag = bytes % 1000;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    memset(in, GUARD, (size_t)bytes * 4 / 3 + 2 * MARGIN);
    for (int i = 0; i < bytes; i++)
        out[place(send_strided, i)] = byte_of(rank, bytes, i);
    if (kind == SENDRECV) {
        MPI_Sendrecv(out, send_count, send_type, right, tag, in, receive_count, receive_type, left, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &statuses[1]);
    } else if (is_early) { /* all receives are posted, so that blocking and ready sends may be used */
        MPI_Irecv(in, receive_count, receive_type, left, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        send(kind, tag, send_count, send_type, &requests[0]);
        MPI_Waitall(2, requests, statuses);
    } else {
        send(kind < ISEND || kind == RSEND ? ISEND : kind, tag, send_count, send_type, &requests[0]);
        MPI_Recv(in, receive_count, receive_type, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &statuses[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    check(bytes, receive_strided, &statuses[1]);
    if (send_strided)
        MPI_Type_free(&send_type);
    if (receive_strided)
        MPI_Type_free(&receive_type);
}

int main(int argc, char **argv)
{
    int turn = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    out = malloc((size_t)LARGEST * 4 / 3 + 2 * MARGIN);
    in = malloc((size_t)LARGEST * 4 / 3 + 2 * MARGIN);
    CHECK(out && in);
    for (int bytes = 0; bytes < 140; bytes++)
        exchange(bytes, (enum kind)(bytes % KINDS), bytes / 2 % 2, bytes % 2, bytes / 4 % 2);
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        for (int bytes = edges[e] ? edges[e] - 1 : 0; bytes <= edges[e] + 1; bytes++)
            for (int kind = 0; kind < KINDS; kind++) {
                turn++;
                if (bytes > 70000 && turn % 5) /* few of the large ones */
                    continue;
                exchange(bytes, (enum kind)kind, turn % 2, turn / 2 % 2, turn / 4 % 2);
            }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
