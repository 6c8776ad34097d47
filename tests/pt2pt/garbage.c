/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 writes into its connection to rank 0, past the library: noise, or frames whose fields are random; the seed is
 * the argument. Rank 0 must notice and say so, or go on: garbage.sh sees to it that it neither crashes nor hangs. */
#include "engine/engine.h"
#include "transport/tcp/tcp.h"

#include "connections.h"
#include "draw.h"
#include "test.h"

enum { LARGE = 200000, ROUNDS = 20, HEADER = sizeof(struct mur_tcp_header) };

/* The connections of this process, of which one leads to rank 0. */
static void write_to_all(const void *data, size_t bytes)
{
    for (int fd = 3; fd < CONNECTION_FDS; fd++)
        if (is_connection(fd) && send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            continue;
}

static void write_garbage(unsigned *state)
{
    static unsigned char data[3000];
    struct mur_frame frame = {.kind = (uint16_t)(draw_next(state) % (MUR_FRAME_KINDS + 3)),
                              .flags = (uint16_t)(draw_next(state) % 8)};
    size_t bytes = HEADER + draw_next(state) % 2000 / 8 * 8;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)draw_next(state);
    if (draw_next(state) % 4 == 0)
        frame.kind = (uint16_t)(MUR_TCP_ACK - 1 + draw_next(state) % 4);
    frame.context = draw_next(state) % 3 ? draw_next(state) % 8 : draw_next(state);
    frame.source = (int32_t)(draw_next(state) % 4) - 1;
    frame.tag = (int32_t)(draw_next(state) % 8);
    frame.bytes = (uint32_t)bytes - HEADER;
    if (draw_next(state) % 4 == 0) /* less than there is, or more than can be: for any other the receiver would wait */
        frame.bytes = draw_next(state) % 2 ? (uint32_t)(draw_next(state) % bytes) / 2 : 1u << 20 | draw_next(state);
    if (draw_next(state) % 3)
        memcpy(data, &frame, sizeof frame);
    write_to_all(data, bytes);
}

int main(int argc, char **argv)
{
    unsigned state = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    static char buffer[LARGE];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Sendrecv_replace(buffer, round % 2 ? LARGE : 100, MPI_BYTE, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        if (rank == 1 && round >= 2 && draw_next(&state) % 4 == 0)
            write_garbage(&state);
    }
    MPI_Finalize();
    return 0;
}
