/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce-scatter with commutative operations; the counts may differ, all ranks know them.
 *
 * Recursive halving: in each of log2(ranks) rounds partners give each other the half of what they have left that the
 * other one needs; the ranks beyond a power of two fold their data into a neighbour's first.
 * Pairwise: every rank gets its block from each of the others directly; nothing is sent twice. */
#include "coll/algorithms.h"

/* The first element of each rank's block, and the end of the last one. */
static MPI_Count *place_blocks(struct mur_schedule *s, const struct mur_blocks *blocks)
{
    MPI_Count *places = mur_schedule_memory(s, ((size_t)s->comm->size + 1) * sizeof *places);

    if (places)
        places[0] = 0;
    for (int i = 0; places && i < s->comm->size; i++)
        places[i + 1] = places[i] + mur_block_count(blocks, i);
    return places;
}

static const char *input(const struct mur_collective *c)
{
    return c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer;
}

/* The ranks that work as numbers below `v` of the power of two: of the first ones each works for two. */
static int ranks_below(int v, int extra)
{
    return v < extra ? 2 * v : v + extra;
}

struct halving {
    struct mur_schedule *s;
    const MPI_Count *places;
    char *mine, *other;
    struct mur_type *type;
    struct mur_op *op;
    int extra;
};

/* Of the numbers [low, high): the elements of their blocks, and where they begin. */
static MPI_Count extent_of(const struct halving *h, int low, int high, MPI_Count *start)
{
    *start = h->places[ranks_below(low, h->extra)];
    return h->places[ranks_below(high, h->extra)] - *start;
}

static void halve(const struct halving *h, int me, int power)
{
    int low = 0, high = power;

    for (int bit = power / 2; bit >= 1; bit /= 2) {
        int middle = (low + high) / 2, partner = ranks_below(me ^ bit, h->extra);
        bool is_upper = me & bit;
        MPI_Count start, count = extent_of(h, is_upper ? low : middle, is_upper ? middle : high, &start);

        mur_schedule_fence(h->s);
        mur_schedule_send(h->s, h->mine + start * h->type->extent, count, h->type, partner);
        if (is_upper)
            low = middle;
        else
            high = middle;
        count = extent_of(h, low, high, &start);
        mur_schedule_receive(h->s, h->other + start * h->type->extent, count, h->type, partner);
        mur_schedule_fence(h->s);
        mur_schedule_reduce(h->s, h->op, h->other + start * h->type->extent, h->mine + start * h->type->extent, count,
                            h->type);
    }
}

void mur_coll_reduce_scatter_halving(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *type = c->to.type;
    int rank = s->comm->rank, size = s->comm->size;
    int power = 1 << (31 - __builtin_clz((unsigned)size)), extra = size - power;
    MPI_Count *places = place_blocks(s, &c->to), total = places ? places[size] : 0;
    struct halving h = {.s = s, .places = places, .type = type, .op = c->op, .extra = extra};
    bool is_folded = rank < 2 * extra, is_away = is_folded && rank % 2;
    MPI_Count mine;

    if (!total)
        return;
    mine = places[rank + 1] - places[rank];
    if (is_away) {
        mur_schedule_send(s, input(c), total, type, rank - 1);
        mur_schedule_fence(s);
        mur_schedule_receive(s, c->to.buffer, mine, type, rank - 1);
        return;
    }
    h.mine = mur_schedule_elements(s, total, type);
    h.other = mur_schedule_elements(s, total, type);
    if (!h.mine || !h.other)
        return;
    mur_schedule_copy(s, input(c), total, type, h.mine, total, type);
    if (is_folded) {
        mur_schedule_receive(s, h.other, total, type, rank + 1);
        mur_schedule_fence(s);
        mur_schedule_reduce(s, c->op, h.other, h.mine, total, type);
    }
    halve(&h, is_folded ? rank / 2 : rank - extra, power);
    mur_schedule_fence(s);
    mur_schedule_copy(s, h.mine + places[rank] * type->extent, mine, type, c->to.buffer, mine, type);
    if (is_folded)
        mur_schedule_send(s, h.mine + places[rank + 1] * type->extent, places[rank + 2] - places[rank + 1], type,
                          rank + 1);
}

void mur_coll_reduce_scatter_pairwise(struct mur_schedule *s, const struct mur_collective *c)
{
    enum { STEPS_A_ROUND = 4 };
    struct mur_type *type = c->to.type;
    int rank = s->comm->rank, size = s->comm->size, steps = size - 1;
    MPI_Count *places = place_blocks(s, &c->to), mine;
    char *sum, *taken[STEPS_A_ROUND];

    if (!places || !places[size])
        return;
    mine = places[rank + 1] - places[rank];
    sum = mur_schedule_elements(s, mine, type);
    for (int i = 0; i < STEPS_A_ROUND && sum; i++)
        if (!(taken[i] = mur_schedule_elements(s, mine, type)))
            return;
    if (!sum)
        return;
    mur_schedule_copy(s, input(c) + places[rank] * type->extent, mine, type, sum, mine, type);
    for (int first = 1; first <= steps; first += STEPS_A_ROUND) {
        for (int k = first; k < first + STEPS_A_ROUND && k <= steps; k++) {
            int before = (rank - k + size) % size, after = (rank + k) % size;

            mur_schedule_receive(s, taken[k - first], mine, type, before);
            mur_schedule_send(s, input(c) + places[after] * type->extent, places[after + 1] - places[after], type,
                              after);
        }
        mur_schedule_fence(s);
        for (int k = first; k < first + STEPS_A_ROUND && k <= steps; k++)
            mur_schedule_reduce(s, c->op, taken[k - first], sum, mine, type);
    }
    mur_schedule_copy(s, sum, mine, type, c->to.buffer, mine, type);
}
