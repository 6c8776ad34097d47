/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages whose buffers are from malloc, from MPI_Alloc_mem or part of a window, at odd offsets, on either side,
 * allocated anew for each round; several at a time, in both directions, some into receives that are longer. */
#include "random.h"

enum { ROUNDS = 30, MESSAGES = 5, MOST = 3 << 20, WINDOW = MOST + 64 };

struct buffer {
    int kind; /* 0: malloc, 1: MPI_Alloc_mem, 2: of the window */
    char *piece, *data;
};

static struct buffer take(int bytes, char *window)
{
    struct buffer buffer = {.kind = random_below(window ? 3 : 2)};
    int offset = random_below(64);

    if (buffer.kind == 0)
        buffer.piece = malloc((size_t)bytes + 64);
    else if (buffer.kind == 1)
        MPI_Alloc_mem(bytes + 64, MPI_INFO_NULL, &buffer.piece);
    else
        buffer.piece = window;
    buffer.data = buffer.piece + offset;
    return buffer;
}

static void give_back(struct buffer *buffer)
{
    if (buffer->kind == 0)
        free(buffer->piece);
    else if (buffer->kind == 1)
        MPI_Free_mem(buffer->piece);
}

static void fill(char *data, int bytes, unsigned key)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (char)((key + (unsigned)i) * 2654435761u >> 23);
}

static void check(const char *data, int bytes, unsigned key)
{
    for (int i = 0; i < bytes; i++)
        CHECK(data[i] == (char)((key + (unsigned)i) * 2654435761u >> 23));
}

int main(int argc, char **argv)
{
    char *window;
    int rank, size;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    for (int round = 0; round < ROUNDS; round++) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size, bytes[MESSAGES];
        struct buffer out[MESSAGES], in[MESSAGES];
        MPI_Request requests[2 * MESSAGES];
        MPI_Status statuses[2 * MESSAGES];
        unsigned key = random_next();

        for (int i = 0; i < MESSAGES; i++) {
            int more = random_below(2) * random_below(5000);

            bytes[i] = 1 + random_below(random_below(2) ? MOST - 5000 : 300 << 10);
            out[i] = take(bytes[i], NULL);
            in[i] = take(bytes[i] + more, i ? NULL : window);
            fill(out[i].data, bytes[i], key + (unsigned)(rank + i));
            MPI_Irecv(in[i].data, bytes[i] + more, MPI_BYTE, left, i, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < MESSAGES; i++)
            MPI_Isend(out[i].data, bytes[i], MPI_BYTE, right, i, MPI_COMM_WORLD, &requests[MESSAGES + i]);
        MPI_Waitall(2 * MESSAGES, requests, statuses);
        for (int i = 0; i < MESSAGES; i++) {
            int count;

            MPI_Get_count(&statuses[i], MPI_BYTE, &count);
            CHECK(count == bytes[i]);
            check(in[i].data, bytes[i], key + (unsigned)(left + i));
            give_back(&in[i]);
            give_back(&out[i]);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
