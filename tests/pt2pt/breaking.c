/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections break again and again while large messages are under way: each arrives whole and once, though its buffer
 * is overwritten as soon as the send is complete. Also, that large messages were spliced, where the system can. */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "connections.h"
#include "random.h"

enum { WINDOW = 6, LARGEST = 3 << 20, ROUNDS = 60 };

static unsigned char *out[WINDOW], *in[WINDOW];

static void fill(unsigned char *data, int bytes, uint64_t seed)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (unsigned char)((seed + (uint64_t)i * 2654435761u) >> 7);
}

static unsigned long long counter(const char *name)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long value = 0;
    int provided, index, values;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS) {
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &values);
        MPI_T_pvar_start(session, handle);
        MPI_T_pvar_read(session, handle, &value);
        MPI_T_pvar_session_free(&session);
    }
    MPI_T_finalize();
    return value;
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
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int k = 0; k < WINDOW; k++) {
        out[k] = malloc(LARGEST);
        in[k] = malloc(LARGEST);
        CHECK(out[k] && in[k]);
    }
    for (int round = 0; round < ROUNDS; round++)
        exchange(round, rank, size);
    if (rank == 0 && counter("straight_bytes"))
        printf("%llu of %llu bytes spliced\n", counter("spliced_bytes"), counter("straight_bytes"));
    CHECK(counter("straight_bytes") == 0 || getenv("MUR_TEST_NO_SPLICE") || counter("spliced_bytes"));
    MPI_Finalize();
    return 0;
}
