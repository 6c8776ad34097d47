/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 receives a frame that claims more bytes than follow: rank 1's library sends through functions of this program,
 * which spoil the header of one frame; or rank 1 writes a header into the connection past its library ("beside"). Or a
 * piece of a large message claims more bytes than are left of it ("piece", and how many more). Rank 0, which waits for
 * a message, must not wait for ever: half_frame.sh sees to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "engine/engine.h"
#include "transport/tcp/tcp.h"

#include "connections.h"
#include "test.h"

enum { TAG = 77, LARGE = 100000 /* a message that is one piece */ };
static uint32_t claimed; /* 0: nothing is spoilt */
static uint32_t added;   /* to the length of a piece */

static void spoil(void *data, size_t bytes)
{
    struct mur_frame *frame = data;

    for (; claimed && bytes >= sizeof *frame; frame = (void *)((char *)frame + 8), bytes -= 8)
        if (frame->tag == TAG && frame->source == 1 && frame->bytes == sizeof(int)) {
            frame->bytes = claimed;
            return;
        }
}

static void spoil_piece(void *data, size_t bytes)
{
    struct mur_frame *frame = data;

    for (; added && bytes >= sizeof *frame; frame = (void *)((char *)frame + 8), bytes -= 8)
        if (frame->kind == MUR_FRAME_PIECE && frame->bytes == LARGE) {
            frame->bytes += added;
            added = 0;
            return;
        }
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    static ssize_t (*real)(int, const void *, size_t, int);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "send");
    spoil((void *)(uintptr_t)data, bytes);
    spoil_piece((void *)(uintptr_t)data, bytes);
    return real(fd, data, bytes, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        spoil(message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
        spoil_piece(message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
    }
    return real(fd, message, flags);
}

static void write_beside(void)
{
    const struct mur_tcp_header header = {.frame = {.kind = MUR_FRAME_READY, .source = 1, .tag = TAG, .bytes = 5000}};

    for (int fd = 3; fd < CONNECTION_FDS; fd++)
        if (is_connection(fd))
            CHECK(send(fd, &header, sizeof header, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof header);
}

/* Zeros are no frame of this kind and length. */
static void exchange_large(int rank)
{
    static char large[LARGE + 1000];

    if (rank == 1)
        MPI_Send(large, LARGE, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
    else
        MPI_Recv(large, LARGE, MPI_BYTE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, word = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc > 1);
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv_replace(&word, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "piece") == 0) {
        exchange_large(rank); /* as they are: the path is there */
        added = rank == 1 ? (uint32_t)atoi(argv[2]) : 0;
        exchange_large(rank);
    } else if (rank == 1 && strcmp(argv[1], "beside") == 0)
        write_beside();
    else if (rank == 1) {
        claimed = (uint32_t)atoi(argv[1]);
        MPI_Send(&word, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Recv(&word, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* which nobody sends */
    return 1;
}
