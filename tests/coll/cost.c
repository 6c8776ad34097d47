/* SPDX-License-Identifier: BSD-3-Clause */
/* What algorithms cost at scale, by counting: schedules are built for ranks of communicators that do not exist, with up
 * to 2^20 ranks, and the rounds, messages and bytes of a rank are held to the known formulas, its steps to the number
 * of messages and ranks. Those of several stages cost what their stages do, which are algorithms again. No algorithm is
 * left out. Prints the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "coll/choose.h"
#include "object/op.h"
#include "object/topology.h"

enum {
    BYTES = 64, /* of a message or block */
    PIECE = 16, /* of a message that goes in pieces */
    HERE = 32,  /* ranks of a node, where there are several */
    NEIGHBOURS = 4,
};

struct cost {
    long rounds;   /* that have messages */
    long messages; /* sent */
    long bytes;    /* sent */
    long received; /* messages */
    long steps;    /* of all kinds, which take memory */
};

static long log2_up(long n)
{
    long bits = 0;

    while (1L << bits < n)
        bits++;
    return bits;
}

static struct cost counted;  /* of the schedule that is being built */
static bool is_within_round; /* that has messages */

/* Steps are counted and forgotten: a rank of a million would have millions. */
static void count(const struct mur_step *step)
{
    counted.steps++;
    counted.received += step->kind == MUR_STEP_RECEIVE;
    if (step->kind == MUR_STEP_FENCE)
        is_within_round = false;
    if (step->kind != MUR_STEP_SEND && step->kind != MUR_STEP_RECEIVE)
        return;
    counted.rounds += !is_within_round;
    is_within_round = true;
    if (step->kind == MUR_STEP_SEND) {
        counted.messages++;
        counted.bytes += (long)(step->in_count * step->in_type->size);
    }
}

static char *send_buffer, *receive_buffer;

static bool is_reduction(enum mur_collective_kind kind)
{
    return kind == MUR_REDUCE || kind == MUR_ALLREDUCE || kind == MUR_REDUCE_SCATTER || kind == MUR_SCAN ||
           kind == MUR_EXSCAN;
}

static struct mur_collective collective_of(enum mur_collective_kind kind, long bytes)
{
    struct mur_type *type = mur_type_find(MPI_LONG);

    return (struct mur_collective){.kind = kind,
                                   .from = mur_blocks_regular(send_buffer, bytes / 8, type),
                                   .to = mur_blocks_regular(receive_buffer, bytes / 8, type),
                                   .op = is_reduction(kind) ? mur_op_find(MPI_SUM) : NULL};
}

/* Four edges each way, to whomever. */
static struct mur_topology *make_topology(void)
{
    struct mur_topology *topology = mur_topology_create_adjacency(NEIGHBOURS, NEIGHBOURS, false);

    for (int i = 0; i < NEIGHBOURS; i++)
        topology->adjacency.sources[i] = topology->adjacency.destinations[i] = i + 1;
    return topology;
}

static struct cost build(const struct mur_algorithm *algorithm, struct mur_comm *comm, const struct mur_collective *c)
{
    struct mur_schedule *schedule = mur_schedule_create(comm);

    counted = (struct cost){0};
    is_within_round = false;
    schedule->visit = count;
    algorithm->build(schedule, c);
    if (schedule->error)
        printf("%s: no memory to count it\n", algorithm->name);
    mur_schedule_drop(schedule);
    return counted;
}

static struct cost cost_of(const struct mur_algorithm *algorithm, int size, int rank)
{
    struct mur_nodes nodes = {.is_between = true};
    struct mur_comm comm = {.object.references = 2, .rank = rank, .size = size, .nodes = &nodes};
    struct mur_collective c = collective_of(algorithm->kind, BYTES);
    struct cost cost;

