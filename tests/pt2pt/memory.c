/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages by the thousand, of all sizes and ways, of which nothing stays: with themselves where there is one rank. */
#include <unistd.h>

#include "memory_use.h"
#include "test.h"

enum { ALONE = 20000, ROUNDS = 1200, WARM = 300, INLINE = 60, SMALL = 1000, LARGE = 40000 };
#ifdef __SANITIZE_ADDRESS__
enum { MORE_KIB = 1 << 20 }; /* the sanitizer keeps what was freed */
#else
enum { MORE_KIB = 256 }; /* 13 bytes a round alone, else 220 */
#endif

static char in[LARGE], out[LARGE];
static int left, right;
static MPI_Datatype every_other; /* bytes */

/* The message waits when it is asked for: another one that was sent behind it has come. */
static void waits(int bytes, MPI_Request requests[2])
{
    MPI_Irecv(NULL, 0, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(NULL, 0, MPI_BYTE, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void unexpected(int bytes)
{
    MPI_Request requests[2];

    waits(bytes, requests);
    MPI_Recv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void probed(int bytes)
{
    MPI_Request requests[2];
    MPI_Message message;

    waits(bytes, requests);
    MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    waits(bytes, requests);
    MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, bytes, MPI_BYTE, &message, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void expected(int bytes)
{
    MPI_Request requests[2];

    MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_replace(in, bytes, MPI_BYTE, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void strided(int bytes)
{
    MPI_Request requests[2];

    MPI_Irecv(in, bytes / 2, every_other, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes / 2, every_other, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void cancelled(int bytes)
{
    MPI_Request request;

    MPI_Irecv(in, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Issend(out, bytes, MPI_BYTE, right, 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void (*const ways[])(int bytes) = {unexpected, probed, expected, strided, cancelled};

int main(int argc, char **argv)
{
    const int sizes[] = {0, INLINE, SMALL, LARGE};
    int rank, size, rounds;
    long kib = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = size == 1 ? ALONE : ROUNDS;
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &every_other);
    MPI_Type_commit(&every_other);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (int i = 0; i < WARM + rounds; i++) {
            if (i == WARM)
                kib = memory_of(getpid());
            ways[way](sizes[i % 4]);
            if (i == WARM + rounds - 1 && memory_of(getpid()) > kib + MORE_KIB) {
                fprintf(stderr, "way %zu: %ld KiB more\n", way, memory_of(getpid()) - kib);
                CHECK(!"nothing stays");
            }
        }
    MPI_Type_free(&every_other);
    MPI_Finalize();
    return 0;
}
