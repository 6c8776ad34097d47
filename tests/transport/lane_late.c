/* SPDX-License-Identifier: BSD-3-Clause */
/* A large record says how far its sender had read the other direction's small ring when it wrote the record. One that
 * is read only after four megabytes more have gone through that ring must not let the reader overwrite what the other
 * has not read. */
#include "transport/shm/shm.h"

#include "engine/engine.h"
#include "test.h"

enum { KIND = MUR_FRAME_KINDS_MAX - 1, BYTES = 1024, LINE_MARKS = 65536 };

static int me;
static _Atomic unsigned *turns; /* [2] how far each rank has come, in memory of both */
static unsigned expected, late; /* the number of the next frame; how many late records have come */

static void check_frame(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    const unsigned char *at = data;

    (void)peer;
    if (frame->tag < 0) {
        late++;
        return;
    }
    CHECK(frame->tag == (int)expected);
    for (uint32_t i = 0; i < frame->bytes; i++)
        CHECK(at[i] == (unsigned char)(expected + i));
    expected++;
}

/* Straight into the lane: nothing is received meanwhile. */
static bool send(int tag, uint32_t bytes)
{
    struct mur_frame frame = {.kind = KIND, .tag = tag, .bytes = bytes};
    unsigned char data[BYTES];

    for (uint32_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)((unsigned)tag + i);
    return mur_shm_transport.send(&mur_engine.peers[1 - me], &frame, data);
}

static void receive_until(unsigned number)
{
    while (expected < number)
        mur_shm_transport.progress();
}

/* This rank has come to its next turn; waits until the other has, too. */
static void meet(void)
{
    unsigned turn = atomic_fetch_add(&turns[me], 1) + 1;

    while (atomic_load(&turns[1 - me]) < turn)
        continue;
}

/* Rank 0 sends, and rank 1 receives, until rank 0 knows of the small ring that it is read up to a lap of 2^16 lines and
 * one of the ring before `late` was written. Returns the number of the next frame. */
static unsigned run_ahead(unsigned number)
{
    const struct mur_payload_ring *ring = &mur_shm.out[mur_engine.peers[1].local].ring[MUR_RING_SMALL];
    unsigned frames = mur_shm.lane_bytes[MUR_RING_SMALL] / BYTES, laps = LINE_MARKS * MUR_CACHE_LINE / (frames * BYTES);

    for (unsigned lap = 0; lap < laps - 1; lap++) {
        uint64_t before = ring ? ring->next : 0;

        for (unsigned i = 0; i < frames; i++, number++)
            if (me == 0)
                CHECK(send((int)number, BYTES));
        if (me == 0)
            CHECK(ring->next - before == frames * BYTES); /* all in the small ring */
        meet();
        if (me == 1)
            receive_until(number);
        meet();
    }
    return number;
}

int main(int argc, char **argv)
{
    unsigned number = 0, frames;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    frames = mur_shm.lane_bytes[MUR_RING_SMALL] / BYTES;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (mur_engine.peers[1 - me].local < 0)
        return test_skip("the ranks share no memory");
    mur_engine.handlers[KIND] = check_frame;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &turns, &win);
    MPI_Win_shared_query(win, 0, &(MPI_Aint){0}, &(int){0}, &turns);
    MPI_Barrier(MPI_COMM_WORLD);
    /* to the start of the small ring */
    while (me == 0 && (!mur_engine.peers[1].link ||
                       mur_shm.out[mur_engine.peers[1].local].ring[MUR_RING_SMALL].next % mur_shm.lane_bytes[0]))
        CHECK(send((int)number++, MUR_CACHE_LINE));
    MPI_Bcast(&number, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    receive_until(me ? number : 0);
    meet();
    if (me == 1)
        CHECK(send(-1, BYTES)); /* says that nothing more has been read */
    meet();
    number = run_ahead(number);
    for (unsigned i = 0; i < frames; i++, number++) /* for the first the reader's position is looked up */
        if (me == 0)
            CHECK(send((int)number, BYTES));
    if (me == 0)
        while (!late)
            mur_shm_transport.progress();
    for (unsigned i = 0; i < frames; i++, number++) /* the small ring is full: they must find another */
        if (me == 0)
            CHECK(send((int)number, BYTES));
    meet();
    if (me == 1)
        receive_until(number);
    meet();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
