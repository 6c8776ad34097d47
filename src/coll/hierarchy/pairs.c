/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical all-to-all, for small blocks: leaders gather all that the ranks of their node send, exchange one message
 * with each other leader, and hand out what came. Two steps in between sort blocks:
 *   gathered   [my ranks][all ranks], in the order of ranks     what is sent, one rank after the other
 *   out        for each node: [my ranks][its ranks]             what goes to its leader
 *   in         for each node: [its ranks][my ranks]             what came from its leader
 *   gathered   [my ranks][all ranks]                            what is received */
#include <string.h>

#include "coll/hierarchy/stages.h"

struct exchange {
    const struct mur_nodes *nodes;
    char *gathered, *out, *in;
    size_t bytes; /* of a block */
    int size;
};

static char *gathered_at(const struct exchange *e, int mine, int rank)
{
    return e->gathered + ((size_t)mine * (size_t)e->size + (size_t)rank) * e->bytes;
}

static int sort_out(struct mur_schedule *s, void *argument)
{
    const struct exchange *e = argument;
    int here = mur_nodes_ranks(e->nodes, e->nodes->mine);
    char *out = e->out;

    (void)s;
    for (int node = 0; node < e->nodes->count; node++)
        for (int mine = 0; mine < here; mine++)
            for (int i = 0; i < mur_nodes_ranks(e->nodes, node); i++, out += e->bytes)
                memcpy(out, gathered_at(e, mine, mur_nodes_rank(e->nodes, node, i)), e->bytes);
    return MPI_SUCCESS;
}

static int sort_in(struct mur_schedule *s, void *argument)
{
    const struct exchange *e = argument;
    int here = mur_nodes_ranks(e->nodes, e->nodes->mine);
    const char *in = e->in;

    (void)s;
    for (int node = 0; node < e->nodes->count; node++)
        for (int i = 0; i < mur_nodes_ranks(e->nodes, node); i++)
            for (int mine = 0; mine < here; mine++, in += e->bytes)
                memcpy(gathered_at(e, mine, mur_nodes_rank(e->nodes, node, i)), in, e->bytes);
    return MPI_SUCCESS;
}

static struct exchange *create(struct mur_hierarchy *h, size_t bytes)
{
    struct mur_schedule *s = h->s;
    struct exchange *e = mur_schedule_memory(s, sizeof *e);
    size_t all = bytes * (size_t)s->comm->size * (size_t)h->here;

    if (!e)
        return NULL;
    *e = (struct exchange){.nodes = h->nodes,
                           .gathered = mur_schedule_memory(s, all),
                           .out = mur_schedule_memory(s, all),
                           .in = mur_schedule_memory(s, all),
                           .bytes = bytes,
                           .size = s->comm->size};
    return e->gathered && e->out && e->in ? e : NULL;
}

/* Each pair of leaders exchanges the blocks of all pairs of their ranks. */
static void exchange_leaders(struct mur_hierarchy *h, const struct exchange *e)
{
    struct mur_schedule *s = h->s;
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int count = h->nodes->count;
    MPI_Count *counts = mur_schedule_memory(s, (size_t)count * sizeof *counts);
    MPI_Count *places = mur_schedule_memory(s, (size_t)count * sizeof *places);
    struct mur_collective stage = {.kind = MUR_ALLTOALL, .is_irregular = true};

    if (!counts || !places)
        return;
    for (int node = 0; node < count; node++) {
        places[node] = h->nodes->starts[node] * (MPI_Count)h->here * (MPI_Count)e->bytes;
        counts[node] = mur_nodes_ranks(h->nodes, node) * (MPI_Count)h->here * (MPI_Count)e->bytes;
    }
    stage.from = mur_blocks_irregular(e->out, mur_counts_large(counts), mur_counts_large(places), byte);
    stage.to = mur_blocks_irregular(e->in, mur_counts_large(counts), mur_counts_large(places), byte);
    mur_hierarchy_stage_leaders(h, &stage);
}

void mur_hierarchy_alltoall(struct mur_schedule *s, const struct mur_collective *c)
{
    const struct mur_blocks *from = c->from.buffer == MPI_IN_PLACE ? &c->to : &c->from;
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int size = s->comm->size;
    size_t bytes = (size_t)(c->to.count * c->to.type->size);
    struct mur_collective stage = {.kind = MUR_GATHER};
    struct exchange *e = NULL;
    struct mur_hierarchy h;

    if (!mur_hierarchy_start(&h, s, 0) || (h.is_leader && !(e = create(&h, bytes))))
        return;
    stage.from = mur_blocks_regular(from->buffer, from->count * size, from->type);
    stage.to = mur_blocks_regular(e ? e->gathered : NULL, (MPI_Count)bytes * size, byte);
    mur_hierarchy_stage_node(&h, &stage);
    if (e) {
        mur_schedule_fence(s);
        mur_schedule_call(s, sort_out, e);
        exchange_leaders(&h, e);
        mur_schedule_fence(s);
        mur_schedule_call(s, sort_in, e);
    }
    stage = (struct mur_collective){.kind = MUR_SCATTER};
    stage.from = mur_blocks_regular(e ? e->gathered : NULL, (MPI_Count)bytes * size, byte);
    stage.to = mur_blocks_regular(c->to.buffer, c->to.count * size, c->to.type);
    mur_hierarchy_stage_node(&h, &stage);
}
