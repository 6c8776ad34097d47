/* SPDX-License-Identifier: BSD-3-Clause */
/* With MUR_COLL_REPRODUCIBLE=1, reductions of floating-point data, whose results depend on the order, give the same
 * bits in all forms, at any root, in reductions and reduce-scatters alike. Prints a digest of the results, which
 * reproducible.py compares between placements. */
#include "test.h"

enum { LARGEST = 30000 };

static int rank, size;
static double *mine, *sum, *other;
static unsigned long digest = 14695981039346656037ul;

static void add_to_digest(const void *data, size_t bytes)
{
    const unsigned char *at = data;

    while (bytes--)
        digest = (digest ^ *at++) * 1099511628211ul;
}

/* Magnitudes far apart, of both signs: sums in another order are other numbers. */
static double value(int r, int i)
{
    static const double scales[] = {1e-7, 1.0, 3e9, 1e16, 7e-12};
    unsigned long x = (unsigned long)r * 2654435761ul + (unsigned long)i * 40503ul + 12345;

    x ^= x >> 13;
    x *= 0x9e3779b97f4a7c15ul;
    return ((double)(x >> 40) / (1 << 20) - 7.5) * scales[(x >> 7) % 5];
}

static void user_sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((double *)inout)[i] = ((double *)in)[i] + ((double *)inout)[i];
}

static void is_sum(const double *data, int first, int count)
{
    CHECK(memcmp(data, sum + first, (size_t)count * sizeof *data) == 0);
}

static void complete(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
}

static void forms_of_allreduce(int count, MPI_Op op)
{
    MPI_Request request;

    MPI_Iallreduce(mine, other, count, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_sum(other, 0, count);
    MPI_Allreduce_init(mine, other, count, MPI_DOUBLE, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    complete(&request);
    is_sum(other, 0, count);
    memcpy(other, mine, (size_t)count * sizeof *other);
    MPI_Allreduce(MPI_IN_PLACE, other, count, MPI_DOUBLE, op, MPI_COMM_WORLD);
    is_sum(other, 0, count);
}

static void reductions(int count, MPI_Op op)
{
    MPI_Request request;

    for (int root = 0; root < size; root++) {
        MPI_Reduce(mine, other, count, MPI_DOUBLE, op, root, MPI_COMM_WORLD);
        if (rank == root)
            is_sum(other, 0, count);
    }
    MPI_Reduce_init(mine, other, count, MPI_DOUBLE, op, size / 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    complete(&request);
    if (rank == size / 2)
        is_sum(other, 0, count);
}

static void reduce_scatters(int count, MPI_Op op)
{
    int each = count / size, counts[128], first = 0;

    MPI_Reduce_scatter_block(mine, other, each, MPI_DOUBLE, op, MPI_COMM_WORLD);
    is_sum(other, each * rank, each);
    for (int i = 0; i < size; i++) {
        counts[i] = i % 2 ? 0 : each;
        first += i < rank ? counts[i] : 0;
    }
    MPI_Reduce_scatter(mine, other, counts, MPI_DOUBLE, op, MPI_COMM_WORLD);
    is_sum(other, first, counts[rank]);
}

/* Their prefixes are bracketed in a way of their own, but always the same. */
static void scans(int count, MPI_Op op)
{
    MPI_Request request;

    MPI_Scan(mine, other, count, MPI_DOUBLE, op, MPI_COMM_WORLD);
    add_to_digest(other, (size_t)count * sizeof *other);
    MPI_Iexscan(mine, sum, count, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank)
        add_to_digest(sum, (size_t)count * sizeof *sum);
}

/* The digests of all ranks, in their order. */
static void print_digest(void)
{
    unsigned long all[128];

    MPI_Gather(&digest, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    for (int i = 1; i < size; i++)
        all[0] = all[0] * 31 + all[i];
    if (rank == 0)
        printf("digest %016lx\n", all[0]);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 17, 1000, LARGEST};
    MPI_Op user;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(user_sum, 1, &user);
    mine = malloc(LARGEST * sizeof *mine);
    sum = malloc(LARGEST * sizeof *sum);
    other = malloc(LARGEST * sizeof *other);
    CHECK(mine && sum && other);
    for (int i = 0; i < LARGEST; i++)
        mine[i] = value(rank, i);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int k = 0; k < 2; k++) {
            MPI_Op op = k ? user : MPI_SUM;

            MPI_Allreduce(mine, sum, counts[i], MPI_DOUBLE, op, MPI_COMM_WORLD);
            add_to_digest(sum, (size_t)counts[i] * sizeof *sum);
            if (argc == 1) { /* with any argument, only this: also where nothing is promised */
                forms_of_allreduce(counts[i], op);
                reductions(counts[i], op);
                reduce_scatters(counts[i], op);
            }
            scans(counts[i], op);
        }
    print_digest();
    MPI_Op_free(&user);
    free(mine);
    free(sum);
    free(other);
    MPI_Finalize();
    return 0;
}
