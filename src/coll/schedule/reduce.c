/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce: a binomial tree that keeps the order of ranks, towards the root where the operation is commutative, else
 * towards rank 0, which sends the result on. Allreduce: recursive doubling, where the ranks beyond a power of two
 * first fold their data into a neighbour's (Thakur, Rabenseifner and Gropp 2005). All partners compute the same
 * bracketing, so all ranks get the same bits. Reduce-scatter: reduce, then scatter. */
#include "base/settings.h"
#include "coll/choose.h"
#include "coll/schedule/inter.h"
#include "coll/schedule/tree.h"

/* Reduces towards `root` counted as rank 0; the ranks' order is kept from there on. Returns the buffer that holds the
 * result at the root. `mine` may be overwritten. */
static void *reduce_tree(struct mur_schedule *s, void *mine, MPI_Count count, struct mur_type *type, struct mur_op *op,
                         int root)
{
    int size = s->comm->size, me = (s->comm->rank - root + size) % size;
    void *other = size > 1 ? mur_schedule_elements(s, count, type) : NULL;

    if (size > 1 && !other)
        return mine;
    for (int bit = 1; bit < size; bit *= 2) {
        void *left = mine;

        if (me & bit) {
            mur_schedule_fence(s);
            mur_schedule_send(s, mine, count, type, (me - bit + root) % size);
            break;
        }
        if (me + bit >= size)
            continue;
        mur_schedule_fence(s);
        mur_schedule_receive(s, other, count, type, (me + bit + root) % size);
        mur_schedule_fence(s);
        mur_schedule_reduce(s, op, mine, other, count, type); /* mine op theirs, in this order */
        mine = other;
        other = left;
    }
    return mine;
}

void mur_coll_reduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type,
                     struct mur_op *op, int root)
{
    int rank = s->comm->rank, top;
    void *mine, *result;

    if (s->comm->remote) {
        mur_inter_reduce(s, sendbuf, recvbuf, count, type, op, root);
        return;
    }
    if (!count)
        return;
    top = mur_choose_may_reorder(op, type) ? root : 0;
    mine = mur_schedule_elements(s, count, type);
    if (!mine)
        return;
    mur_schedule_copy(s, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type, mine, count, type);
    result = reduce_tree(s, mine, count, type, op, top);
    mur_schedule_fence(s);
    if (top == root) {
        if (rank == root)
            mur_schedule_copy(s, result, count, type, recvbuf, count, type);
    } else if (rank == top) {
        mur_schedule_send(s, result, count, type, root);
    } else if (rank == root) {
        mur_schedule_receive(s, recvbuf, count, type, top);
    }
}

int mur_reduce_top(const struct mur_collective *c)
{
    return mur_choose_may_reorder(c->op, c->from.type) ? c->root : 0;
}

void mur_reduce_by_tree(struct mur_schedule *s, const struct mur_collective *c, const struct mur_tree *tree)
{
    MPI_Count count = c->from.count;
    struct mur_type *type = c->from.type;
    int rank = s->comm->rank, top = mur_reduce_top(c);
    const void *in = c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer;
    void *out = c->to.buffer;

    if (!count)
        return;
    if (rank == top && top != c->root && !(out = mur_schedule_elements(s, count, type)))
        return;
    mur_tree_reduce(s, tree, in, out, count, type, c->op, mur_nodes_piece(mur_nodes_of(s->comm)));
    mur_schedule_fence(s);
    if (rank == top && top != c->root)
        mur_schedule_send(s, out, count, type, c->root);
    else if (rank == c->root && top != c->root)
        mur_schedule_receive(s, out, count, type, top);
}

void mur_coll_reduce_chain(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_tree tree;

    mur_tree_chain(&tree, s->comm->rank, s->comm->size, mur_reduce_top(c));
    mur_reduce_by_tree(s, c, &tree);
}

/* In the order, and with the brackets, of the tree above. */
void mur_coll_reduce_pieces(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_tree tree;

    mur_tree_binomial(&tree, s->comm->rank, s->comm->size, mur_reduce_top(c));
    mur_reduce_by_tree(s, c, &tree);
}

/* All ranks get what the reduction to a single one would give, to the bit. */
void mur_coll_allreduce_at_root(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_collective stage = *c;

    stage.kind = MUR_REDUCE;
    stage.root = 0;
    if (c->from.buffer == MPI_IN_PLACE && s->comm->rank)
        stage.from.buffer = c->to.buffer;
    mur_collective_build(s, &stage);
    mur_schedule_fence(s);
    stage = (struct mur_collective){.kind = MUR_BCAST, .to = c->to};
    mur_collective_build(s, &stage);
}

