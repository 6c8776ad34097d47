/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of any length, small and large by turns, arrive over TCP whole, in order, and aligned to 8 bytes, wherever a
 * read ends: within a header, data, or the padding of a large frame that is read together with what follows. */
#include <unistd.h>

#include "engine/engine.h"
#include "random.h"

enum { KIND = MUR_FRAME_KINDS_MAX - 1, FRAMES = 4000, SMALL = 100, MIDDLE = 9000, LARGE = 70000, NAPS = 40 };

static unsigned arrived;
static unsigned char expected[LARGE];

/* Rank 1 draws what rank 0 has drawn. */
static uint32_t draw_frame(void)
{
    const int limits[] = {SMALL, SMALL, MIDDLE, LARGE};
    uint32_t bytes = (uint32_t)random_below(limits[random_below(4)]);
    unsigned char first = (unsigned char)random_below(256);

    for (uint32_t i = 0; i < bytes; i++)
        expected[i] = (unsigned char)(first + i);
    return bytes;
}

static void check_frame(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    (void)peer;
    CHECK(frame->tag == (int)arrived && frame->bytes == draw_frame());
    CHECK((uintptr_t)data % 8 == 0 && memcmp(data, expected, frame->bytes) == 0);
    arrived++;
}

static void send_all(void)
{
    for (int i = 0; i < FRAMES; i++) {
        struct mur_frame frame = {.kind = KIND, .tag = i, .bytes = draw_frame()};

        while (!mur_send_frame(&mur_engine.peers[1], &frame, expected))
            mur_progress();
    }
    mur_engine_flush();
}

/* Sleeps now and then, so that much comes at once. */
static void receive_all(void)
{
    while (arrived < FRAMES) {
        if (arrived % (FRAMES / NAPS) == 0)
            usleep(2000);
        mur_progress();
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    random_start();
    mur_frame_handlers[KIND] = check_frame;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        send_all();
    else if (rank == 1)
        receive_all();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
