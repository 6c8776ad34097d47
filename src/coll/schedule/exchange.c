/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce of large data between two ranks, or the leaders of two nodes: each sends all that it has to the other, and
 * combines what comes with its own, piece by piece. No step depends on what the other has done before, so that several
 * pieces are always under way, also while the program computes and only now and then lets the library work; and nothing
 * is copied that need not be: data go out from the send buffer, and come to the receive buffer, where the next operand
 * is added to them. */
#include "base/settings.h"
#include "coll/algorithms.h"
#include "datatype/reduce.h"

enum {
    UNITS = 8, /* of MUR_COLL_PIECE in a piece: larger than those of a chain, as each is announced and claimed */
    AHEAD = 8, /* pieces under way */
};

struct exchange {
    struct mur_schedule *s;
    const struct mur_op *op;
    struct mur_type *type;
    const char *mine;
    char *theirs; /* where what comes is put: the result itself, or AHEAD pieces that are used in turns */
    char *result;
    MPI_Count count, step; /* elements, in all and in a piece */
    int other;             /* rank */
    int awaited[AHEAD];    /* receives under way, by piece modulo AHEAD */
};

/* The result is the same whichever operand is the left one, but for which of two NaNs is kept. */
static bool is_symmetric(const struct mur_op *op)
{
    if (!op->object.predefined || mur_settings.coll_reproducible)
        return false;
    switch (op->reduction) {
    case MUR_REDUCE_SUM:
    case MUR_REDUCE_PROD:
    case MUR_REDUCE_BAND:
    case MUR_REDUCE_BOR:
    case MUR_REDUCE_BXOR:
    case MUR_REDUCE_LAND:
    case MUR_REDUCE_LOR:
    case MUR_REDUCE_LXOR:
        return true;
    default:
        return false;
    }
}

static MPI_Count elements_of(const struct exchange *e, MPI_Count piece)
{
    MPI_Count left = e->count - piece * e->step;

    return left < e->step ? left : e->step;
}

static MPI_Count place_of(const struct exchange *e, MPI_Count piece)
{
    return piece * e->step * e->type->extent;
}

static char *arrival_of(const struct exchange *e, MPI_Count piece)
{
    return e->theirs + (e->theirs == e->result ? place_of(e, piece) : place_of(e, piece % AHEAD));
}

static void exchange_piece(struct exchange *e, MPI_Count piece)
{
    MPI_Count count = elements_of(e, piece);

    e->awaited[piece % AHEAD] = mur_schedule_receive_ahead(e->s, arrival_of(e, piece), count, e->type, e->other);
    mur_schedule_send_ahead(e->s, e->mine + place_of(e, piece), count, e->type, e->other);
}

/* The lower rank's operand is the left one at both. */
static void combine_piece(const struct exchange *e, MPI_Count piece)
{
    const char *mine = e->mine + place_of(e, piece);
    char *theirs = arrival_of(e, piece), *result = e->result + place_of(e, piece);
    MPI_Count count = elements_of(e, piece);

    if (theirs == result) {
        mur_schedule_reduce(e->s, (struct mur_op *)e->op, mine, result, count, e->type);
        return;
    }
    mur_schedule_copy(e->s, mine, count, e->type, result, count, e->type);
    mur_schedule_reduce(e->s, (struct mur_op *)e->op, theirs, result, count, e->type);
}

/* What this rank sends must stay as it is, though the result may come to its place. */
static const void *keep_own(struct mur_schedule *s, const struct mur_collective *c)
{
    MPI_Count count = c->from.count;
    void *kept;

    if (c->from.buffer != MPI_IN_PLACE)
        return c->from.buffer;
    kept = mur_schedule_elements(s, count, c->from.type);
    if (kept)
        mur_schedule_copy(s, c->to.buffer, count, c->from.type, kept, count, c->from.type);
    return kept;
}

void mur_coll_allreduce_exchange(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *type = c->from.type;
    struct exchange e = {.s = s, .op = c->op, .type = type, .result = c->to.buffer, .count = c->from.count};
    MPI_Count pieces;

    if (!e.count)
        return;
    e.other = 1 - s->comm->rank;
    e.step = type->size ? UNITS * (MPI_Count)mur_nodes_piece(mur_nodes_of(s->comm)) / type->size : e.count;
    e.step = e.step < 1 ? 1 : e.step < e.count ? e.step : e.count;
    pieces = (e.count + e.step - 1) / e.step;
    e.mine = keep_own(s, c);
    e.theirs = !s->comm->rank || is_symmetric(c->op)
                   ? e.result
                   : mur_schedule_elements(s, pieces < AHEAD ? e.count : AHEAD * e.step, type);
    if (!e.mine || !e.theirs)
        return;
    for (MPI_Count piece = 0; piece < pieces && piece < AHEAD; piece++)
        exchange_piece(&e, piece);
    for (MPI_Count piece = 0; piece < pieces; piece++) {
        mur_schedule_fence(s);
        mur_schedule_await(s, e.awaited[piece % AHEAD]);
        mur_schedule_fence(s);
        combine_piece(&e, piece);
        if (piece + AHEAD < pieces)
            exchange_piece(&e, piece + AHEAD);
    }
}