    if (algorithm->kind == MUR_NEIGHBOR_ALLGATHER || algorithm->kind == MUR_NEIGHBOR_ALLTOALL)
        comm.topology = make_topology();
    cost = build(algorithm, &comm, &c);
    mur_topology_free(comm.topology);
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

static long log4(long p)
{
    return log2_up(p) / 2;
}
static long three_log4(long p)
{
    return 3 * log4(p);
}
static long pieces(long p)
{
    (void)p;
    return BYTES / PIECE;
}
static long pieces_and_one(long p)
{
    return pieces(p) + 1;
}
static long pieces_log(long p)
{
    return pieces(p) * log2_up(p);
}
static long twice_block(long p) /* there are more ranks than elements: two pieces less is nothing less */
{
    (void)p;
    return 2L * BYTES;
}
static long two(long p)
{
    (void)p;
    return 2;
}
static long all_bytes(long p)
{
    return p * BYTES;
}
static long twice_others(long p)
{
    return 2 * (p - 1);
}
static long in_fours(long p)
{
    return (p - 1 + 3) / 4;
}
static long halving_bytes(long p) /* rank 0 gives away the upper half of what it has left */
{
    long elements = BYTES / 8, sent = 0;

    for (long bit = p / 2; bit >= 1; bit /= 2)
        sent += elements * (bit * 2) / p - elements * bit / p;
    return sent * 8;
}
static long same(long p)
{
    return p;
}
static long neighbours(long p)
{
    (void)p;
    return NEIGHBOURS;
}
static long neighbours_bytes(long p)
{
    (void)p;
    return NEIGHBOURS * BYTES;
}

static const struct formula formulas[] = {
    {MUR_BARRIER, "dissemination", 0, logarithm, logarithm, zero},
    {MUR_BARRIER, "dissemination-4", 0, log4, three_log4, zero},
    {MUR_BCAST, "binomial-pieces", 0, pieces, pieces_log, log_bytes},
    {MUR_BCAST, "binomial-pieces", 1, one, zero, zero}, /* a leaf */
    {MUR_BCAST, "chain", 0, pieces, pieces, block},
    {MUR_BCAST, "chain", 1, pieces_and_one, pieces, block},
    {MUR_REDUCE, "binomial-pieces", 0, pieces, zero, zero},
    {MUR_REDUCE, "binomial-pieces", 1, one, pieces, block},
    {MUR_REDUCE, "chain", 1, pieces_and_one, pieces, block},
    {MUR_REDUCE, "rabenseifner", 0, twice_log, logarithm, halving_bytes},
    {MUR_ALLREDUCE, "ring", 0, twice_others, twice_others, twice_block},
    {MUR_REDUCE_SCATTER, "reduce-scatter", 1, two, one, all_bytes},
    {MUR_REDUCE_SCATTER, "halving", 0, logarithm, logarithm, others_bytes},
    {MUR_REDUCE_SCATTER, "pairwise", 0, in_fours, others, others_bytes},
    {MUR_NEIGHBOR_ALLGATHER, "direct", 0, one, neighbours, neighbours_bytes},
    {MUR_NEIGHBOR_ALLTOALL, "direct", 0, one, neighbours, neighbours_bytes},
    {MUR_BCAST, "binomial", 0, one, logarithm, log_bytes},
    {MUR_GATHER, "linear", 1, one, one, block},
    {MUR_GATHER, "binomial", 1, one, one, block},
    {MUR_SCATTER, "linear", 0, one, others, others_bytes},
    {MUR_SCATTER, "binomial", 0, one, logarithm, others_bytes},
    {MUR_ALLGATHER, "ring", 0, others, others, others_bytes},
    {MUR_ALLGATHER, "bruck", 0, logarithm, logarithm, others_bytes},
    {MUR_ALLGATHER, "recursive-doubling", 0, logarithm, logarithm, others_bytes},
    {MUR_ALLTOALL, "pairwise", 0, in_eights, others, others_bytes},
    {MUR_ALLTOALL, "bruck", 0, logarithm, logarithm, half_log_bytes},
    {MUR_REDUCE, "binomial", 1, one, one, block},
    {MUR_ALLREDUCE, "recursive-doubling", 0, logarithm, logarithm, log_bytes},
    {MUR_ALLREDUCE, "rabenseifner", 0, twice_log, twice_log, twice_bytes},
    {MUR_ALLREDUCE, "exchange", 0, one, one, block},
    {MUR_SCAN, "recursive-doubling", 0, logarithm, logarithm, log_bytes},
    {MUR_SCAN, "chain", 0, pieces, pieces, block},
    {MUR_SCAN, "chain", 1, pieces_and_one, pieces, block},
    {MUR_EXSCAN, "chain", 0, pieces, pieces, block},
    {MUR_EXSCAN, "chain", 1, pieces_and_one, pieces, block},
    {MUR_EXSCAN, "recursive-doubling", 0, logarithm, logarithm, log_bytes},
    {MUR_BCAST, "scatter-allgather", 0, same, log_and_others, twice_block},
};

static bool matches(long value, long (*formula)(long ranks), long ranks)
{
    return value == formula(ranks);
}

/* Whether the schedule, which a rank keeps in memory, is no longer than its messages and the blocks ask for. */
static bool is_short(struct cost cost, int size)
{
    enum { STEPS_A_MESSAGE = 6, STEPS_A_BLOCK = 1 };

    return cost.steps <= STEPS_A_MESSAGE * (cost.messages + cost.received + 2) + (long)STEPS_A_BLOCK * size;
}

static bool tell(const struct mur_algorithm *algorithm, int size, int rank, struct cost cost, bool is_right)
{
    printf("%-18s %-20s %8d %5d %8ld %8ld %12ld %8ld%s%s\n", mur_collective_name(algorithm->kind), algorithm->name,
           size, rank, cost.rounds, cost.messages, cost.bytes, cost.steps, is_right ? "" : "  WRONG",
           is_short(cost, size) ? "" : "  TOO MANY STEPS");
    return is_right && is_short(cost, size);
}

/* ---- algorithms of several stages ---- */

enum who { ALL, LEADERS, NODE, NODE_END }; /* the end: its last rank is looked at, not the first */

struct stage {
    enum who who;
    enum mur_collective_kind kind;
    bool is_irregular;
    long (*bytes)(long ranks);
};

struct staged {
    enum mur_collective_kind kind;
    const char *name;
    int rank;
    struct stage stages[3];
    long (*rounds)(long ranks), (*messages)(long ranks), (*bytes)(long ranks); /* besides; NULL is none */
};

static long up_and_down(long p) /* a tree with data of no bytes, both ways */
{
    (void)p;
    return 2;
}
static long here_log(long p)
{
    (void)p;
    return log2_up(HERE);
}
static long here_bytes(long p)
{
    (void)p;
    return HERE * BYTES;
}
static long other_nodes(long p)
{
    return p / HERE - 1;
}
static long other_nodes_bytes(long p)
{
    return (p - HERE) * BYTES;
}
static long pair_bytes(long p)
{
    (void)p;
    return (long)HERE * HERE * BYTES;
}
static long chain_rounds(long p) /* the root passes on to children of its node and the next node */
{
    return pieces(p);
}
static long chain_messages(long p)
{
    return pieces(p) * (log2_up(HERE) + 1);
}
static long chain_bytes(long p)
{
    (void)p;
    return BYTES * (log2_up(HERE) + 1);
}
static long other_bytes_of_node(long p)
{
    (void)p;
    return BYTES;
}

static const struct staged staged[] = {
    {MUR_BARRIER, "hierarchical", 0, {{LEADERS, MUR_BARRIER, false, zero}}, up_and_down, here_log, NULL},
    {MUR_BCAST, "hierarchical", 0, {{LEADERS, MUR_BCAST, false, block}, {NODE, MUR_BCAST, false, block}}, 0, 0, 0},
    {MUR_BCAST, "hierarchical-pieces", 0, {{0}}, chain_rounds, chain_messages, chain_bytes},
    {MUR_REDUCE, "hierarchical", 0, {{NODE, MUR_REDUCE, false, block}, {LEADERS, MUR_REDUCE, false, block}}, 0, 0, 0},
    {MUR_REDUCE, "hierarchical-pieces", HERE, {{0}}, pieces_and_one, pieces, other_bytes_of_node},
    {MUR_ALLREDUCE,
     "hierarchical",
     0,
     {{NODE, MUR_REDUCE, false, block}, {LEADERS, MUR_ALLREDUCE, false, block}, {NODE, MUR_BCAST, false, block}},
     0,
     0,
     0},
    {MUR_ALLREDUCE, "reduce-bcast", 0, {{ALL, MUR_REDUCE, false, block}, {ALL, MUR_BCAST, false, block}}, 0, 0, 0},
    {MUR_GATHER, "hierarchical", HERE, {{NODE, MUR_GATHER, false, block}}, one, one, here_bytes},
    {MUR_SCATTER, "hierarchical", 0, {{NODE, MUR_SCATTER, false, block}}, one, other_nodes, other_nodes_bytes},
    {MUR_ALLGATHER,
     "hierarchical",
     0,
     {{NODE, MUR_GATHER, true, block},
      {LEADERS, MUR_ALLGATHER, false, here_bytes},
      {NODE, MUR_BCAST, false, all_bytes}},
     0,
     0,
     0},
    {MUR_ALLTOALL,
     "hierarchical",
     0,
     {{NODE, MUR_GATHER, false, all_bytes},
      {LEADERS, MUR_ALLTOALL, true, pair_bytes},
      {NODE, MUR_SCATTER, false, all_bytes}},
     0,
     0,
     0},
    {MUR_REDUCE_SCATTER,
     "hierarchical",
     0,
     {{NODE, MUR_REDUCE, false, all_bytes},
      {LEADERS, MUR_REDUCE_SCATTER, false, here_bytes},
      {NODE, MUR_SCATTER, true, block}},
     0,
     0,
     0},
    {MUR_SCAN,
     "hierarchical",
     HERE - 1,
     {{NODE_END, MUR_SCAN, false, block}, {LEADERS, MUR_EXSCAN, false, block}},
     0,
     0,
     0},
    {MUR_EXSCAN,
     "hierarchical",
     HERE - 1,
     {{NODE_END, MUR_EXSCAN, false, block}, {LEADERS, MUR_EXSCAN, false, block}},
     0,
     0,
     0},
};

/* What a stage costs the rank that leads it. */
static struct cost cost_of_stage(const struct stage *stage, int size, const struct mur_nodes *all)
{
    bool is_here = stage->who == NODE || stage->who == NODE_END;
    struct mur_nodes nodes = {.is_team = true, .is_between = !is_here};
    struct mur_comm comm = {.object.references = 2, .nodes = stage->who == ALL ? all : &nodes};
    struct mur_collective c = collective_of(stage->kind, stage->bytes(size));
    const char *why;

