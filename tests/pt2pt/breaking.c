/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections break again and again while large messages are under way: each arrives whole and once, though its buffer
 * is overwritten as soon as the send is complete. Also, that large messages were spliced, where the system can, and
 * that the pipes for it are not left open. */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "connections.h"
#include "descriptors.h"
#include "random.h"
#include "tool/tool.h"

enum { WINDOW = 6, LARGEST = 3 << 20, ROUNDS = 60 };
enum { MORE = 12 /* pipes for later, and connections that have just broken */ };

static unsigned char *out[WINDOW], *in[WINDOW];

static void fill(unsigned char *data, int bytes, uint64_t seed)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (unsigned char)((seed + (uint64_t)i * 2654435761u) >> 7);
}

static void exchange(int round, int rank, int size)
{
    static unsigned char expected[LARGEST];
    int to = (rank + 1) % size, from = (rank + size - 1) % size, sizes[WINDOW];
    MPI_Request requests[2 * WINDOW];

    for (int k = 0; k < WINDOW; k++) {
        sizes[k] = random_below(4) ? random_below(LARGEST) : random_below(100);
        MPI_Irecv(in[k], LARGEST, MPI_BYTE, from, k, MPI_COMM_WORLD, &requests[k]);
        fill(out[k], sizes[k], (uint64_t)(round * size + rank) * WINDOW + (uint64_t)k);
        MPI_Isend(out[k], sizes[k], MPI_BYTE, to, k, MPI_COMM_WORLD, &requests[WINDOW + k]);
    }
    for (int polls = (int)(random_next() % 300) * (rank + 1), flag = 0; polls > 0; polls--)
        MPI_Testall(2 * WINDOW, requests, &flag, MPI_STATUSES_IGNORE);
    if (round % 2 == rank % 2)
        break_connection(round % 4 < 2);
    for (int left = 2 * WINDOW; left > 0; left--) {
        int done;

        MPI_Waitany(2 * WINDOW, requests, &done, MPI_STATUS_IGNORE);
        if (done == MPI_UNDEFINED)
            break;
        if (done >= WINDOW)
            memset(out[done - WINDOW], 0xee, (size_t)sizes[done - WINDOW]);
    }
    for (int k = 0; k < WINDOW; k++) {
        fill(expected, sizes[k], (uint64_t)(round * size + from) * WINDOW + (uint64_t)k);
        CHECK(memcmp(expected, in[k], (size_t)sizes[k]) == 0);
    }
}

int main(int argc, char **argv)
{
    MPI_T_pvar_handle straight, spliced;
    MPI_T_pvar_session session;
    int rank, size, descriptors = 0;

    tool_start();
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    straight = tool_meter(session, "straight_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    spliced = tool_meter(session, "spliced_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int k = 0; k < WINDOW; k++) {
        out[k] = malloc(LARGEST);
        in[k] = malloc(LARGEST);
        CHECK(out[k] && in[k]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round == ROUNDS / 10)
            descriptors = count_descriptors();
        exchange(round, rank, size);
    }
    if (rank == 0)
        printf("%llu of %llu bytes spliced\n", tool_read(session, spliced), tool_read(session, straight));
    CHECK(tool_read(session, straight) > 0);
    CHECK(getenv("MUR_TEST_NO_SPLICE") || tool_read(session, spliced) > 0);
    CHECK(tool_read(session, spliced) <= 10 * tool_read(session, straight)); /* some of them more than once */
    CHECK(count_descriptors() <= descriptors + MORE);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
