/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical collectives of blocks. Leaders handle the blocks of a node as one run of bytes, in the order of the
 * node's ranks; a list of all ranks in this order, node after node, says where each block lies. */
#include "coll/hierarchy/stages.h"

/* The bytes before the block of each rank in the order of nodes, and of all. `varied` is NULL where blocks are alike.
 */
static MPI_Count *place_bytes(struct mur_hierarchy *h, MPI_Count bytes, const struct mur_blocks *varied)
{
    int size = h->s->comm->size;
    MPI_Count *places = mur_schedule_memory(h->s, ((size_t)size + 1) * sizeof *places);

    if (!places)
        return NULL;
    places[0] = 0;
    for (int i = 0; i < size; i++)
        places[i + 1] =
            places[i] + (varied ? mur_block_count(varied, h->nodes->members[i]) * varied->type->size : bytes);
    return places;
}

static struct mur_blocks bytes_blocks(void *buffer, MPI_Count bytes)
{
    return mur_blocks_regular(buffer, bytes, mur_type_find(MPI_BYTE));
}

/* One block of bytes for each of `count` ranks or nodes, whose starts are starts[0..count] (or, with `groups`, at
 * starts[groups[i]]), where the run begins at `run`. */
static bool varied_blocks(struct mur_schedule *s, char *run, const MPI_Count *starts, const int *groups, int count,
                          struct mur_blocks *blocks)
{
    MPI_Count *counts = mur_schedule_memory(s, (size_t)count * sizeof *counts);
    MPI_Count *places = mur_schedule_memory(s, (size_t)count * sizeof *places);

    if (!counts || !places)
        return false;
    for (int i = 0; i < count; i++) {
        places[i] = starts[groups ? groups[i] : i];
        counts[i] = starts[groups ? groups[i + 1] : i + 1] - places[i];
        places[i] -= starts[groups ? groups[0] : 0];
    }
    *blocks = mur_blocks_irregular(run, mur_counts_large(counts), mur_counts_large(places), mur_type_find(MPI_BYTE));
    return true;
}

/* Copies between a run of bytes, whose blocks begin at starts[k], and the blocks of the ranks that belong there. */
static void copy_blocks(struct mur_hierarchy *h, char *run, const MPI_Count *starts, const struct mur_blocks *blocks,
                        bool is_out)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int size = h->s->comm->size;

    for (int i = 0; i < size; i++) {
        int rank = h->nodes->members[i];
        MPI_Count bytes = starts[i + 1] - starts[i], count = mur_block_count(blocks, rank);

        if (bytes && is_out)
            mur_schedule_copy(h->s, run + starts[i], bytes, byte, mur_block(blocks, rank), count, blocks->type);
        else if (bytes)
            mur_schedule_copy(h->s, mur_block(blocks, rank), count, blocks->type, run + starts[i], bytes, byte);
    }
}

/* Whether the blocks lie in memory as their run of bytes would. */
static bool is_run(const struct mur_hierarchy *h, const struct mur_blocks *blocks)
{
    return h->nodes->is_contiguous && !blocks->is_irregular && blocks->type->is_dense;
}

void mur_hierarchy_gather(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int rank = s->comm->rank, root = c->root;
    bool is_in_place = c->from.buffer == MPI_IN_PLACE;
    MPI_Count bytes = is_in_place ? c->to.count * c->to.type->size : c->from.count * c->from.type->size, *starts;
    struct mur_collective stage = {.kind = MUR_GATHER, .from = c->from};
    struct mur_hierarchy h;
    char *run, *here;

    if (!mur_hierarchy_start(&h, s, root) || !(starts = place_bytes(&h, bytes, NULL)))
        return;
    if (is_in_place)
        stage.from = mur_blocks_regular(mur_block(&c->to, rank), c->to.count, c->to.type);
    if (h.here == 1 && rank != root) {
        mur_schedule_send(s, c->from.buffer, c->from.count, c->from.type, root);
        return;
    }
    run = !h.is_leader ? NULL : mur_schedule_memory(s, (size_t)(rank == root ? starts[s->comm->size] : h.here * bytes));
    if (h.is_leader && !run)
        return;
    here = rank == root ? run + starts[h.nodes->starts[h.nodes->mine]] : run;
    for (int node = 0; rank == root && node < h.nodes->count; node++) {
        MPI_Count start = starts[h.nodes->starts[node]];

        if (node != h.nodes->mine)
            mur_schedule_receive(s, run + start, starts[h.nodes->starts[node + 1]] - start, byte, h.leaders[node]);
    }
    stage.to = bytes_blocks(here, bytes);
    stage.root = h.leader;
    mur_hierarchy_stage_node(&h, &stage);
    mur_schedule_fence(s);
    if (rank == root)
        copy_blocks(&h, run, starts, &c->to, true);
    else if (h.is_leader)
        mur_schedule_send(s, run, h.here * bytes, byte, root);
}