    comm.size = is_here ? HERE : stage->who == LEADERS ? size / HERE : size;
    comm.rank = stage->who == NODE_END ? comm.size - 1 : 0;
    if (stage->kind == MUR_ALLGATHER)
        c.from.buffer = MPI_IN_PLACE;
    c.is_irregular = stage->is_irregular;
    return build(mur_choose(&c, &comm, &why), &comm, &c);
}

static bool check_staged(const struct mur_algorithm *algorithm, const struct staged *of, int size)
{
    int *node_of = malloc((size_t)size * sizeof *node_of);
    struct mur_comm comm = {.object.references = 2, .rank = of->rank, .size = size};
    struct mur_collective c = collective_of(algorithm->kind, BYTES);
    struct cost cost, expected = {.rounds = of->rounds ? of->rounds(size) : 0,
                                  .messages = of->messages ? of->messages(size) : 0,
                                  .bytes = of->bytes ? of->bytes(size) : 0};

    for (int i = 0; i < size; i++)
        node_of[i] = i / HERE;
    comm.nodes = mur_nodes_create(node_of, size, of->rank);
    free(node_of);
    cost = build(algorithm, &comm, &c);
    for (int i = 0; i < 3 && of->stages[i].bytes; i++) {
        struct cost stage = cost_of_stage(&of->stages[i], size, comm.nodes);

        expected.rounds += stage.rounds;
        expected.messages += stage.messages;
        expected.bytes += stage.bytes;
    }
    free((void *)comm.nodes);
    return tell(algorithm, size, of->rank, cost,
                cost.rounds == expected.rounds && cost.messages == expected.messages && cost.bytes == expected.bytes);
}

/* Returns how many formulas there are; -1: one does not hold. */
static int check_algorithm(const struct mur_algorithm *algorithm)
{
    static const int many[] = {1 << 10, 1 << 14, 1 << 20}, pair[] = {2};
    bool is_of_two = algorithm->abilities & MUR_WANTS_PAIR;
    const int *sizes = is_of_two ? pair : many;
    int found = 0;
    bool is_right = true;

    for (int k = 0; k < (is_of_two ? 1 : 3); k++) {
        for (size_t f = 0; f < sizeof formulas / sizeof formulas[0]; f++) {
            const struct formula *formula = &formulas[f];
            struct cost cost;

            if (formula->kind != algorithm->kind || strcmp(formula->name, algorithm->name))
                continue;
            cost = cost_of(algorithm, sizes[k], formula->rank);
            is_right &= tell(algorithm, sizes[k], formula->rank, cost,
                             matches(cost.rounds, formula->rounds, sizes[k]) &&
                                 matches(cost.messages, formula->messages, sizes[k]) &&
                                 matches(cost.bytes, formula->bytes, sizes[k]));
            found++;
        }
        for (size_t i = 0; i < sizeof staged / sizeof staged[0]; i++)
            if (staged[i].kind == algorithm->kind && !strcmp(staged[i].name, algorithm->name)) {
                is_right &= check_staged(algorithm, &staged[i], sizes[k]);
                found++;
            }
    }
    return is_right ? found : -1;
}

int main(void)
{
    int failures = 0;

    mur_settings_read();
    mur_settings.coll_piece = PIECE;
    mur_type_setup();
    mur_op_setup();
    send_buffer = malloc((size_t)BYTES << 20);
    receive_buffer = malloc((size_t)BYTES << 20);
    printf("%-18s %-20s %8s %5s %8s %8s %12s %8s\n", "collective", "algorithm", "ranks", "rank", "rounds", "messages",
           "bytes", "steps");
    for (size_t i = 0; i < mur_algorithm_count; i++) {
        if (!mur_algorithms[i].build) /* on the board: no messages */
            continue;
        int found = check_algorithm(&mur_algorithms[i]);

        if (!found)
            printf("%s %s: no formula\n", mur_collective_name(mur_algorithms[i].kind), mur_algorithms[i].name);
        failures += found <= 0;
    }
    free(send_buffer);
    free(receive_buffer);
    return failures != 0;
}
