/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of algorithms. Which of them is chosen when is in coll/table.c. */
#include "coll/algorithms.h"

#include <string.h>

#include "base/counters.h"

/* A builder out of a function with the arguments that it needs. */
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

/* Blocks that differ go another way. */
BUILDER(hierarchical_gather, (c->is_irregular ? mur_hierarchy_gatherv : mur_hierarchy_gather)(s, c))
BUILDER(hierarchical_scatter, (c->is_irregular ? mur_hierarchy_scatterv : mur_hierarchy_scatter)(s, c))

enum {
    GROUPS = MUR_TAKES_GROUPS,
    UNKNOWN = MUR_TAKES_UNKNOWN,
    VARIED = MUR_TAKES_VARIED,
    ORDERED = MUR_KEEPS_ORDER,
    FIXED = MUR_KEEPS_ORDER | MUR_FIXES_ORDER,
    NODES = MUR_WANTS_NODES,
    IN_ORDER = MUR_WANTS_NODES | MUR_WANTS_CONTIGUOUS,
};

const struct mur_algorithm mur_algorithms[] = {
    {MUR_BARRIER, "dissemination", GROUPS, barrier},
    {MUR_BARRIER, "dissemination-4", 0, mur_coll_barrier_wide},
    {MUR_BARRIER, "hierarchical", NODES, mur_hierarchy_barrier},
    {MUR_BCAST, "binomial", GROUPS, bcast},
    {MUR_BCAST, "binomial-pieces", 0, mur_coll_bcast_pieces},
    {MUR_BCAST, "chain", 0, mur_coll_bcast_chain},
    {MUR_BCAST, "scatter-allgather", 0, bcast_scatter},
    {MUR_BCAST, "hierarchical", NODES, mur_hierarchy_bcast},
    {MUR_BCAST, "hierarchical-pieces", NODES, mur_hierarchy_bcast_pieces},
    {MUR_GATHER, "linear", GROUPS | UNKNOWN | VARIED, gather},
    {MUR_GATHER, "binomial", 0, gather_binomial},
    {MUR_GATHER, "hierarchical", NODES | UNKNOWN | VARIED, hierarchical_gather},
    {MUR_SCATTER, "linear", GROUPS | UNKNOWN | VARIED, scatter},
    {MUR_SCATTER, "binomial", 0, scatter_binomial},
    {MUR_SCATTER, "hierarchical", NODES | UNKNOWN | VARIED, hierarchical_scatter},
    {MUR_ALLGATHER, "ring", GROUPS | VARIED, allgather},
    {MUR_ALLGATHER, "bruck", 0, allgather_bruck},
    {MUR_ALLGATHER, "recursive-doubling", MUR_WANTS_POWER, mur_coll_allgather_doubling},
    {MUR_ALLGATHER, "hierarchical", NODES | VARIED, mur_hierarchy_allgather},
    {MUR_ALLTOALL, "pairwise", GROUPS | UNKNOWN | VARIED, alltoall},
    {MUR_ALLTOALL, "bruck", 0, alltoall_bruck},
    {MUR_ALLTOALL, "hierarchical", NODES, mur_hierarchy_alltoall},
    {MUR_REDUCE, "binomial", GROUPS | FIXED, reduce},
    {MUR_REDUCE, "binomial-pieces", FIXED, mur_coll_reduce_pieces},
    {MUR_REDUCE, "chain", ORDERED, mur_coll_reduce_chain},
    {MUR_REDUCE, "rabenseifner", 0, mur_coll_reduce_rabenseifner},
    {MUR_REDUCE, "hierarchical", NODES, mur_hierarchy_reduce},
    {MUR_REDUCE, "hierarchical-pieces", NODES, mur_hierarchy_reduce_pieces},
    {MUR_ALLREDUCE, "recursive-doubling", GROUPS | ORDERED, allreduce},
    {MUR_ALLREDUCE, "reduce-bcast", FIXED, mur_coll_allreduce_at_root},
    {MUR_ALLREDUCE, "rabenseifner", 0, allreduce_rabenseifner},
    {MUR_ALLREDUCE, "ring", 0, mur_coll_allreduce_ring},
    {MUR_ALLREDUCE, "exchange", FIXED | MUR_WANTS_PAIR, mur_coll_allreduce_exchange},
    {MUR_ALLREDUCE, "hierarchical", NODES, mur_hierarchy_allreduce},
    {MUR_REDUCE_SCATTER, "reduce-scatter", GROUPS | VARIED | FIXED, reduce_scatter},
    {MUR_REDUCE_SCATTER, "halving", VARIED, mur_coll_reduce_scatter_halving},
    {MUR_REDUCE_SCATTER, "pairwise", VARIED, mur_coll_reduce_scatter_pairwise},
    {MUR_REDUCE_SCATTER, "hierarchical", NODES | VARIED, mur_hierarchy_reduce_scatter},
    {MUR_SCAN, "recursive-doubling", FIXED, scan},
    {MUR_SCAN, "chain", ORDERED, mur_coll_scan_chain},
    {MUR_SCAN, "hierarchical", IN_ORDER, mur_hierarchy_scan},
    {MUR_EXSCAN, "recursive-doubling", FIXED, exscan},
    {MUR_EXSCAN, "chain", ORDERED, mur_coll_scan_chain},
    {MUR_EXSCAN, "hierarchical", IN_ORDER, mur_hierarchy_scan},
    {MUR_NEIGHBOR_ALLGATHER, "direct", UNKNOWN | VARIED, neighbor_allgather},
    {MUR_NEIGHBOR_ALLTOALL, "direct", UNKNOWN | VARIED, neighbor_alltoall},
};
const size_t mur_algorithm_count = sizeof mur_algorithms / sizeof mur_algorithms[0];
uint64_t mur_algorithm_uses[sizeof mur_algorithms / sizeof mur_algorithms[0]];

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

_Static_assert((int)MUR_COLLECTIVE_KINDS == (int)MUR_COUNTED_KINDS, "counters know all kinds");

const char *mur_collective_name(enum mur_collective_kind kind)
{
    return names[kind];
}

const struct mur_algorithm *mur_algorithm_find(enum mur_collective_kind kind, const char *name, size_t length)
{
    for (size_t i = 0; i < mur_algorithm_count; i++)
        if (mur_algorithms[i].kind == kind && strlen(mur_algorithms[i].name) == length &&
            !strncmp(mur_algorithms[i].name, name, length))
            return &mur_algorithms[i];
    return NULL;
}