void mur_hierarchy_scatter(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int rank = s->comm->rank, root = c->root;
    bool is_in_place = c->to.buffer == MPI_IN_PLACE;
    MPI_Count bytes = is_in_place ? c->from.count * c->from.type->size : c->to.count * c->to.type->size, *starts;
    struct mur_collective stage = {.kind = MUR_SCATTER, .to = c->to};
    struct mur_hierarchy h;
    char *run, *here;

    if (!mur_hierarchy_start(&h, s, root) || !(starts = place_bytes(&h, bytes, NULL)))
        return;
    if (h.here == 1 && rank != root) {
        mur_schedule_receive(s, c->to.buffer, c->to.count, c->to.type, root);
        return;
    }
    run = !h.is_leader ? NULL : mur_schedule_memory(s, (size_t)(rank == root ? starts[s->comm->size] : h.here * bytes));
    if (h.is_leader && !run)
        return;
    here = rank == root ? run + starts[h.nodes->starts[h.nodes->mine]] : run;
    if (rank == root)
        copy_blocks(&h, run, starts, &c->from, false);
    else if (h.is_leader)
        mur_schedule_receive(s, run, h.here * bytes, byte, root);
    for (int node = 0; rank == root && node < h.nodes->count; node++) {
        MPI_Count start = starts[h.nodes->starts[node]];

        if (node != h.nodes->mine)
            mur_schedule_send(s, run + start, starts[h.nodes->starts[node + 1]] - start, byte, h.leaders[node]);
    }
    stage.from = bytes_blocks(here, bytes);
    stage.root = h.leader;
    if (h.here > 1)
        mur_hierarchy_stage_node(&h, &stage);
    else if (!is_in_place)
        mur_schedule_copy(s, here, bytes, byte, c->to.buffer, c->to.count, c->to.type);
}

/* The bytes of every node where all have as many; else -1. */
static MPI_Count bytes_of_each(const struct mur_hierarchy *h, const MPI_Count *starts)
{
    const int *nodes = h->nodes->starts;

    for (int node = 1; node < h->nodes->count; node++)
        if (starts[nodes[node + 1]] - starts[nodes[node]] != starts[nodes[1]])
            return -1;
    return starts[nodes[1]];
}

/* Adds the stages of an allgather: `run` is all blocks in the order of nodes. */
static void allgather_stages(struct mur_hierarchy *h, const struct mur_collective *c, char *run,
                             const MPI_Count *starts)
{
    struct mur_schedule *s = h->s;
    const int *nodes = h->nodes->starts;
    int first = nodes[h->nodes->mine], rank = s->comm->rank;
    struct mur_collective stage = {.kind = MUR_GATHER, .is_irregular = true, .from = c->from, .root = h->leader};

    if (c->from.buffer == MPI_IN_PLACE)
        stage.from = mur_blocks_regular(mur_block(&c->to, rank), mur_block_count(&c->to, rank), c->to.type);
    if (c->from.buffer == MPI_IN_PLACE && h->is_leader && is_run(h, &c->to))
        stage.from.buffer = MPI_IN_PLACE;
    if (!varied_blocks(s, run + starts[first], starts + first, NULL, h->here, &stage.to))
        return;
    mur_hierarchy_stage_node(h, &stage);
    stage = (struct mur_collective){.kind = MUR_ALLGATHER};
    stage.from.buffer = MPI_IN_PLACE;
    if (bytes_of_each(h, starts) >= 0)
        stage.to = bytes_blocks(run, bytes_of_each(h, starts));
    else if (!varied_blocks(s, run, starts, nodes, h->nodes->count, &stage.to))
        return;
    if (h->is_leader)
        mur_hierarchy_stage_leaders(h, &stage);
    stage = (struct mur_collective){.kind = MUR_BCAST, .to = bytes_blocks(run, starts[s->comm->size])};
    if (h->here > 1)
        mur_hierarchy_stage_node(h, &stage);
}

