/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of algorithms. Of those of a kind that can do the case at hand, the last whose least bytes and least ranks
 * are reached is chosen. The variable MUR_COLL names others, the same at all ranks: MUR_COLL=allreduce:rabenseifner,
 * bcast:binomial. On one node boards come first (coll/node.c); MUR_COLL_BOARD=0 does without them. */
#include "coll/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/settings.h"

#define BUILDER(name_, call_)                                                                                          \
    static void name_(struct mur_schedule *s, const struct mur_collective *c)                                          \
    {                                                                                                                  \
        const struct mur_blocks *from = &c->from, *to = &c->to;                                                        \
        (void)from;                                                                                                    \
        (void)to;                                                                                                      \
        call_;                                                                                                         \
    }

BUILDER(barrier, mur_coll_barrier(s))
BUILDER(bcast, mur_coll_bcast(s, to->buffer, to->count, to->type, c->root))
BUILDER(bcast_scatter, mur_coll_bcast_scatter(s, to->buffer, to->count, to->type, c->root))
BUILDER(gather, mur_coll_gather(s, from->buffer, from->count, from->type, to, c->root))
BUILDER(gather_binomial, mur_coll_gather_binomial(s, from->buffer, from->count, from->type, to, c->root))
BUILDER(scatter, mur_coll_scatter(s, from, to->buffer, to->count, to->type, c->root))
BUILDER(scatter_binomial, mur_coll_scatter_binomial(s, from, to->buffer, to->count, to->type, c->root))
BUILDER(allgather, mur_coll_allgather(s, from->buffer, from->count, from->type, to))
BUILDER(allgather_bruck, mur_coll_allgather_bruck(s, from->buffer, from->count, from->type, to))
BUILDER(alltoall, mur_coll_alltoall(s, from, to))
BUILDER(alltoall_bruck, mur_coll_alltoall_bruck(s, from, to))
BUILDER(reduce, mur_coll_reduce(s, from->buffer, to->buffer, from->count, from->type, c->op, c->root))
BUILDER(allreduce, mur_coll_allreduce(s, from->buffer, to->buffer, from->count, from->type, c->op))
BUILDER(allreduce_rabenseifner,
        mur_coll_allreduce_rabenseifner(s, from->buffer, to->buffer, from->count, from->type, c->op))
BUILDER(reduce_scatter, mur_coll_reduce_scatter(s, from->buffer, to->buffer, to, c->op))
BUILDER(scan, mur_coll_scan(s, from->buffer, to->buffer, from->count, from->type, c->op, true))
BUILDER(exscan, mur_coll_scan(s, from->buffer, to->buffer, from->count, from->type, c->op, false))
BUILDER(neighbor_allgather, mur_coll_neighbor_allgather(s, from->buffer, from->count, from->type, to))
BUILDER(neighbor_alltoall, mur_coll_neighbor_alltoall(s, from, to))

const struct mur_algorithm mur_algorithms[] = {
    {MUR_BARRIER, "dissemination", 0, 0, barrier, true},
    {MUR_BCAST, "binomial", 0, 0, bcast, true},
    {MUR_BCAST, "scatter-allgather", 512 << 10, 8, bcast_scatter, false},
    {MUR_GATHER, "linear", 0, 0, gather, true},
    {MUR_GATHER, "binomial", 0, 8, gather_binomial, false},
    {MUR_GATHER, "linear", 2048, 0, gather, true},
    {MUR_SCATTER, "linear", 0, 0, scatter, true},
    {MUR_SCATTER, "binomial", 0, 8, scatter_binomial, false},
    {MUR_SCATTER, "linear", 2048, 0, scatter, true},
    {MUR_ALLGATHER, "ring", 0, 0, allgather, true},
    {MUR_ALLGATHER, "bruck", 0, 4, allgather_bruck, false},
    {MUR_ALLGATHER, "ring", 4096, 0, allgather, true},
    {MUR_ALLTOALL, "pairwise", 0, 0, alltoall, true},
    {MUR_ALLTOALL, "bruck", 0, 8, alltoall_bruck, false},
    {MUR_ALLTOALL, "pairwise", 256, 0, alltoall, true},
    {MUR_REDUCE, "binomial", 0, 0, reduce, true},
    {MUR_ALLREDUCE, "recursive-doubling", 0, 0, allreduce, true},
    {MUR_ALLREDUCE, "rabenseifner", 32 << 10, 4, allreduce_rabenseifner, false},
    {MUR_REDUCE_SCATTER, "reduce-scatter", 0, 0, reduce_scatter, true},
    {MUR_SCAN, "recursive-doubling", 0, 0, scan, true},
    {MUR_EXSCAN, "recursive-doubling", 0, 0, exscan, true},
    {MUR_NEIGHBOR_ALLGATHER, "direct", 0, 0, neighbor_allgather, true},
    {MUR_NEIGHBOR_ALLTOALL, "direct", 0, 0, neighbor_alltoall, true},
};
uint64_t mur_algorithm_uses[sizeof mur_algorithms / sizeof mur_algorithms[0]];
const size_t mur_algorithm_count = sizeof mur_algorithms / sizeof mur_algorithms[0];

