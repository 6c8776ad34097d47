/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees over the ranks of a communicator, and broadcasts and reductions along them, piece by piece. */
#ifndef MUR_COLL_TREE_H
#define MUR_COLL_TREE_H

#include "coll/hierarchy/nodes.h"

enum { MUR_TREE_CHILDREN = 64 };

/* One rank's place. The children come in the order of their ranks counted from the root: with the root at rank 0 the
 * subtrees of a rank follow on it and on each other without a gap, so operands keep their order. */
struct mur_tree {
    int parent; /* -1 at the root */
    int count;
    int children[MUR_TREE_CHILDREN];
};

void mur_tree_binomial(struct mur_tree *tree, int rank, int size, int root);
void mur_tree_chain(struct mur_tree *tree, int rank, int size, int root);

/* A chain of nodes; on each a binomial tree, whose root is the lowest rank, or `root` on its own node. The order is
 * that of ranks where nodes are contiguous and the root is rank 0. */
void mur_tree_of_nodes(struct mur_tree *tree, const struct mur_nodes *nodes, int rank, int root);

/* The largest piece in bytes (a piece has at least one element); 0: all data are one piece. */
void mur_tree_bcast(struct mur_schedule *s, const struct mur_tree *tree, void *buffer, MPI_Count count,
                    struct mur_type *type, size_t piece);

/* `in` stays as it is. `out` matters at the root only; the same as `in` there: in place. */
void mur_tree_reduce(struct mur_schedule *s, const struct mur_tree *tree, const void *in, void *out, MPI_Count count,
                     struct mur_type *type, struct mur_op *op, size_t piece);

#endif