void mur_hierarchy_allgather(struct mur_schedule *s, const struct mur_collective *c)
{
    const struct mur_blocks *varied = c->to.is_irregular ? &c->to : NULL;
    struct mur_hierarchy h;
    MPI_Count *starts;
    char *run;

    if (!mur_hierarchy_start(&h, s, 0) || !(starts = place_bytes(&h, c->to.count * c->to.type->size, varied)))
        return;
    run = is_run(&h, &c->to) ? c->to.buffer : mur_schedule_memory(s, (size_t)starts[s->comm->size]);
    if (!run && !is_run(&h, &c->to))
        return;
    allgather_stages(&h, c, run, starts);
    if (run == c->to.buffer)
        return;
    mur_schedule_fence(s);
    copy_blocks(&h, run, starts, &c->to, true);
}

/* A copy of a vector whose blocks, in the order of ranks, come in that of nodes; NULL: no memory. */
static char *sort_elements(struct mur_hierarchy *h, const char *vector, const struct mur_blocks *blocks,
                           const MPI_Count *starts)
{
    struct mur_schedule *s = h->s;
    int size = s->comm->size;
    char *sorted = mur_schedule_elements(s, starts[size], blocks->type);
    MPI_Count *places = mur_schedule_memory(s, (size_t)size * sizeof *places), place = 0;

    if (!sorted || !places)
        return NULL;
    for (int rank = 0; rank < size; rank++) {
        places[rank] = place * blocks->type->extent;
        place += mur_block_count(blocks, rank);
    }
    for (int i = 0; i < size; i++) {
        MPI_Count count = starts[i + 1] - starts[i];

        mur_schedule_copy(s, vector + places[h->nodes->members[i]], count, blocks->type,
                          sorted + starts[i] * blocks->type->extent, count, blocks->type);
    }
    return sorted;
}

/* The leader's part of the result goes to the ranks of its node; it begins with what is at starts[0] of the whole. */
static void hand_out(struct mur_hierarchy *h, const struct mur_collective *c, char *part, const MPI_Count *starts)
{
    struct mur_type *type = c->to.type;
    MPI_Count mine = mur_block_count(&c->to, h->s->comm->rank);
    struct mur_collective stage = {.kind = MUR_SCATTER, .is_irregular = true};

    if (!varied_blocks(h->s, part, starts, NULL, h->here, &stage.from))
        return;
    stage.from.type = type;
    stage.to = mur_blocks_regular(c->to.buffer, mine, type);
    mur_hierarchy_stage_node(h, &stage);
}

/* Among the leaders: each gets the sum of what the ranks of its node need. */
static char *reduce_scatter_leaders(struct mur_hierarchy *h, const struct mur_collective *c, char *sum,
                                    const MPI_Count *starts)
{
    struct mur_type *type = c->to.type;
    struct mur_collective stage = {.kind = MUR_REDUCE_SCATTER, .op = c->op};
    const int *nodes = h->nodes->starts;
    int mine = h->nodes->mine;
    char *part = mur_schedule_elements(h->s, starts[nodes[mine + 1]] - starts[nodes[mine]], type);

    mur_schedule_fence(h->s);
    if (!h->nodes->is_contiguous)
        sum = sort_elements(h, sum, &c->to, starts);
    if (!part || !varied_blocks(h->s, part, starts, nodes, h->nodes->count, &stage.to))
        return part;
    stage.to.type = type;
    stage.from = mur_blocks_regular(sum, 0, type);
    mur_hierarchy_stage_leaders(h, &stage);
    return part;
}

/* The whole is reduced on each node; leaders reduce what the other nodes need of it, and hand out their own part. */
void mur_hierarchy_reduce_scatter(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *type = c->to.type;
    int size = s->comm->size;
    struct mur_collective stage = {.kind = MUR_REDUCE, .op = c->op};
    struct mur_hierarchy h;
    MPI_Count *starts;
    char *sum = c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer, *part = NULL;

    if (!mur_hierarchy_start(&h, s, 0) || !(starts = mur_schedule_memory(s, ((size_t)size + 1) * sizeof *starts)))
        return;
    starts[0] = 0;
    for (int i = 0; i < size; i++)
        starts[i + 1] = starts[i] + mur_block_count(&c->to, h.nodes->members[i]);
    if (!starts[size])
        return;
    if (h.here > 1) {
        stage.from = mur_blocks_regular(sum, starts[size], type);
        sum = h.is_leader ? mur_schedule_elements(s, starts[size], type) : NULL;
        stage.to = mur_blocks_regular(sum, starts[size], type);
        mur_hierarchy_stage_node(&h, &stage);
    }
    if (h.is_leader)
        part = reduce_scatter_leaders(&h, c, sum, starts);
    hand_out(&h, c, part, starts + h.nodes->starts[h.nodes->mine]);
}
