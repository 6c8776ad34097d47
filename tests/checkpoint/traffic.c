/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of all kinds, collectives, windows and a file, in rounds, each of which mixes what comes into one number, so
 * that the last line says whether all that was sent came once, in order and unchanged: traffic ROUNDS PAUSE_US [FILE].
 * What a round does depends on its number alone. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = 16, MIDDLE = 5000, LARGE = 400000, WINDOW = 64 };

static int rank, size;
static uint64_t digest = 1469598103934665603u;
static uint64_t *sent, *come;
static MPI_Win window;
static uint64_t *cells;

static void mix(const uint64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        digest = (digest ^ values[i]) * 1099511628211u + 1;
}

static void fill(int round, int count)
{
    for (int i = 0; i < count; i++)
        sent[i] = (uint64_t)round * 1000003u + (uint64_t)rank * 7919u + (uint64_t)i;
}

static int count_of(int round)
{
    static const int counts[] = {SMALL, SMALL, MIDDLE, SMALL, LARGE, MIDDLE, SMALL};

    return counts[round % 7];
}

/* Each rank to the one `step` places on, and from the one before. */
static void pass(int round)
{
    int step = 1 + round % (size > 1 ? size - 1 : 1), count = count_of(round);
    int to = (rank + step) % size, from = (rank + size - step) % size;
    MPI_Request requests[2];

    fill(round, count);
    if (round % 3 == 0) {
        MPI_Sendrecv(sent, count, MPI_UINT64_T, to, 1, come, count, MPI_UINT64_T, from, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(come, count, MPI_UINT64_T, from, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, count, MPI_UINT64_T, to, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    mix(come, count);
}

static void agree(int round)
{
    uint64_t sum, own = digest;
    MPI_Request request;

    if (round % 2) {
        MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    } else {
        MPI_Iallreduce(&own, &sum, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mix(&sum, 1);
    MPI_Bcast(come, SMALL, MPI_UINT64_T, round % size, MPI_COMM_WORLD);
    mix(come, SMALL);
}

static void reach(int round)
{
    uint64_t one = (uint64_t)round;
    int target = (rank + 1) % size;

    MPI_Win_fence(0, window);
    MPI_Accumulate(&one, 1, MPI_UINT64_T, target, round % WINDOW, 1, MPI_UINT64_T, MPI_SUM, window);
    MPI_Put(&digest, 1, MPI_UINT64_T, target, WINDOW + rank, 1, MPI_UINT64_T, window);
    MPI_Win_fence(0, window);
    mix(cells, WINDOW);
    mix(cells + WINDOW + (rank + size - 1) % size, 1);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, pause = argc > 2 ? atoi(argv[2]) : 0;
    const char *path = argc > 3 ? argv[3] : NULL;
    uint64_t whole;
    MPI_File file = MPI_FILE_NULL;
    double before, now;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sent = calloc(LARGE, sizeof *sent);
    come = calloc(LARGE, sizeof *come);
    MPI_Win_allocate((WINDOW + size) * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
    memset(cells, 0, (WINDOW + (size_t)size) * sizeof *cells);
    MPI_Barrier(MPI_COMM_WORLD);
    if (path)
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    before = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        pass(round);
        agree(round);
        if (round % 5 == 0)
            reach(round);
        if (path)
            MPI_File_write_at_all(file, ((MPI_Offset)round * size + rank) * (MPI_Offset)sizeof digest, &digest, 1,
                                  MPI_UINT64_T, MPI_STATUS_IGNORE);
        now = MPI_Wtime();
        if (now < before) {
            printf("MPI_Wtime went back, from %f to %f\n", before, now);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        before = now;
        if (rank == 0 && round % 50 == 0) {
            printf("round %d\n", round);
            fflush(stdout);
        }
        usleep((useconds_t)pause);
    }
    if (path)
        MPI_File_close(&file);
    MPI_Reduce(&digest, &whole, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("digest %016llx of %d rounds\n", (unsigned long long)whole, rounds);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
