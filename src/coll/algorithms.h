/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms: which there are, where each works, what it can do, and the builders that take a whole collective. */
#ifndef MUR_COLL_ALGORITHMS_H
#define MUR_COLL_ALGORITHMS_H

#include "coll/collective.h"
#include "coll/hierarchy/nodes.h"

/* What an algorithm can do, or wants. */
enum {
    MUR_TAKES_GROUPS = 1,  /* also between two groups */
    MUR_TAKES_UNKNOWN = 2, /* blocks that differ, and not all ranks know how */
    MUR_TAKES_VARIED = 4,  /* blocks that differ; all ranks know how */
    MUR_KEEPS_ORDER = 8,   /* operands stay in the order of ranks */
    MUR_FIXES_ORDER = 16,  /* and are bracketed in one way for each number of ranks, the same in all such algorithms */
    MUR_WANTS_NODES =
        32, /* there must be several nodes with several ranks; keeps the order where they are contiguous */
    MUR_WANTS_CONTIGUOUS = 64, /* they must be: the ranks of each node are consecutive */
    MUR_WANTS_POWER = 128,     /* the number of ranks must be a power of two */
    MUR_WANTS_PAIR = 256,      /* there must be two ranks */
};

/* Whether an algorithm of the board fits a collective; the same answer at all ranks. */
enum mur_fit {
    MUR_CANNOT,
    MUR_CAN,  /* where it is asked for by name */
    MUR_BEST, /* the first in the list that says so is taken. (Where ranks disagree, only the board notices.) */
};

/* One works either by messages, for which it builds a schedule, or on the memory that the ranks of one node share. */
struct mur_board_op;
struct mur_algorithm {
    enum mur_collective_kind kind;
    const char *name;
    unsigned abilities;
    void (*build)(struct mur_schedule *schedule, const struct mur_collective *collective); /* by messages; or NULL */
    bool (*advance)(struct mur_board_op *op); /* on the board (coll/board/run.h); or NULL */
    enum mur_fit (*fits)(const struct mur_collective *collective, const struct mur_comm *comm); /* of these */
};

/* By kind: first those of the board, then those by messages, of which the first does every case. */
extern const struct mur_algorithm mur_algorithms[];
extern const size_t mur_algorithm_count;
extern uint64_t mur_algorithm_uses[]; /* how often each has built a schedule, or run on the board */

/* The first of a kind. */
const struct mur_algorithm *mur_algorithms_of(enum mur_collective_kind kind);

/* How the names of the board's begin; alone it asks for whichever of them is best. */
#define MUR_BOARD_NAME "board"

/* NULL: there is none. */
const struct mur_algorithm *mur_algorithm_find(enum mur_collective_kind kind, const char *name, size_t length);

/* The name of a kind in lower case: "allreduce". */
const char *mur_collective_name(enum mur_collective_kind kind);

/* barrier.c */
void mur_coll_barrier_wide(struct mur_schedule *s, const struct mur_collective *c);

/* bcast.c, reduce.c: along trees, in pieces */
void mur_coll_bcast_chain(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_bcast_pieces(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_reduce_chain(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_reduce_pieces(struct mur_schedule *s, const struct mur_collective *c);

/* reduce.c: the rank whose tree keeps the order, which passes the result on to the root; along a tree of that rank's,
 * in pieces; and a reduction at rank 0, and a broadcast of the result */
struct mur_tree;
int mur_reduce_top(const struct mur_collective *c);
void mur_reduce_by_tree(struct mur_schedule *s, const struct mur_collective *c, const struct mur_tree *tree);
void mur_coll_allreduce_at_root(struct mur_schedule *s, const struct mur_collective *c);

/* scan.c, allgather.c */
void mur_coll_scan_chain(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_allgather_doubling(struct mur_schedule *s, const struct mur_collective *c);

/* exchange.c, ring.c, rabenseifner.c, reduce_scatter.c */
void mur_coll_allreduce_exchange(struct mur_schedule *s, const struct mur_collective *c);
struct mur_ring {
    int place;        /* of this rank in the ring */
    int left, right;  /* ranks */
    const int *ranks; /* by their places; NULL: each is its rank */
};
struct mur_ring mur_ring_of(struct mur_comm *comm);
void mur_coll_allreduce_ring(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_reduce_rabenseifner(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_reduce_scatter_halving(struct mur_schedule *s, const struct mur_collective *c);
void mur_coll_reduce_scatter_pairwise(struct mur_schedule *s, const struct mur_collective *c);

/* hierarchy/: first on
 * each node, then between nodes */
void mur_hierarchy_barrier(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_bcast(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_bcast_pieces(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_reduce(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_reduce_pieces(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_allreduce(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_reduce_scatter(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_gather(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_scatter(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_allgather(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_alltoall(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_gatherv(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_scatterv(struct mur_schedule *s, const struct mur_collective *c);
void mur_hierarchy_scan(struct mur_schedule *s, const struct mur_collective *c);

#endif
