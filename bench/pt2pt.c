/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point between two ranks: latency, bandwidth, message rate, and matching with long queues. Arguments are the
 * names of the figures that are wanted; without any, all are measured. */
#include <stdbool.h>

#include "bench.h"

enum { WINDOW = 64, QUEUE = 8192, LARGEST = 4 << 20 };

static int rank;
static char *out, *in;
static MPI_Request requests[QUEUE];

/* Half of a ping-pong, in microseconds. */
static double latency(int bytes, int count)
{
    double best = 1e9;

    for (int r = 0; r < REPETITIONS; r++) {
        double half = bench_ping_pong(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, count) * 1e6;

        best = half < best ? half : best;
    }
    return best;
}

/* A window of messages at a time in one direction, answered by an empty one; messages per second. */
static double window_rate(int bytes, int window, int count)
{
    double best = 0;

    for (int r = 0; r < REPETITIONS; r++) {
        double start, rate;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < window; k++)
                if (rank == 0)
                    MPI_Isend(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
                else
                    MPI_Irecv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[k]);
            MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
            if (i % 8 != 7 && bytes < 1024)
                continue;
            if (rank == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        rate = (double)window * count / (MPI_Wtime() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Receives for QUEUE tags are posted, then the messages come in reverse order; nanoseconds a message. */
static double posted_reverse(void)
{
    static int values[QUEUE];
    double best = 1e9, start;

    for (int r = 0; r < REPETITIONS; r++) {
        if (rank == 1)
            for (int i = 0; i < QUEUE; i++)
                MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        if (rank == 0)
            for (int i = QUEUE - 1; i >= 0; i--)
                MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        else
            MPI_Waitall(QUEUE, requests, MPI_STATUSES_IGNORE);
        start = (MPI_Wtime() - start) / QUEUE * 1e9;
        best = start < best ? start : best;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return best;
}

/* QUEUE messages wait, then they are taken in reverse order; nanoseconds a message. */
static double unexpected_reverse(void)
{
    double best = 1e9, start;
    int value;

    for (int r = 0; r < REPETITIONS; r++) {
        if (rank == 0) {
            for (int i = 0; i <= QUEUE; i++)
                MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, QUEUE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            start = MPI_Wtime();
            for (int i = QUEUE - 1; i >= 0; i--)
                MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            start = (MPI_Wtime() - start) / QUEUE * 1e9;
            best = start < best ? start : best;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Sendrecv_replace(&best, 1, MPI_DOUBLE, 1 - rank, 2, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return best;
}

int main(int argc, char **argv)
{
    static const struct {
        int bytes;
        const char *name;
    } latencies[] = {{8, "latency-8B"},        {1024, "latency-1KiB"},    {16384, "latency-16KiB"},
                     {65536, "latency-64KiB"}, {1 << 20, "latency-1MiB"}, {LARGEST, "latency-4MiB"}},
      bandwidths[] = {{65536, "bandwidth-64KiB"}, {1 << 20, "bandwidth-1MiB"}, {LARGEST, "bandwidth-4MiB"}};
    double value;

    MPI_Init(&argc, &argv);
    rank = bench_rank();
    out = bench_memory(LARGEST);
    in = bench_memory(LARGEST);
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        int bytes = latencies[i].bytes;

        if (!bench_is_wanted(argc, argv, latencies[i].name))
            continue;
        value = latency(bytes, bytes < 10000 ? 10000 : bytes < 100000 ? 2000 : 100);
        if (rank == 0)
            bench_print(latencies[i].name, value, "us");
    }
    if (bench_is_wanted(argc, argv, "rate-8B")) {
        value = window_rate(8, WINDOW, 2000);
        if (rank == 0)
            bench_print("rate-8B", value / 1e6, "M/s");
    }
    for (size_t i = 0; i < sizeof bandwidths / sizeof *bandwidths; i++) {
        if (!bench_is_wanted(argc, argv, bandwidths[i].name))
            continue;
        value = window_rate(bandwidths[i].bytes, 16, bandwidths[i].bytes < 100000 ? 100 : 12) * bandwidths[i].bytes;
        if (rank == 0)
            bench_print(bandwidths[i].name, value / 1e9, "GB/s");
    }
    if (bench_is_wanted(argc, argv, "match-posted-8192")) {
        value = posted_reverse();
        if (rank == 0)
            bench_print("match-posted-8192", value, "ns");
    }
    if (bench_is_wanted(argc, argv, "match-unexpected-8192")) {
        value = unexpected_reverse();
        if (rank == 0)
            bench_print("match-unexpected-8192", value, "ns");
    }
    MPI_Finalize();
    return 0;
}
