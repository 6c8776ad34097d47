/* SPDX-License-Identifier: BSD-3-Clause */
/* Wake-ups that must not get lost: ranks wait in every way for messages that come at random moments, and sleep as soon
 * as they may. A lost one is a hang. MUR_TEST_ROUNDS says how long. */
#include <sched.h>
#include <time.h>

#include "random.h"

static int rank, size;

/* Between nothing and some 30 us, drawn by each rank for itself: long enough to meet the other in each of its steps. */
static void dawdle(unsigned *state)
{
    if (draw_next(state) % 2)
        sched_yield();
    for (volatile unsigned i = draw_next(state) % 8192; i > 0; i--)
        ;
}

static void ping_pong(int rounds, unsigned *state)
{
    int peer = rank ^ 1, value;

    for (int i = 0; i < rounds && peer < size; i++) {
        if (rank < peer) {
            dawdle(state);
            MPI_Send(&i, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            dawdle(state);
            MPI_Send(&i, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
        }
        CHECK(value == i);
    }
}

/* A token that visits the ranks in random order; everyone else sleeps. Waited for by receive, probe and waitany. */
static void token(int rounds)
{
    int holder = 0;

    for (int i = 0; i < rounds; i++) {
        int next = random_below(size), value = i, index;
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

        if (next != holder && rank == holder)
            MPI_Send(&value, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
        if (next != holder && rank == next) {
            value = -1;
            if (i % 3 == 0)
                MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Irecv(&value, 1, MPI_INT, holder, 3, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index == 1 && value == i);
        }
        holder = next;
    }
}

/* More than the rings hold, to a receiver that dawdles: the sender sleeps until there is room, and the receiver until
 * there is something. */
static void stream(int rounds, unsigned *state)
{
    int peer = rank ^ 1, value;

    for (int i = 0; i < rounds && peer < size; i++) {
        if (rank < peer) {
            MPI_Send(&i, 1, MPI_INT, peer, 4, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(value == i);
        }
        if (i % 64 == 0)
            dawdle(state);
    }
}

static void collectives(int rounds, unsigned *state)
{
    long sum;
    MPI_Request request;

    for (int i = 0; i < rounds; i++) {
        long value = rank + i;

        if (i % 7 == rank % 7)
            dawdle(state);
        if (i % 2) {
            MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Iallreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        CHECK(sum == (long)size * (size - 1) / 2 + (long)size * i);
    }
}

int main(int argc, char **argv)
{
    int rounds = getenv("MUR_TEST_ROUNDS") ? atoi(getenv("MUR_TEST_ROUNDS")) : 1;
    unsigned state;

    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = random_state + (unsigned)rank * 7919;
    for (int i = 0; i < rounds; i++) {
        ping_pong(5000 / size, &state);
        token(5000);
        stream(20000, &state);
        collectives(2000 / size, &state);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