static const char *const names[] = {
    [MUR_BARRIER] = "barrier",
    [MUR_BCAST] = "bcast",
    [MUR_GATHER] = "gather",
    [MUR_SCATTER] = "scatter",
    [MUR_ALLGATHER] = "allgather",
    [MUR_ALLTOALL] = "alltoall",
    [MUR_REDUCE] = "reduce",
    [MUR_ALLREDUCE] = "allreduce",
    [MUR_REDUCE_SCATTER] = "reduce_scatter",
    [MUR_SCAN] = "scan",
    [MUR_EXSCAN] = "exscan",
    [MUR_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
    [MUR_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
};

const char *mur_collective_name(enum mur_collective_kind kind)
{
    return names[kind];
}

_Static_assert((int)MUR_COLLECTIVE_KINDS == (int)MUR_COUNTED_KINDS, "counters know all kinds");

/* The bytes of a message or block that all ranks know; 0 where they do not. */
static size_t known_bytes(const struct mur_collective *c)
{
    const struct mur_blocks *blocks;

    switch (c->kind) {
    case MUR_BCAST:
        blocks = &c->to;
        break;
    case MUR_SCATTER:
        blocks = c->to.buffer == MPI_IN_PLACE ? &c->from : &c->to;
        break;
    default:
        blocks = c->from.buffer == MPI_IN_PLACE && !c->op ? &c->to : &c->from;
        break;
    }
    return blocks->type && !blocks->is_irregular ? (size_t)(blocks->count * blocks->type->size) : 0;
}

/* Whether only a general algorithm will do. */
static bool is_special(const struct mur_collective *c, const struct mur_comm *comm)
{
    return comm->remote || comm->size < 2 || c->is_irregular || c->to.is_irregular || (c->op && !c->op->is_commutative);
}

/* What MUR_COLL asks for, or NULL: the text behind "kind:" up to a comma. */
static const char *wish(enum mur_collective_kind kind, size_t *length)
{
    static const char *wishes; /* read once; any thread finds the same */
    size_t name = strlen(names[kind]);
    const char *text;

    if (!wishes)
        wishes = getenv("MUR_COLL") ? getenv("MUR_COLL") : "";
    text = wishes;

    for (; *text; text += strcspn(text, ","), text += *text == ',')
        if (!strncmp(text, names[kind], name) && text[name] == ':') {
            *length = strcspn(text + name + 1, ",");
            return text + name + 1;
        }
    return NULL;
}

const struct mur_algorithm *mur_choose(const struct mur_collective *c, const struct mur_comm *comm)
{
    const struct mur_algorithm *chosen = NULL;
    size_t length = 0, bytes = known_bytes(c);
    const char *wanted = wish(c->kind, &length);

    for (size_t i = 0; i < mur_algorithm_count; i++) {
        const struct mur_algorithm *algorithm = &mur_algorithms[i];

        if (algorithm->kind != c->kind || (!algorithm->is_general && is_special(c, comm)))
            continue;
        if (wanted && strlen(algorithm->name) == length && !strncmp(wanted, algorithm->name, length))
            return algorithm;
        if (!chosen || (bytes >= algorithm->least_bytes && comm->size >= algorithm->least_ranks))
            chosen = algorithm;
    }
    return chosen;
}

void mur_choice_tell(const struct mur_collective *c, const struct mur_comm *comm, const char *algorithm)
{
    static const char *told[MUR_NEIGHBOR_ALLTOALL + 1][8];

    if (comm->rank)
        return;
    for (int i = 0; i < 8; i++) {
        if (told[c->kind][i] == algorithm)
            return;
        if (told[c->kind][i])
            continue;
        told[c->kind][i] = algorithm;
        fprintf(stderr, "Murmur: %s of %zu bytes among %d ranks: %s%s\n", names[c->kind], known_bytes(c), comm->size,
                algorithm, is_special(c, comm) ? " (irregular, between groups, or not commutative)" : "");
        return;
    }
}
