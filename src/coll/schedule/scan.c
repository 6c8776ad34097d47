/* SPDX-License-Identifier: BSD-3-Clause */
/* Scan and exscan.
 *
 * Recursive doubling (Hillis and Steele 1986): `range` holds the reduction of the ranks [rank - distance + 1, rank];
 * each round prepends the range of the rank `distance` before.
 * Chain: each rank passes the sum up to itself on to the next one, in pieces; nothing is sent more than once. */
#include "base/settings.h"
#include "coll/algorithms.h"

void mur_coll_scan(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type,
                   struct mur_op *op, bool is_inclusive)
{
    const void *data = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    int rank = s->comm->rank, size = s->comm->size;
    bool has_before = false; /* whether `before`, the reduction of all lower ranks so far, holds anything */
    void *range, *before, *received;

    if (!count)
        return;
    range = mur_schedule_elements(s, count, type);
    before = mur_schedule_elements(s, count, type);
    received = mur_schedule_elements(s, count, type);
    if (!range || !before || !received)
        return;
    mur_schedule_copy(s, data, count, type, range, count, type);
    for (int distance = 1; distance < size; distance *= 2) {
        mur_schedule_fence(s);
        if (rank >= distance)
            mur_schedule_receive(s, received, count, type, rank - distance);
        if (rank + distance < size)
            mur_schedule_send(s, range, count, type, rank + distance);
        if (rank < distance)
            continue;
        mur_schedule_fence(s);
        mur_schedule_reduce(s, op, received, range, count, type);
        if (has_before)
            mur_schedule_reduce(s, op, received, before, count, type);
        else
            mur_schedule_copy(s, received, count, type, before, count, type);
        has_before = true;
    }
    mur_schedule_fence(s);
    if (is_inclusive)
        mur_schedule_copy(s, range, count, type, recvbuf, count, type);
    else if (rank) /* rank 0's buffer stays as it is */
        mur_schedule_copy(s, before, count, type, recvbuf, count, type);
}

struct chain {
    struct mur_schedule *s;
    char *before, *range; /* the sums up to the rank before, and up to this one */
    MPI_Count count, step;
    struct mur_type *type;
    struct mur_op *op;
};

static MPI_Count elements_of(const struct chain *chain, MPI_Count piece)
{
    MPI_Count left = chain->count - piece * chain->step;

    return left < chain->step ? left : chain->step;
}

static void receive_piece(const struct chain *chain, MPI_Count piece)
{
    mur_schedule_receive(chain->s, chain->before + piece * chain->step * chain->type->extent, elements_of(chain, piece),
                         chain->type, chain->s->comm->rank - 1);
}

/* The last rank of an exscan has nobody to tell. */
static void pass_piece(const struct chain *chain, MPI_Count piece, bool is_inclusive)
{
    struct mur_schedule *s = chain->s;
    MPI_Count place = piece * chain->step * chain->type->extent, count = elements_of(chain, piece);
    bool is_last = s->comm->rank == s->comm->size - 1;

    if (s->comm->rank && (is_inclusive || !is_last))
        mur_schedule_reduce(s, chain->op, chain->before + place, chain->range + place, count, chain->type);
    if (!is_last)
        mur_schedule_send(s, chain->range + place, count, chain->type, s->comm->rank + 1);
}

void mur_coll_scan_chain(struct mur_schedule *s, const struct mur_collective *c)
{
    const void *data = c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer;
    bool is_inclusive = c->kind == MUR_SCAN, is_first = s->comm->rank == 0;
    struct chain chain = {.s = s, .count = c->from.count, .type = c->from.type, .op = c->op};
    MPI_Count pieces;
    char *other;

    if (!chain.count || !(other = mur_schedule_elements(s, chain.count, chain.type)))
        return;
    chain.step = chain.type->size ? (MPI_Count)mur_nodes_piece(mur_nodes_of(s->comm)) / chain.type->size : chain.count;
    chain.step = chain.step < 1 ? 1 : chain.step;
    pieces = (chain.count + chain.step - 1) / chain.step;
    chain.before = is_inclusive ? other : c->to.buffer;
    chain.range = is_inclusive ? c->to.buffer : other;
    if (chain.range != data)
        mur_schedule_copy(s, data, chain.count, chain.type, chain.range, chain.count, chain.type);
    for (MPI_Count round = is_first; round <= pieces; round++) {
        mur_schedule_fence(s);
        if (!is_first && round < pieces)
            receive_piece(&chain, round);
        if (round)
            pass_piece(&chain, round - 1, is_inclusive);
    }
}
