/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelining: while a rank receives one piece, it passes on the one before, so that a large message takes little longer
 * through many ranks than over one link. A round is one piece. */
#include "coll/schedule/tree.h"

static void add_child(struct mur_tree *tree, int rank)
{
    tree->children[tree->count++] = rank;
}

/* Among `size` ranks counted from the root: the parent loses the lowest set bit. */
static int binomial(int me, int size, int children[], int *count)
{
    int bit = 1;

    *count = 0;
    for (; bit < size && !(me & bit); bit *= 2)
        if (me + bit < size)
            children[(*count)++] = me + bit;
    return me ? me - bit : -1;
}

void mur_tree_binomial(struct mur_tree *tree, int rank, int size, int root)
{
    tree->parent = binomial((rank - root + size) % size, size, tree->children, &tree->count);
    if (tree->parent >= 0)
        tree->parent = (tree->parent + root) % size;
    for (int i = 0; i < tree->count; i++)
        tree->children[i] = (tree->children[i] + root) % size;
}

void mur_tree_chain(struct mur_tree *tree, int rank, int size, int root)
{
    tree->parent = rank == root ? -1 : (rank - 1 + size) % size;
    tree->count = 0;
    if ((rank + 1) % size != root)
        add_child(tree, (rank + 1) % size);
}

void mur_tree_of_nodes(struct mur_tree *tree, const struct mur_nodes *nodes, int rank, int root)
{
    int node = nodes->node_of[rank], ranks = mur_nodes_ranks(nodes, node);
    int top_node = nodes->node_of[root], before = (node - 1 + nodes->count) % nodes->count;
    int after = (node + 1) % nodes->count, first = 0;
    struct mur_tree here;

    while (node == top_node && mur_nodes_rank(nodes, node, first) != root)
        first++;
    mur_tree_binomial(&here, nodes->me, ranks, first);
    tree->count = 0;
    for (int i = 0; i < here.count; i++)
        add_child(tree, mur_nodes_rank(nodes, node, here.children[i]));
    if (here.parent >= 0) {
        tree->parent = mur_nodes_rank(nodes, node, here.parent);
        return;
    }
    tree->parent = node == top_node ? -1 : before == top_node ? root : mur_nodes_rank(nodes, before, 0);
    if (after != top_node)
        add_child(tree, mur_nodes_rank(nodes, after, 0));
}

/* How many units of `bytes` make a piece, and how many pieces there are: one at least. */
static MPI_Count cut(MPI_Count units, MPI_Count bytes, size_t piece, MPI_Count *unit_count)
{
    *unit_count = !piece || bytes <= 0 ? units : (MPI_Count)piece / bytes;
    if (*unit_count < 1)
        *unit_count = 1;
    return units <= *unit_count ? 1 : (units + *unit_count - 1) / *unit_count;
}

static MPI_Count least(MPI_Count a, MPI_Count b)
{
    return a < b ? a : b;
}

void mur_tree_bcast(struct mur_schedule *s, const struct mur_tree *tree, void *buffer, MPI_Count count,
                    struct mur_type *type, size_t piece)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    MPI_Count bytes = count * type->size, step, pieces = cut(bytes, 1, piece, &step);
    char *data = type->is_dense ? buffer : mur_schedule_memory(s, (size_t)bytes);
    bool is_root = tree->parent < 0;

    if (!type->is_dense && !data)
        return;
    if (is_root && !type->is_dense)
        mur_schedule_copy(s, buffer, count, type, data, bytes, byte);
    for (MPI_Count round = is_root; round <= pieces; round++) {
        if (round > is_root && tree->count) /* who passes nothing on takes all at once */
            mur_schedule_fence(s);
        if (!is_root && round < pieces)
            mur_schedule_receive(s, data + round * step, least(step, bytes - round * step), byte, tree->parent);
        for (int i = tree->count - 1; round && i >= 0; i--)
            mur_schedule_send(s, data + (round - 1) * step, least(step, bytes - (round - 1) * step), byte,
                              tree->children[i]);
    }
    if (!is_root && !type->is_dense) {
        mur_schedule_fence(s);
        mur_schedule_copy(s, data, bytes, byte, buffer, count, type);
    }
}

struct reduction {
    struct mur_schedule *s;
    const struct mur_tree *tree;
    const char *in;
    char *out;
    char *taken[MUR_TREE_CHILDREN][2]; /* what has come from the children, of two pieces in turns */
    MPI_Count count, step;             /* elements, in all and in a piece */
    struct mur_type *type;
    struct mur_op *op;
};

static MPI_Count elements_of(const struct reduction *r, MPI_Count piece)
{
    return least(r->step, r->count - piece * r->step);
}

/* Where the data of a child goes, and with it the result so far. At the root the last is the end result. */
static char *place(const struct reduction *r, int child, MPI_Count piece)
{
    if (r->tree->parent < 0 && r->in != r->out && child == r->tree->count - 1)
        return r->out + piece * r->step * r->type->extent;
    return r->taken[child][piece % 2];
}

static void receive_piece(const struct reduction *r, MPI_Count piece)
{
    for (int i = 0; i < r->tree->count; i++)
        mur_schedule_receive(r->s, place(r, i, piece), elements_of(r, piece), r->type, r->tree->children[i]);
}

static void pass_piece(const struct reduction *r, MPI_Count piece)
{
    MPI_Count first = piece * r->step * r->type->extent, count = elements_of(r, piece);
    const char *result = r->in + first;

    for (int i = 0; i < r->tree->count; i++) {
        if (r->count)
            mur_schedule_reduce(r->s, r->op, result, place(r, i, piece), count, r->type);
        result = place(r, i, piece);
    }
    if (r->tree->parent >= 0)
        mur_schedule_send(r->s, result, count, r->type, r->tree->parent);
    else if (result != r->out + first && r->count)
        mur_schedule_copy(r->s, result, count, r->type, r->out + first, count, r->type);
}

void mur_tree_reduce(struct mur_schedule *s, const struct mur_tree *tree, const void *in, void *out, MPI_Count count,
                     struct mur_type *type, struct mur_op *op, size_t piece)
{
    struct reduction r = {.s = s, .tree = tree, .in = in, .out = out, .count = count, .type = type, .op = op};
    MPI_Count pieces = cut(count, type->size, piece, &r.step);

    for (int i = 0; i < tree->count; i++)
        for (int turn = 0; turn < (pieces > 1 ? 2 : 1); turn++) {
            r.taken[i][turn] = mur_schedule_elements(s, r.step, type);
            if (!r.taken[i][turn])
                return;
        }
    for (MPI_Count round = 0; round <= pieces; round++) {
        if (round && tree->count)
            mur_schedule_fence(s);
        if (round < pieces)
            receive_piece(&r, round);
        if (round)
            pass_piece(&r, round - 1);
    }
}
