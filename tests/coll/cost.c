/* SPDX-License-Identifier: BSD-3-Clause */
/* What algorithms cost at scale, by counting: schedules are built for ranks of communicators that do not exist, with up
 * to 2^20 ranks, and the rounds, messages and bytes of a rank are held to the known formulas. Prints the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algorithms.h"
#include "object/op.h"

enum { BYTES = 64 }; /* of a message or block */

struct cost {
    long rounds;   /* that have messages */
    long messages; /* sent */
    long bytes;    /* sent */
};

static long log2_up(long n)
{
    long bits = 0;

    while (1L << bits < n)
        bits++;
    return bits;
}

static struct cost count(const struct mur_schedule *schedule)
{
    struct cost cost = {0};
    bool has_messages = false;

    for (int i = 0; i < schedule->count; i++) {
        const struct mur_step *step = &schedule->steps[i];

        if (step->kind == MUR_STEP_FENCE)
            has_messages = false;
        if (step->kind != MUR_STEP_SEND && step->kind != MUR_STEP_RECEIVE)
            continue;
        cost.rounds += !has_messages;
        has_messages = true;
        if (step->kind == MUR_STEP_SEND) {
            cost.messages++;
            cost.bytes += (long)(step->in_count * step->in_type->size);
        }
    }
    return cost;
}

static char *send_buffer, *receive_buffer;

static struct cost cost_of(const struct mur_algorithm *algorithm, int size, int rank)
{
    struct mur_comm comm = {.object.references = 2, .rank = rank, .size = size};
    struct mur_type *type = mur_type_find(MPI_LONG);
    struct mur_collective c = {.kind = algorithm->kind,
                               .from = mur_blocks_regular(send_buffer, BYTES / 8, type),
                               .to = mur_blocks_regular(receive_buffer, BYTES / 8, type)};
    struct mur_schedule *schedule;
    struct cost cost;

    if (algorithm->kind == MUR_REDUCE || algorithm->kind == MUR_ALLREDUCE || algorithm->kind == MUR_REDUCE_SCATTER ||
        algorithm->kind == MUR_SCAN || algorithm->kind == MUR_EXSCAN)
        c.op = mur_op_find(MPI_SUM);
    schedule = mur_schedule_create(&comm);
    algorithm->build(schedule, &c);
    cost = count(schedule);
    mur_schedule_drop(schedule);
    return cost;
}

/* The formulas, for powers of two, at the rank that has most to do; -1: not fixed. */
struct formula {
    enum mur_collective_kind kind;
    const char *name;
    int rank; /* to look at: 0, or 1 for one that is no root */
    long (*rounds)(long ranks), (*messages)(long ranks), (*bytes)(long ranks);
};

static long zero(long p)
{
    (void)p;
    return 0;
}
static long one(long p)
{
    (void)p;
    return 1;
}
static long logarithm(long p)
{
    return log2_up(p);
}
static long log_bytes(long p)
{
    return log2_up(p) * BYTES;
}
static long others(long p)
{
    return p - 1;
}
static long others_bytes(long p)
{
    return (p - 1) * BYTES;
}
static long twice_log(long p)
{
    return 2 * log2_up(p);
}
static long block(long p)
{
    (void)p;
    return BYTES;
}
static long half_log_bytes(long p)
{
    return p / 2 * log2_up(p) * BYTES;
}
static long in_eights(long p) /* pairwise: eight steps a round, the first with the own block */
{
    return (p + 7) / 8;
}
static long twice_bytes(long p) /* 2 (p - 1) / p of the data, in whole elements */
{
    long elements = BYTES / 8, sent = 0;

    for (long bit = p / 2; bit >= 1; bit /= 2) /* rank 0 sends the upper half, keeps the lower */
        sent += elements * (bit * 2) / p - elements * bit / p;
    for (long bit = 1; bit < p; bit *= 2)
        sent += elements * bit / p;
    return sent * 8;
}

static long log_and_others(long p)
{
    return log2_up(p) + p - 1;
}

static const struct formula formulas[] = {
    {MUR_BARRIER, "dissemination", 0, logarithm, logarithm, zero},
    {MUR_BCAST, "binomial", 0, one, logarithm, log_bytes},
    {MUR_GATHER, "linear", 1, one, one, block},
    {MUR_GATHER, "binomial", 1, one, one, block},
    {MUR_SCATTER, "linear", 0, one, others, others_bytes},
    {MUR_SCATTER, "binomial", 0, one, logarithm, others_bytes},
    {MUR_ALLGATHER, "ring", 0, others, others, others_bytes},
    {MUR_ALLGATHER, "bruck", 0, logarithm, logarithm, others_bytes},
    {MUR_ALLTOALL, "pairwise", 0, in_eights, others, others_bytes},
    {MUR_ALLTOALL, "bruck", 0, logarithm, logarithm, half_log_bytes},
    {MUR_REDUCE, "binomial", 1, one, one, block},
    {MUR_ALLREDUCE, "recursive-doubling", 0, logarithm, logarithm, log_bytes},
    {MUR_ALLREDUCE, "rabenseifner", 0, twice_log, twice_log, twice_bytes},
    {MUR_SCAN, "recursive-doubling", 0, logarithm, logarithm, log_bytes},
    {MUR_EXSCAN, "recursive-doubling", 0, logarithm, logarithm, log_bytes},
    {MUR_BCAST, "scatter-allgather", 0, NULL, log_and_others, NULL},
};

static bool matches(long value, long (*formula)(long ranks), long ranks)
{
    return !formula || value == formula(ranks);
}

int main(void)
{
    static const int sizes[] = {1 << 10, 1 << 14, 1 << 20};
    int failures = 0;

    mur_type_setup();
    mur_op_setup();
    send_buffer = malloc((size_t)BYTES << 20);
    receive_buffer = malloc((size_t)BYTES << 20);
    printf("%-16s %-20s %8s %5s %8s %8s %12s\n", "collective", "algorithm", "ranks", "rank", "rounds", "messages",
           "bytes");
    for (size_t i = 0; i < mur_algorithm_count; i++) {
        const struct mur_algorithm *algorithm = &mur_algorithms[i];

        for (size_t f = 0; f < sizeof formulas / sizeof formulas[0]; f++) {
            const struct formula *formula = &formulas[f];

            if (formula->kind != algorithm->kind || strcmp(formula->name, algorithm->name))
                continue;
            for (int k = 0; k < 3; k++) {
                struct cost cost = cost_of(algorithm, sizes[k], formula->rank);
                bool is_right = matches(cost.rounds, formula->rounds, sizes[k]) &&
                                matches(cost.messages, formula->messages, sizes[k]) &&
                                matches(cost.bytes, formula->bytes, sizes[k]);

                printf("%-16s %-20s %8d %5d %8ld %8ld %12ld%s\n", mur_collective_name(algorithm->kind), algorithm->name,
                       sizes[k], formula->rank, cost.rounds, cost.messages, cost.bytes, is_right ? "" : "  WRONG");
                failures += !is_right;
            }
        }
    }
    free(send_buffer);
    free(receive_buffer);
    return failures != 0;
}
