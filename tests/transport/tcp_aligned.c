/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of any length, small and large by turns, arrive over TCP whole, in order, and aligned to 8 bytes, wherever a
 * read ends: within a header, data, or the padding of a large frame that is read together with what follows. Where
 * MUR_TCP_BUFFER makes the buffers small, a segment is never larger than the receiver's buffer: it would wait for a
 * timer of the system's each time. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/settings.h"
#include "engine/engine.h"
#include "random.h"
#include "transport/tcp/tcp.h"

enum { KIND = MUR_FRAME_KINDS_MAX - 1, SMALL = 100, MIDDLE = 9000, LARGE = 70000, NAPS = 40 };

static unsigned arrived, frames = 4000;
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
    for (unsigned i = 0; i < frames; i++) {
        struct mur_frame frame = {.kind = KIND, .tag = (int)i, .bytes = draw_frame()};

        while (!mur_send_frame(&mur_engine.peers[1], &frame, expected))
            mur_progress();
    }
    mur_engine_flush();
}

/* Sleeps now and then, so that much comes at once. */
static void receive_all(void)
{
    while (arrived < frames) {
        if (arrived % (frames / NAPS) == 0)
            usleep(2000);
        mur_progress();
    }
}

/* Both ends have buffers of the same size. */
static void check_segments(const struct mur_link *link)
{
    struct tcp_info info = {0};
    int buffer = 0;

    CHECK(getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &info, &(socklen_t){sizeof info}) == 0);
    CHECK(getsockopt(link->fd, SOL_SOCKET, SO_RCVBUF, &buffer, &(socklen_t){sizeof buffer}) == 0);
    if (info.tcpi_snd_mss > (unsigned)buffer)
        fprintf(stderr, "segments of %u bytes do not fit into a buffer of %d\n", info.tcpi_snd_mss, buffer);
    CHECK(info.tcpi_snd_mss <= (unsigned)buffer);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    random_start();
    mur_engine.handlers[KIND] = check_frame;
    if (mur_settings.tcp_buffer && mur_settings.tcp_buffer < LARGE / 4) /* many reads for each frame */
        frames /= 4;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2)
        check_segments(mur_engine.peers[!rank].link);
    if (rank == 0)
        send_all();
    else if (rank == 1)
        receive_all();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
