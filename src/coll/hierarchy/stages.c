/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on several nodes with several ranks: what ranks of a node have in common crosses the network once. First
 * the ranks of each node, by shared memory, then one leader of each, then the node again. Operands stay in the order of
 * ranks where nodes are contiguous and the leaders the lowest ranks. */
#include "coll/hierarchy/stages.h"

#include "base/settings.h"
#include "coll/choose.h"
#include "coll/schedule/tree.h"

bool mur_hierarchy_start(struct mur_hierarchy *h, struct mur_schedule *s, int root)
{
    const struct mur_nodes *nodes = mur_nodes_of(s->comm);
    int top = nodes->node_of[root], first = 0;

    *h = (struct mur_hierarchy){.s = s, .nodes = nodes, .here = mur_nodes_ranks(nodes, nodes->mine)};
    h->leaders = mur_schedule_memory(s, (size_t)nodes->count * sizeof *h->leaders);
    if (!h->leaders)
        return false;
    for (int node = 0; node < nodes->count; node++)
        h->leaders[node] = mur_nodes_rank(nodes, node, 0);
    h->leaders[top] = root;
    while (mur_nodes_rank(nodes, nodes->mine, first) != h->leaders[nodes->mine])
        first++;
    h->leader = first;
    h->is_leader = nodes->me == first;
    return true;
}

void mur_hierarchy_lead_by_last(struct mur_hierarchy *h)
{
    for (int node = 0; node < h->nodes->count; node++)
        h->leaders[node] = mur_nodes_rank(h->nodes, node, mur_nodes_ranks(h->nodes, node) - 1);
    h->leader = h->here - 1;
    h->is_leader = h->nodes->me == h->leader;
}

void mur_hierarchy_stage_node(struct mur_hierarchy *h, const struct mur_collective *c)
{
    mur_schedule_fence(h->s);
    mur_hierarchy_team_enter_node(&h->team, h->s);
    mur_collective_build(h->s, c);
    mur_hierarchy_team_leave(&h->team, h->s);
}

void mur_hierarchy_stage_leaders(struct mur_hierarchy *h, const struct mur_collective *c)
{
    mur_schedule_fence(h->s);
    mur_hierarchy_team_enter(&h->team, h->s, h->leaders, h->nodes->count, h->nodes->mine, true);
    mur_collective_build(h->s, c);
    mur_hierarchy_team_leave(&h->team, h->s);
}

/* The ranks of a node tell its leader, in the end the leader them: data of no bytes up and down a tree. */
void mur_hierarchy_barrier(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    struct mur_hierarchy h;
    struct mur_tree tree;

    if (!mur_hierarchy_start(&h, s, 0))
        return;
    mur_tree_binomial(&tree, h.nodes->me, h.here, 0);
    mur_hierarchy_team_enter_node(&h.team, s);
    mur_tree_reduce(s, &tree, NULL, NULL, 0, byte, NULL, 0);
    mur_hierarchy_team_leave(&h.team, s);
    if (h.is_leader)
        mur_hierarchy_stage_leaders(&h, c);
    mur_schedule_fence(s);
    mur_hierarchy_team_enter_node(&h.team, s);
    mur_tree_bcast(s, &tree, NULL, 0, byte, 0);
    mur_hierarchy_team_leave(&h.team, s);
}

void mur_hierarchy_bcast(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_collective stage = *c;
    struct mur_hierarchy h;

    if (!mur_hierarchy_start(&h, s, c->root))
        return;
    stage.root = h.nodes->node_of[c->root];
    if (h.is_leader)
        mur_hierarchy_stage_leaders(&h, &stage);
    stage.root = h.leader;
    if (h.here > 1)
        mur_hierarchy_stage_node(&h, &stage);
}

void mur_hierarchy_bcast_pieces(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_tree tree;

    mur_tree_of_nodes(&tree, mur_nodes_of(s->comm), s->comm->rank, c->root);
    mur_tree_bcast(s, &tree, c->to.buffer, c->to.count, c->to.type, mur_nodes_piece(mur_nodes_of(s->comm)));
}

/* What this rank contributes. */
static const void *input(const struct mur_collective *c)
{
    return c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer;
}

/* Reduces on the node; what its leader goes on with is the result. */
static const void *reduce_here(struct mur_hierarchy *h, const struct mur_collective *c, MPI_Count count)
{
    struct mur_type *type = c->from.type;
    struct mur_collective stage = {.kind = MUR_REDUCE, .op = c->op, .root = h->leader};
    void *sum = NULL;

    if (h->here == 1)
        return input(c);
    if (h->is_leader)
        sum = mur_schedule_elements(h->s, count, type);
    stage.from = mur_blocks_regular(input(c), count, type);
    stage.to = mur_blocks_regular(sum, count, type);
    mur_hierarchy_stage_node(h, &stage);
    return sum;
}

/* With an operation that is not commutative the leaders must be the lowest ranks, and the one of the root's node passes
 * the result on. */
void mur_hierarchy_reduce(struct mur_schedule *s, const struct mur_collective *c)
{
    MPI_Count count = c->from.count;
    struct mur_type *type = c->from.type;
    struct mur_collective stage = *c;
    struct mur_hierarchy h;
    int rank = s->comm->rank, top;

    if (!count || !mur_hierarchy_start(&h, s, 0))
        return;
    if (mur_choose_may_reorder(c->op, type) && !mur_hierarchy_start(&h, s, c->root))
        return;
    stage.root = h.nodes->node_of[c->root];
    top = h.leaders[stage.root];
    stage.from = mur_blocks_regular(reduce_here(&h, c, count), count, type);
    if (!h.is_leader && rank == c->root) {
        mur_schedule_fence(s);
        mur_schedule_receive(s, c->to.buffer, count, type, top);
    }
    if (!h.is_leader)
        return;
    if (rank == top && rank != c->root)
        stage.to = mur_blocks_regular(mur_schedule_elements(s, count, type), count, type);
    if (stage.from.buffer == stage.to.buffer) /* a node of one rank, in place */
        stage.from.buffer = MPI_IN_PLACE;
    mur_hierarchy_stage_leaders(&h, &stage);
    if (rank == top && rank != c->root) {
        mur_schedule_fence(s);
        mur_schedule_send(s, stage.to.buffer, count, type, c->root);
    }
}

void mur_hierarchy_reduce_pieces(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_tree tree;

    mur_tree_of_nodes(&tree, mur_nodes_of(s->comm), s->comm->rank, mur_reduce_top(c));
    mur_reduce_by_tree(s, c, &tree);
}

void mur_hierarchy_allreduce(struct mur_schedule *s, const struct mur_collective *c)
{
    MPI_Count count = c->from.count;
    struct mur_collective stage = *c;
    struct mur_hierarchy h;

    if (!count || !mur_hierarchy_start(&h, s, 0))
        return;
    stage.from.buffer = (char *)reduce_here(&h, c, count);
    if (stage.from.buffer == c->to.buffer)
        stage.from.buffer = MPI_IN_PLACE;
    if (h.is_leader)
        mur_hierarchy_stage_leaders(&h, &stage);
    stage = (struct mur_collective){.kind = MUR_BCAST, .to = c->to};
    if (h.here > 1)
        mur_hierarchy_stage_node(&h, &stage);
}
