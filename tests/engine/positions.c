/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers and positions that ranks count by pass 2^31, 2^32 and other limits: those of boards and their cells, of
 * collectives that are messages, of the streams of links, and of joint one-sided operations. All ranks set them on by
 * as much at a moment when nothing is under way; then all kinds of traffic must bring what it is to bring. (Those of
 * lanes: tests/transport; of files: tests/io.) */
#include "coll/board/board.h"
#include "object/comm.h"
#include "object/win.h"
#include "rma/mailbox.h"
#include "transport/tcp/tcp.h"

#include "random.h"

enum { STEPS = 100, LARGE = 10000, PAIR = 5000, BYTES = 1 << 20 };

static int rank, size;
static MPI_Comm other; /* a communicator with a board that is not the world's */
static MPI_Win win;
static char *memory; /* of the window */

/* ---- setting on ---- */

/* Where a number goes on that stands for a place in a ring of so many, to pass the limit after a lap at most. */
static uint64_t step_to(uint64_t limit, uint64_t number, uint64_t places)
{
    return limit - places + number % places - number;
}

static void set_channel(struct mur_board *board, int other_rank, uint64_t limit)
{
    struct mur_board_channel *channel = &board->channels[other_rank];
    uint64_t by = step_to(limit, channel->received, MUR_BOARD_CELL_DEPTH);

    channel->received += by;
    atomic_fetch_add(&board->reads[mur_board_pair_of(board, other_rank, board->rank)].value, by);
    channel->pieces_received += step_to(limit, channel->pieces_received, MUR_BOARD_CELL_PIECES);
    by = step_to(limit, channel->sent, MUR_BOARD_CELL_DEPTH);
    channel->sent += by;
    channel->read += by;
    channel->pieces_sent += step_to(limit, channel->pieces_sent, MUR_BOARD_CELL_PIECES);
}

static void set_board(struct mur_board *board, uint64_t limit)
{
    uint64_t by = step_to(limit, board->number, MUR_BOARD_DEPTH);

    board->number += by;
    board->posted += by;
    by = step_to(limit, board->phase, MUR_BOARD_DEPTH);
    board->phase += by;
    board->passed += by;
    atomic_fetch_add(&board->phases[board->rank].value, by);
    by = step_to(limit, board->started, 1024); /* which the announcements tell apart (coll/board/mismatch.c) */
    board->started += by;
    board->current += by;
    for (int i = 0; board->channels && i < board->size; i++)
        set_channel(board, i, limit);
}

static void set_comm(MPI_Comm handle, uint64_t limit)
{
    struct mur_comm *comm = mur_comm_find(handle);

    comm->sequence = comm->persistent_sequence = (uint32_t)limit - STEPS / 2;
    if (comm->board)
        set_board(comm->board, limit);
}

/* Acknowledgements that are still to come tell of less than is known, and are ignored. */
static void set_links(uint64_t by)
{
    struct mur_link *link;

    LIST_FOREACH(link, &mur_tcp.links, in_links)
    {
        link->queued += by;
        link->sent += by;
        link->acked += by;
        for (struct mur_out_segment *segment = link->first; segment; segment = segment->next)
            segment->start += by;
        link->received += by;
        link->told = link->received; /* no acknowledgement for a while, until all have been set on */
    }
}

/* Of the mailboxes of all others; the number is in the high half. */
static void set_mailboxs(uint64_t limit)
{
    struct mur_win *window = mur_win_find(win);

    for (int i = 0; rank == 0 && i < size; i++)
        if (window->targets[i].mailbox) {
            _Atomic uint64_t *claimed = &window->targets[i].mailbox->joint.claim.word;

            atomic_store(claimed, (limit - 3) << 32 | (atomic_load(claimed) & UINT32_MAX));
        }
}

/* By messages alone, each of which is answered: then nothing else is under way. */
static void meet(void)
{
    for (int step = 1; step < size; step *= 2)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + step) % size, 1, NULL, 0, MPI_BYTE, (rank - step + size) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void set_on(uint64_t limit)
{
    static uint64_t streams; /* what has been added to the positions of links */

    meet();
    set_comm(MPI_COMM_WORLD, limit);
    set_comm(other, limit);
    set_links(limit - (1 << 16) - streams);
    streams = limit - (1 << 16);
    set_mailboxs(limit);
    meet();
}

/* ---- traffic ---- */

static void reduce_some(MPI_Comm comm, int count, int step)
{
    static int in[LARGE], out[LARGE];

    for (int i = 0; i < count; i++)
        in[i] = rank + i + step;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        CHECK(out[i] == size * (size - 1) / 2 + size * (i + step));
}

static void exchange_some(MPI_Comm comm, int count, int step)
{
    static int in[8 * PAIR], out[8 * PAIR];

    for (int i = 0; i < size * count; i++)
        in[i] = rank * 1000 + i / count + step;
    MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
    for (int i = 0; i < size * count; i++)
        CHECK(out[i] == i / count * 1000 + rank + step);
}

static void tell_some(MPI_Comm comm, int step)
{
    int values[2] = {rank, step}, root = step % size;
    MPI_Request request;

    MPI_Ibcast(values, 2, MPI_INT, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(values[0] == root && values[1] == step);
    MPI_Allreduce_init(&rank, values, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    CHECK(values[0] == size - 1);
}

static void send_some(int step)
{
    static char out[LARGE], in[LARGE];
    int bytes = random_below(10) ? random_below(100) : random_below(LARGE);

    memset(out, step + rank, (size_t)bytes);
    MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 2, in, bytes, MPI_BYTE, (rank - 1 + size) % size, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; i++)
        CHECK(in[i] == (char)(step + (rank - 1 + size) % size));
}

/* Rank 0 puts something large into the others' memory while they wait. */
static void put_some(char *buffer, int step)
{
    if (rank == 0)
        memset(buffer, step, BYTES);
    MPI_Win_fence(0, win);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Put(buffer, BYTES, MPI_BYTE, i, 0, BYTES, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; rank && i < BYTES; i += 4096)
        CHECK(memory[i] == (char)step);
    CHECK(!rank || memory[BYTES - 1] == (char)step);
}

static void traffic(void)
{
    char *buffer;

    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &buffer);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < 2; i++) {
            MPI_Comm comm = i ? other : MPI_COMM_WORLD;

            for (int k = 0; k < 4; k++)
                reduce_some(comm, 1, step + k);
            reduce_some(comm, LARGE, step);
            for (int k = 0; k < 3; k++)
                exchange_some(comm, step % 30 ? 5 : PAIR, step + k);
            tell_some(comm, step);
            send_some(step);
            if (step % 8 == 0)
                put_some(buffer, step + i);
        }
    MPI_Free_mem(buffer);
}

int main(int argc, char **argv)
{
    static const uint64_t limits[] = {1 << 29, (uint64_t)1 << 31, (uint64_t)1 << 32, (uint64_t)1 << 33};

    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 8)
        return test_skip("this test knows at most 8 ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    traffic();
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        set_on(limits[i]);
        traffic();
    }
    MPI_Win_free(&win);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