/* Combines two contiguous ranges of ranks: the lower one's data is the left operand. The result lies in `other` or
 * `mine`; *mine_p and *other_p are swapped accordingly. */
static void combine(struct mur_schedule *s, struct mur_op *op, void **mine_p, void **other_p, bool mine_is_lower,
                    MPI_Count count, struct mur_type *type)
{
    void *mine = *mine_p, *other = *other_p;

    mur_schedule_fence(s);
    if (mine_is_lower) {
        mur_schedule_reduce(s, op, mine, other, count, type);
        *mine_p = other;
        *other_p = mine;
    } else {
        mur_schedule_reduce(s, op, other, mine, count, type);
    }
}

void mur_coll_allreduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                        struct mur_type *type, struct mur_op *op)
{
    int rank = s->comm->rank, size = s->comm->size;
    int power = 1 << (31 - __builtin_clz((unsigned)size));
    int extra = size - power; /* the first 2 * extra ranks work in pairs, the lower one for both */
    void *mine, *other;
    int me;

    if (s->comm->remote) {
        mur_inter_allreduce(s, sendbuf, recvbuf, count, type, op);
        return;
    }
    if (!count)
        return;
    if (size == 1) {
        if (sendbuf != MPI_IN_PLACE)
            mur_schedule_copy(s, sendbuf, count, type, recvbuf, count, type);
        return;
    }
    mine = mur_schedule_elements(s, count, type);
    other = mur_schedule_elements(s, count, type);
    if (!mine || !other)
        return;
    mur_schedule_copy(s, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type, mine, count, type);
    mur_schedule_fence(s);
    if (rank < 2 * extra && rank % 2) {
        mur_schedule_send(s, mine, count, type, rank - 1);
        mur_schedule_fence(s);
        mur_schedule_receive(s, recvbuf, count, type, rank - 1);
        return;
    }
    if (rank < 2 * extra) {
        mur_schedule_receive(s, other, count, type, rank + 1);
        combine(s, op, &mine, &other, true, count, type);
    }
    me = rank < 2 * extra ? rank / 2 : rank - extra;
    for (int bit = 1; bit < power; bit *= 2) {
        int partner = (me ^ bit) < extra ? (me ^ bit) * 2 : (me ^ bit) + extra;

        mur_schedule_fence(s);
        mur_schedule_receive(s, other, count, type, partner);
        mur_schedule_send(s, mine, count, type, partner);
        combine(s, op, &mine, &other, me < (me ^ bit), count, type);
    }
    mur_schedule_fence(s);
    mur_schedule_copy(s, mine, count, type, recvbuf, count, type);
    if (rank < 2 * extra)
        mur_schedule_send(s, mine, count, type, rank + 1);
}

void mur_coll_deal(struct mur_schedule *s, const char *all, void *recvbuf, const struct mur_blocks *blocks)
{
    struct mur_type *type = blocks->type;
    int rank = s->comm->rank;
    MPI_Count place = 0;

    if (rank) {
        mur_schedule_receive(s, recvbuf, mur_block_count(blocks, rank), type, 0);
        return;
    }
    for (int i = 0; i < s->comm->size; i++) {
        MPI_Count count = mur_block_count(blocks, i);

        if (i)
            mur_schedule_send(s, all + place * type->extent, count, type, i);
        else
            mur_schedule_copy(s, all, count, type, recvbuf, count, type);
        place += count;
    }
}

void mur_coll_reduce_scatter(struct mur_schedule *s, const void *sendbuf, void *recvbuf,
                             const struct mur_blocks *blocks, struct mur_op *op)
{
    struct mur_type *type = blocks->type;
    MPI_Count total;
    char *mine;

    if (s->comm->remote) {
        mur_inter_reduce_scatter(s, sendbuf, recvbuf, blocks, op);
        return;
    }
    total = mur_blocks_count(blocks, s->comm->size);
    mine = total ? mur_schedule_elements(s, total, type) : NULL;
    if (!mine)
        return;
    mur_schedule_copy(s, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, total, type, mine, total, type);
    mine = reduce_tree(s, mine, total, type, op, 0);
    mur_schedule_fence(s);
    mur_coll_deal(s, mine, recvbuf, blocks);
}
