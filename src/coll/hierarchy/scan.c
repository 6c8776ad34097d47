/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical scan and exscan, where the ranks of each node are consecutive. The last rank of a node has the sum of
 * all its ranks and is its leader; an exscan of the leaders gives each node the sum of all nodes before, which is put
 * before what the node's ranks have. */
#include "coll/hierarchy/stages.h"

struct scan {
    struct mur_hierarchy h;
    void *within; /* the sum of the ranks of this node up to this one; of an exscan, of those before this one */
    void *before; /* the sum of all nodes before */
    MPI_Count count;
    struct mur_type *type;
    struct mur_op *op;
};

static struct mur_collective stage_of(const struct scan *scan, enum mur_collective_kind kind, const void *in, void *out)
{
    return (struct mur_collective){.kind = kind,
                                   .from = mur_blocks_regular(in, scan->count, scan->type),
                                   .to = mur_blocks_regular(out, scan->count, scan->type),
                                   .op = scan->op};
}

static bool start(struct scan *scan, struct mur_schedule *s, const struct mur_collective *c)
{
    scan->count = c->from.count;
    scan->type = c->from.type;
    scan->op = c->op;
    if (!mur_hierarchy_start(&scan->h, s, 0))
        return false;
    mur_hierarchy_lead_by_last(&scan->h);
    scan->within = mur_schedule_elements(s, scan->count, scan->type);
    scan->before = mur_schedule_elements(s, scan->count, scan->type);
    return scan->within && scan->before;
}

/* Among the ranks of this node. Returns what the leader has of all of them. */
static const void *scan_here(struct scan *scan, const struct mur_collective *c, const void *data)
{
    struct mur_collective stage = stage_of(scan, c->kind, data, scan->within);
    struct mur_schedule *s = scan->h.s;
    bool is_inclusive = c->kind == MUR_SCAN;
    void *sum;

    if (scan->h.here > 1)
        mur_hierarchy_stage_node(&scan->h, &stage);
    else if (is_inclusive)
        mur_schedule_copy(s, data, scan->count, scan->type, scan->within, scan->count, scan->type);
    if (is_inclusive || !scan->h.is_leader)
        return scan->within;
    sum = mur_schedule_elements(s, scan->count, scan->type);
    if (!sum)
        return NULL;
    mur_schedule_fence(s);
    mur_schedule_copy(s, data, scan->count, scan->type, sum, scan->count, scan->type);
    if (scan->h.here > 1)
        mur_schedule_reduce(s, c->op, scan->within, sum, scan->count, scan->type);
    return sum;
}

/* Gives the ranks of this node what was before it; nothing was before the first. */
static void spread_before(struct scan *scan)
{
    struct mur_collective stage = stage_of(scan, MUR_BCAST, NULL, scan->before);

    stage.root = scan->h.leader;
    if (scan->h.nodes->mine && scan->h.here > 1)
        mur_hierarchy_stage_node(&scan->h, &stage);
}

void mur_hierarchy_scan(struct mur_schedule *s, const struct mur_collective *c)
{
    const void *data = c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer, *sum;
    bool has_within, has_before;
    struct mur_collective stage;
    struct scan scan;

    if (!c->from.count || !start(&scan, s, c) || !(sum = scan_here(&scan, c, data)))
        return;
    stage = stage_of(&scan, MUR_EXSCAN, sum, scan.before);
    if (scan.h.is_leader)
        mur_hierarchy_stage_leaders(&scan.h, &stage);
    spread_before(&scan);
    has_within = c->kind == MUR_SCAN || scan.h.nodes->me;
    has_before = scan.h.nodes->mine;
    mur_schedule_fence(s);
    if (has_within && has_before)
        mur_schedule_reduce(s, c->op, scan.before, scan.within, scan.count, scan.type);
    if (has_within || has_before) /* the first rank of an exscan has nothing */
        mur_schedule_copy(s, has_within ? scan.within : scan.before, scan.count, scan.type, c->to.buffer, scan.count,
                          scan.type);
}
