/* SPDX-License-Identifier: BSD-3-Clause */
/* Somebody between the ranks flips, drops, repeats and swaps bytes that come by sealed connections, and takes whole
 * reads out: every message arrives as it was sent, all the same. He stands in this process, in place of recv. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/counters.h"
#include "draw.h"
#include "test.h"

enum { MESSAGES = 600, BYTES_MAX = 300000, WINDOW = 4, LOST = 3 };

static unsigned chance, content;
static int one_in; /* reads that are mangled; 0: none are */
static int lose;   /* reads to take out whole */
static int harms;

ssize_t __real_recv(int fd, void *data, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags);

static bool is_of_network(int fd)
{
    int domain = 0;
    socklen_t length = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && (domain == AF_INET || domain == AF_INET6);
}

static size_t mangle(char *data, size_t got, size_t room)
{
    size_t at = draw_next(&chance) % got, some = 1 + draw_next(&chance) % 40;

    harms++;
    switch (draw_next(&chance) % 4) {
    case 0:
        data[at] ^= (char)(1 << draw_next(&chance) % 8);
        return got;
    case 1: /* drop */
        some = some < got - at ? some : got - at;
        memmove(data + at, data + at + some, got - at - some);
        return got - some;
    case 2: /* repeat */
        some = some < got - at ? some : got - at;
        some = some < room - got ? some : room - got;
        memmove(data + at + some, data + at, got - at);
        return got + some;
    default: /* swap */
        for (size_t i = 0; i < got / 2; i++) {
            char byte = data[i];

            data[i] = data[got - got / 2 + i];
            data[got - got / 2 + i] = byte;
        }
        return got;
    }
}

ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags)
{
    ssize_t got = __real_recv(fd, data, bytes, flags);

    if (got <= 0 || (!one_in && !lose) || !is_of_network(fd))
        return got;
    if (lose) {
        lose--;
        harms++;
        got = 0;
    } else if (draw_next(&chance) % (unsigned)one_in == 0) {
        got = (ssize_t)mangle(data, (size_t)got, bytes);
    }
    if (got)
        return got;
    errno = EAGAIN;
    return -1;
}

static int size_of(int message)
{
    unsigned state = content + (unsigned)message * 7919u, first = draw_next(&state);

    return (int)(draw_next(&state) % (first % 5 ? 300u : BYTES_MAX));
}

static char byte_of(int message, int at)
{
    return (char)((unsigned)message * 31u + (unsigned)at * 7u + ((unsigned)at >> 9));
}

static void exchange(int other)
{
    static char out[WINDOW][BYTES_MAX], in[WINDOW][BYTES_MAX];

    for (int message = 0; message < MESSAGES; message += WINDOW) {
        MPI_Request requests[2 * WINDOW];
        MPI_Status statuses[2 * WINDOW];

        for (int i = 0; i < WINDOW; i++) {
            int bytes = size_of(message + i);

            memset(in[i], 0, BYTES_MAX);
            for (int at = 0; at < bytes; at++)
                out[i][at] = byte_of(message + i, at);
            MPI_Irecv(in[i], BYTES_MAX, MPI_BYTE, other, 5, MPI_COMM_WORLD, &requests[i]);
            MPI_Isend(out[i], bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD, &requests[WINDOW + i]);
        }
        MPI_Waitall(2 * WINDOW, requests, statuses);
        for (int i = 0; i < WINDOW; i++) {
            int bytes;

            MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
            CHECK(bytes == size_of(message + i));
            for (int at = 0; at < bytes; at++)
                CHECK(in[i][at] == byte_of(message + i, at));
        }
    }
}

/* Nothing follows what is taken out, but the sender waits for the answer. */
static void find_out_alone(int rank, int other)
{
    for (int i = 0; i < LOST; i++) {
        int told = rank ? -1 : i;

        MPI_Sendrecv(&told, 0, MPI_INT, other, 6, NULL, 0, MPI_INT, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank) {
            lose = 1;
            MPI_Recv(&told, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(told == i);
        } else {
            MPI_Send(&told, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
        }
        if (rank)
            MPI_Send(&told, 1, MPI_INT, other, 8, MPI_COMM_WORLD);
        else
            MPI_Recv(&told, 1, MPI_INT, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    content = rank ? 0 : draw_seed();
    MPI_Bcast(&content, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seed %u\n", content);
    chance = content + (unsigned)rank;
    find_out_alone(rank, 1 - rank);
    one_in = 20;
    exchange(1 - rank);
    one_in = 0;
    printf("rank %d: %d harms, %llu connections given up\n", rank, harms, (unsigned long long)mur_counters.altered);
    MPI_Allreduce(&(int){(int)mur_counters.altered}, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0);
    MPI_Finalize();
    return 0;
}
