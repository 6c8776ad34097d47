/* SPDX-License-Identifier: BSD-3-Clause */
/* The positions of two lanes, and the stamps of the express record between them, pass 2^32 and other limits. Between
 * two limits both ranks set their positions on, as if express frames had gone for hours; the ring keeps what it holds.
 * Each message must arrive once, in its turn, whether it goes express, in half a line, a line, or a payload ring. */
#include "transport/shm/shm.h"

#include "engine/engine.h"
#include "random.h"

enum { LIMITS = 9, LARGE = 3000 };

static int me;
static struct mur_lane_out *out;
static struct mur_lane_in *in;

static int bytes_of(unsigned number, unsigned seed)
{
    static const int sizes[] = {8, 8, 8, 1, 40, 41, 0, 9, LARGE, 700};

    return sizes[draw_next(&(unsigned){number * 77 + seed}) % (sizeof sizes / sizeof *sizes)];
}

static void fill(unsigned char *data, int bytes, unsigned number)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (unsigned char)(number * 7 + (number >> 8) + (unsigned)i);
}

static void send(unsigned number, int bytes)
{
    unsigned char data[LARGE];

    fill(data, bytes, number);
    MPI_Send(data, bytes, MPI_BYTE, 1 - me, (int)(number & 0xffff), MPI_COMM_WORLD);
}

static void receive(unsigned number, int bytes)
{
    unsigned char data[LARGE], expected[LARGE];
    MPI_Status status;
    int count;

    MPI_Recv(data, LARGE, MPI_BYTE, 1 - me, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    fill(expected, bytes, number);
    CHECK(status.MPI_TAG == (int)(number & 0xffff) && count == bytes && !memcmp(data, expected, (size_t)bytes));
}

/* They answer each other with what fits in the express record. */
static void rally(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (i % 2 == (unsigned)me)
            send(i, 8);
        else
            receive(i, 8);
    }
}

/* Many in one direction, then in the other: through the ring. */
static void bursts(unsigned count, unsigned seed)
{
    for (int sender = 0; sender < 2; sender++)
        for (unsigned i = 0; i < count; i++)
            if (sender == me)
                send(i, bytes_of(i, seed));
            else
                receive(i, bytes_of(i, seed));
}

/* Where a position of a ring of so many places is to go on, to pass the limit after a lap or two. */
static uint64_t before(uint64_t limit, uint64_t position, uint64_t places)
{
    return limit - 2 * places + position % places;
}

/* Nothing is under way, so both ends of a lane have the same position. */
static void set_positions(uint64_t limit, bool has_turn)
{
    struct mur_express *express = &in->express;

    MPI_Barrier(MPI_COMM_WORLD); /* by the board */
    out->next_half = before(limit, out->next_half, out->lane->halves);
    in->next_half = before(limit, in->next_half, in->lane->halves);
    out->consumed_halves = out->next_half;
    atomic_store(&in->lane->consumed_halves, in->next_half);
    for (int i = 0; i < MUR_RINGS; i++) {
        out->ring[i].next = before(limit, out->ring[i].next, out->ring[i].bytes);
        in->ring[i].next = before(limit, in->ring[i].next, in->ring[i].bytes);
        out->ring[i].consumed = out->ring[i].next;
        atomic_store(&in->lane->consumed_bytes[i], in->ring[i].next);
    }
    if (has_turn) {
        if (express->is_ours)
            atomic_store(&express->record->stamp, (uint32_t)-11);
        express->turn = (uint32_t)-10;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    unsigned halves;
    int other;

    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    other = 1 - me;
    if (mur_engine.peers[other].local < 0)
        return test_skip("the ranks share no memory");
    out = &mur_shm.out[mur_engine.peers[other].local];
    in = &mur_shm.in[mur_engine.peers[other].local];
    rally(4);
    halves = out->lane->halves;
    for (uint64_t k = 1; k <= LIMITS; k++) {
        set_positions(k << 30, k == 4);
        if (k == 1) /* leaves stamps that the limit 2^32 further will await; what goes express does not renew them */
            bursts(2 * halves, random_next());
        else
            rally(8 * halves);
    }
    for (uint64_t limit = (uint64_t)1 << 48; limit; limit <<= 5) { /* where no stamp is, all are renewed on the way */
        set_positions(limit, false);
        bursts(9 * halves, random_next());
        rally(99);
    }
    MPI_Finalize();
    return 0;
}
