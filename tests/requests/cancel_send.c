/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends that are cancelled (MPI-5.0 §3.8.4): one that no receive has been matched with is taken back, and the wait ends
 * while the receiver receives nothing of it; one that has been matched arrives. Random rounds of cancelled and
 * received messages with equal tags: each message is either received or cancelled, and the order of the others
 * stays. */
#include <stdbool.h>

#include "random.h"

static int rank, size;

enum { BIG = 300000 };

static bool is_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int flag;

    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &flag);
    return flag;
}

/* Nobody ever receives these. */
static void unmatched(int peer)
{
    static char buffer[BIG];
    MPI_Request request;

    MPI_Isend(buffer, BIG, MPI_CHAR, peer, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    CHECK(is_cancelled(&request));
    MPI_Issend(buffer, 3, MPI_CHAR, peer, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Cancel(&request);
    CHECK(is_cancelled(&request));
    MPI_Ssend_init(buffer, BIG, MPI_CHAR, peer, 7, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Cancel(&request);
        CHECK(is_cancelled(&request));
    }
    MPI_Request_free(&request);
}

/* A matched probe has taken the message: it is too late. */
static void matched_by_probe(int peer)
{
    static char buffer[BIG];
    MPI_Request request;
    MPI_Message message;

    if (rank % 2 == 0) {
        MPI_Issend(buffer, BIG, MPI_CHAR, peer, 8, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Cancel(&request);
        CHECK(!is_cancelled(&request));
    } else {
        MPI_Mprobe(peer, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Mrecv(buffer, BIG, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
}

enum { MANY = 24, INTS = BIG / sizeof(int) };

/* Messages carry their numbers; some are cancelled while the receiver takes what is there. */
static void send_mixture(int peer)
{
    static int out[MANY][INTS];
    MPI_Request requests[MANY];
    char gone[MANY];

    for (int i = 0; i < MANY; i++) {
        out[i][0] = i;
        MPI_Issend(out[i], random_below(3) ? INTS : 1, MPI_INT, peer, 9, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = MANY - 1; i >= 0; i -= 1 + random_below(3))
        MPI_Cancel(&requests[i]);
    for (int i = 0; i < MANY; i++)
        gone[i] = (char)is_cancelled(&requests[i]);
    MPI_Ssend(gone, MANY, MPI_CHAR, peer, 10, MPI_COMM_WORLD); /* the next round begins when it is received */
}

/* All that can be had, until the sender has said how all of them ended. */
static void receive_mixture(int peer)
{
    static int in[INTS];
    int count[MANY] = {0}, last = -1, is_there, is_over = 0;
    char gone[MANY];

    while (!is_over) {
        MPI_Message message;

        MPI_Iprobe(peer, 10, MPI_COMM_WORLD, &is_over, MPI_STATUS_IGNORE);
        MPI_Improbe(peer, 9, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
        if (!is_there)
            continue;
        MPI_Mrecv(in, INTS, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(in[0] > last && in[0] < MANY);
        last = in[0];
        count[last]++;
    }
    MPI_Recv(gone, MANY, MPI_CHAR, peer, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++)
        CHECK(count[i] == !gone[i]);
}

int main(int argc, char **argv)
{
    int peer;

    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = rank ^ 1;
    unmatched(peer < size ? peer : rank);
    for (int round = 0; round < 30 && size % 2 == 0; round++) {
        if (rank % 2 == 0)
            send_mixture(peer);
        else
            receive_mixture(peer);
    }
    if (size % 2 == 0)
        matched_by_probe(peer);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
