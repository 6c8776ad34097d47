/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that run ahead: collectives of all kinds and sizes one after the other, at random, with bursts of small ones
 * that are longer than any ring, while some ranks now and then stop for a moment; every result is checked. */
#include <unistd.h>

#include "random.h"

enum { STEPS = 150, BURST = 700, LARGEST = 40000, LARGEST_MANY = 9000 };

static int rank, size, root, count, step, largest;
static long *out, *in;
static int counts[64], places[64];

/* Element i of what a rank has for another, or for all. */
static long value(int from, int to, int i)
{
    return (step * 131L + from * 1009L + to * 31L) % 65536 + i;
}

static long sum_of(int ranks, int to, int i)
{
    long sum = 0;

    for (int r = 0; r < ranks; r++)
        sum += value(r, to, i);
    return sum;
}

static void fill(int blocks)
{
    for (int to = 0; to < blocks; to++)
        for (int i = 0; i < count; i++)
            out[to * count + i] = value(rank, to, i);
    memset(in, 0xA5, (size_t)size * (size_t)count * sizeof *in);
}

static void is_block(const long *block, int from, int to)
{
    for (int i = 0; i < count; i++)
        CHECK(block[i] == value(from, to, i));
}

static void is_sum(const long *block, int ranks, int to)
{
    for (int i = 0; i < count; i++)
        CHECK(block[i] == sum_of(ranks, to, i));
}

static void are_blocks(int to)
{
    for (int from = 0; from < size; from++)
        is_block(in + from * count, from, to);
}

static void bcast(void)
{
    MPI_Bcast(rank == root ? out : in, count, MPI_LONG, root, MPI_COMM_WORLD);
    is_block(rank == root ? out : in, root, 0);
}

static void gather(void)
{
    MPI_Gather(out, count, MPI_LONG, in, count, MPI_LONG, root, MPI_COMM_WORLD);
    if (rank == root)
        are_blocks(0);
}

static void gatherv(void)
{
    MPI_Gatherv(out, count, MPI_LONG, in, counts, places, MPI_LONG, root, MPI_COMM_WORLD);
    if (rank == root)
        are_blocks(0);
}

static void scatter(void)
{
    MPI_Scatter(out, count, MPI_LONG, in, count, MPI_LONG, root, MPI_COMM_WORLD);
    is_block(in, root, rank);
}

static void scatterv(void)
{
    MPI_Scatterv(out, counts, places, MPI_LONG, in, count, MPI_LONG, root, MPI_COMM_WORLD);
    is_block(in, root, rank);
}

static void allgather(void)
{
    MPI_Allgather(out, count, MPI_LONG, in, count, MPI_LONG, MPI_COMM_WORLD);
    are_blocks(0);
}

static void allgatherv(void)
{
    MPI_Allgatherv(out, count, MPI_LONG, in, counts, places, MPI_LONG, MPI_COMM_WORLD);
    are_blocks(0);
}

static void alltoall(void)
{
    MPI_Alltoall(out, count, MPI_LONG, in, count, MPI_LONG, MPI_COMM_WORLD);
    are_blocks(rank);
}

static void alltoallv(void)
{
    MPI_Alltoallv(out, counts, places, MPI_LONG, in, counts, places, MPI_LONG, MPI_COMM_WORLD);
    are_blocks(rank);
}

static void reduce(void)
{
    MPI_Reduce(out, in, count, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root)
        is_sum(in, size, 0);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    is_sum(in, size, 0);
}

static void reduce_scatter(void)
{
    MPI_Reduce_scatter_block(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    is_sum(in, size, rank);
}

static void scan(void)
{
    MPI_Scan(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    is_sum(in, rank + 1, 0);
}

static void exscan(void)
{
    MPI_Exscan(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank)
        is_sum(in, rank, 0);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void (*const kinds[])(void) = {bcast,     gather,     gatherv,        scatter,   scatterv,
                                      allgather, allgatherv, alltoall,       alltoallv, reduce,
                                      scan,      allreduce,  reduce_scatter, exscan,    barrier};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Each rank for itself: drawn apart from what all draw alike. */
static void stop_for_a_moment(void)
{
    static unsigned state = 1;

    state = (state + (unsigned)rank * 7919u) * 1664525u + 1013904223u;
    if ((state >> 8) % 40 == 0)
        usleep((state >> 16) % 2000);
}

static void one(void (*kind)(void))
{
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        places[i] = i * count;
    }
    fill(size);
    kind();
    step++;
}

/* Small ones of one kind, with a root that stays or changes; no rank waits for more than it needs. */
static void burst(void)
{
    void (*kind)(void) = kinds[random_below(KINDS)];
    int is_moving = random_below(2);

    count = 1 + random_below(9);
    for (int i = 0; i < BURST; i++) {
        root = is_moving ? random_below(size) : root;
        if (i % 64 == 0)
            stop_for_a_moment();
        one(kind);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    largest = size > 5 ? LARGEST_MANY : LARGEST;
    out = malloc((size_t)size * (size_t)largest * sizeof *out);
    in = malloc((size_t)size * (size_t)largest * sizeof *in);
    CHECK(out && in);
    for (int s = 0; s < STEPS; s++) {
        const int limits[] = {1, 7, 60, 500, 2000, largest};

        root = random_below(size);
        count = 1 + random_below(limits[random_below(6)]);
        stop_for_a_moment();
        if (random_below(20) == 0)
            burst();
        else
            one(kinds[random_below(KINDS)]);
    }
    MPI_Finalize();
    return 0;
}
