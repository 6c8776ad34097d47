/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of algorithms. Which of them is chosen when is in coll/table.c. */
#include "coll/algorithms.h"

#include <string.h>

#include "base/counters.h"
#include "coll/board/run.h"

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

#define MESSAGES(kind_, name_, abilities_, build_)                                                                     \
    {                                                                                                                  \
        MUR_##kind_, name_, abilities_, build_, NULL, NULL                                                             \
    }
#define BOARD(kind_, name_, abilities_, function_)                                                                     \
    {                                                                                                                  \
        MUR_##kind_, MUR_BOARD_NAME "-" name_, abilities_, NULL, mur_board_##function_, mur_board_fits_##function_     \
    }

const struct mur_algorithm mur_algorithms[] = {
    BOARD(BARRIER, "lines", 0, lines),
    BOARD(BARRIER, "tree", 0, tree),
    MESSAGES(BARRIER, "dissemination", GROUPS, barrier),
    MESSAGES(BARRIER, "dissemination-4", 0, mur_coll_barrier_wide),
    MESSAGES(BARRIER, "hierarchical", NODES, mur_hierarchy_barrier),
    BOARD(BCAST, "lines", 0, lines),
    BOARD(BCAST, "tree", 0, tree),
    BOARD(BCAST, "slots", 0, slots),
    BOARD(BCAST, "tree-slots", 0, tree_slots),
    BOARD(BCAST, "cells", 0, cells),
    BOARD(BCAST, "pieces", 0, pieces),
    MESSAGES(BCAST, "binomial", GROUPS, bcast),
    MESSAGES(BCAST, "binomial-pieces", 0, mur_coll_bcast_pieces),
    MESSAGES(BCAST, "chain", 0, mur_coll_bcast_chain),
    MESSAGES(BCAST, "scatter-allgather", 0, bcast_scatter),
    MESSAGES(BCAST, "hierarchical", NODES, mur_hierarchy_bcast),
    MESSAGES(BCAST, "hierarchical-pieces", NODES, mur_hierarchy_bcast_pieces),
    BOARD(GATHER, "lines", 0, lines),
    BOARD(GATHER, "tree", 0, tree),
    BOARD(GATHER, "slots", 0, slots),
    BOARD(GATHER, "tree-slots", 0, tree_slots),
    BOARD(GATHER, "cells", UNKNOWN | VARIED, cells),
    BOARD(GATHER, "blocks", 0, blocks),
    MESSAGES(GATHER, "linear", GROUPS | UNKNOWN | VARIED, gather),
    MESSAGES(GATHER, "binomial", 0, gather_binomial),
    MESSAGES(GATHER, "hierarchical", NODES | UNKNOWN | VARIED, hierarchical_gather),
    BOARD(SCATTER, "lines", 0, lines),
    BOARD(SCATTER, "tree", 0, tree),
    BOARD(SCATTER, "slots", 0, slots),
    BOARD(SCATTER, "tree-slots", 0, tree_slots),
    BOARD(SCATTER, "cells", UNKNOWN | VARIED, cells),
    BOARD(SCATTER, "blocks", 0, blocks),
    MESSAGES(SCATTER, "linear", GROUPS | UNKNOWN | VARIED, scatter),
    MESSAGES(SCATTER, "binomial", 0, scatter_binomial),
    MESSAGES(SCATTER, "hierarchical", NODES | UNKNOWN | VARIED, hierarchical_scatter),
    BOARD(ALLGATHER, "lines", 0, lines),
    BOARD(ALLGATHER, "tree", 0, tree),
    BOARD(ALLGATHER, "slots", 0, slots),
    BOARD(ALLGATHER, "tree-slots", 0, tree_slots),
    BOARD(ALLGATHER, "cells", VARIED, cells),
    BOARD(ALLGATHER, "slices", VARIED, slices),
    BOARD(ALLGATHER, "blocks", VARIED, blocks),
    MESSAGES(ALLGATHER, "ring", GROUPS | VARIED, allgather),
    MESSAGES(ALLGATHER, "bruck", 0, allgather_bruck),
    MESSAGES(ALLGATHER, "recursive-doubling", MUR_WANTS_POWER, mur_coll_allgather_doubling),
    MESSAGES(ALLGATHER, "hierarchical", NODES | VARIED, mur_hierarchy_allgather),
    BOARD(ALLTOALL, "lines", 0, lines),
    BOARD(ALLTOALL, "tree", 0, tree),
    BOARD(ALLTOALL, "slots", 0, slots),
    BOARD(ALLTOALL, "tree-slots", 0, tree_slots),
    BOARD(ALLTOALL, "cells", UNKNOWN | VARIED, cells),
    BOARD(ALLTOALL, "blocks", 0, blocks),
    MESSAGES(ALLTOALL, "pairwise", GROUPS | UNKNOWN | VARIED, alltoall),
    MESSAGES(ALLTOALL, "bruck", 0, alltoall_bruck),
    MESSAGES(ALLTOALL, "hierarchical", NODES, mur_hierarchy_alltoall),
    BOARD(REDUCE, "lines", ORDERED, lines),
    BOARD(REDUCE, "tree", ORDERED, tree),
    BOARD(REDUCE, "slots", ORDERED, slots),
    BOARD(REDUCE, "tree-slots", ORDERED, tree_slots),
    BOARD(REDUCE, "pair", 0, pair),
    BOARD(REDUCE, "chain", 0, chain),
    BOARD(REDUCE, "parts", ORDERED, parts),
    BOARD(REDUCE, "ring", 0, ring),
    MESSAGES(REDUCE, "binomial", GROUPS | FIXED, reduce),
    MESSAGES(REDUCE, "binomial-pieces", FIXED, mur_coll_reduce_pieces),
    MESSAGES(REDUCE, "chain", ORDERED, mur_coll_reduce_chain),
    MESSAGES(REDUCE, "rabenseifner", 0, mur_coll_reduce_rabenseifner),
    MESSAGES(REDUCE, "hierarchical", NODES, mur_hierarchy_reduce),
    MESSAGES(REDUCE, "hierarchical-pieces", NODES, mur_hierarchy_reduce_pieces),
    BOARD(ALLREDUCE, "lines", ORDERED, lines),
    BOARD(ALLREDUCE, "tree", ORDERED, tree),
    BOARD(ALLREDUCE, "slots", ORDERED, slots),
    BOARD(ALLREDUCE, "tree-slots", ORDERED, tree_slots),
    BOARD(ALLREDUCE, "pair", 0, pair),
    BOARD(ALLREDUCE, "parts", ORDERED, parts),
    BOARD(ALLREDUCE, "ring", 0, ring),
    MESSAGES(ALLREDUCE, "recursive-doubling", GROUPS | ORDERED, allreduce),
    MESSAGES(ALLREDUCE, "reduce-bcast", FIXED, mur_coll_allreduce_at_root),
    MESSAGES(ALLREDUCE, "rabenseifner", 0, allreduce_rabenseifner),
    MESSAGES(ALLREDUCE, "ring", 0, mur_coll_allreduce_ring),
    MESSAGES(ALLREDUCE, "exchange", FIXED | MUR_WANTS_PAIR, mur_coll_allreduce_exchange),
    MESSAGES(ALLREDUCE, "hierarchical", NODES, mur_hierarchy_allreduce),
    BOARD(REDUCE_SCATTER, "lines", ORDERED, lines),
    BOARD(REDUCE_SCATTER, "tree", ORDERED, tree),
    BOARD(REDUCE_SCATTER, "slots", ORDERED, slots),
    BOARD(REDUCE_SCATTER, "tree-slots", ORDERED, tree_slots),
    BOARD(REDUCE_SCATTER, "pair", 0, pair),
    BOARD(REDUCE_SCATTER, "ring", 0, ring),
    MESSAGES(REDUCE_SCATTER, "reduce-scatter", GROUPS | VARIED | FIXED, reduce_scatter),
    MESSAGES(REDUCE_SCATTER, "halving", VARIED, mur_coll_reduce_scatter_halving),
    MESSAGES(REDUCE_SCATTER, "pairwise", VARIED, mur_coll_reduce_scatter_pairwise),
    MESSAGES(REDUCE_SCATTER, "hierarchical", NODES | VARIED, mur_hierarchy_reduce_scatter),
    BOARD(SCAN, "lines", ORDERED, lines),
    BOARD(SCAN, "tree", ORDERED, tree),
    BOARD(SCAN, "slots", ORDERED, slots),
    BOARD(SCAN, "tree-slots", ORDERED, tree_slots),
    BOARD(SCAN, "chain", ORDERED, chain),
    MESSAGES(SCAN, "recursive-doubling", FIXED, scan),
    MESSAGES(SCAN, "chain", ORDERED, mur_coll_scan_chain),
    MESSAGES(SCAN, "hierarchical", IN_ORDER, mur_hierarchy_scan),
    BOARD(EXSCAN, "lines", ORDERED, lines),
    BOARD(EXSCAN, "tree", ORDERED, tree),
    BOARD(EXSCAN, "slots", ORDERED, slots),
    BOARD(EXSCAN, "tree-slots", ORDERED, tree_slots),
    BOARD(EXSCAN, "chain", ORDERED, chain),
    MESSAGES(EXSCAN, "recursive-doubling", FIXED, exscan),
    MESSAGES(EXSCAN, "chain", ORDERED, mur_coll_scan_chain),
    MESSAGES(EXSCAN, "hierarchical", IN_ORDER, mur_hierarchy_scan),
    MESSAGES(NEIGHBOR_ALLGATHER, "direct", UNKNOWN | VARIED, neighbor_allgather),
    MESSAGES(NEIGHBOR_ALLTOALL, "direct", UNKNOWN | VARIED, neighbor_alltoall),
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

const struct mur_algorithm *mur_algorithms_of(enum mur_collective_kind kind)
{
    static const struct mur_algorithm *first[MUR_COLLECTIVE_KINDS];

    if (__builtin_expect(!first[kind], 0)) {
        first[kind] = mur_algorithms;
        while (first[kind]->kind != kind)
            first[kind]++;
    }
    return first[kind];
}

const struct mur_algorithm *mur_algorithm_find(enum mur_collective_kind kind, const char *name, size_t length)
{
    for (size_t i = 0; i < mur_algorithm_count; i++)
        if (mur_algorithms[i].kind == kind && strlen(mur_algorithms[i].name) == length &&
            !strncmp(mur_algorithms[i].name, name, length))
            return &mur_algorithms[i];
    return NULL;
}
