/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce and reduce of large data with a commutative operation (Rabenseifner 2004): recursive halving leaves each
 * rank with one piece of the result; recursive doubling gives all pieces to all, or a binomial tree to the root. Each
 * rank sends about twice the data, whatever the number of ranks, instead of once per round. The ranks beyond a power of
 * two fold their data into a neighbour's. */
#include "coll/algorithms.h"

struct halving {
    struct mur_schedule *s;
    char *mine, *other;
    MPI_Count count;
    struct mur_type *type;
    struct mur_op *op;
    int me, power, extra;
};

static MPI_Count start_of(const struct halving *h, int piece)
{
    return (MPI_Count)((__int128)h->count * piece / h->power);
}

/* The rank that works as number `me` among the power of two. */
static int rank_of(const struct halving *h, int me)
{
    return me < h->extra ? 2 * me : me + h->extra;
}

static void send(const struct halving *h, int low, int high, int to)
{
    mur_schedule_send(h->s, h->mine + start_of(h, low) * h->type->extent, start_of(h, high) - start_of(h, low), h->type,
                      rank_of(h, to));
}

static void receive(const struct halving *h, char *into, int low, int high, int from)
{
    mur_schedule_receive(h->s, into + start_of(h, low) * h->type->extent, start_of(h, high) - start_of(h, low), h->type,
                         rank_of(h, from));
}

/* Leaves the sum of all in piece `me`. */
static void halve(const struct halving *h)
{
    int low = 0, high = h->power;

    for (int bit = h->power / 2; bit >= 1; bit /= 2) {
        int partner = h->me ^ bit, middle = (low + high) / 2;

        mur_schedule_fence(h->s);
        if (h->me & bit) {
            send(h, low, middle, partner);
            low = middle;
        } else {
            send(h, middle, high, partner);
            high = middle;
        }
        receive(h, h->other, low, high, partner);
        mur_schedule_fence(h->s);
        mur_schedule_reduce(h->s, h->op, h->other + start_of(h, low) * h->type->extent,
                            h->mine + start_of(h, low) * h->type->extent, start_of(h, high) - start_of(h, low),
                            h->type);
    }
}

static void gather_pieces(const struct halving *h)
{
    for (int bit = 1; bit < h->power; bit *= 2) {
        int partner = h->me ^ bit, low = h->me / bit * bit, theirs = partner / bit * bit;

        mur_schedule_fence(h->s);
        receive(h, h->mine, theirs, theirs + bit, partner);
        send(h, low, low + bit, partner);
    }
}

/* Those whose number differs from the root's in the bit give what they have to their partner, and are done. */
static void gather_at(const struct halving *h, int root)
{
    for (int bit = 1; bit < h->power; bit *= 2) {
        int partner = h->me ^ bit, low = h->me / bit * bit, theirs = partner / bit * bit;

        mur_schedule_fence(h->s);
        if ((h->me ^ root) & bit) {
            send(h, low, low + bit, partner);
            return;
        }
        receive(h, h->mine, theirs, theirs + bit, partner);
    }
}

/* Copies this rank's data, and folds that of the ranks beyond a power of two. False: this rank is one of them, or there
 * is no memory. */
static bool fold(struct halving *h, const void *data, int rank)
{
    bool is_paired = rank < 2 * h->extra;

    h->mine = mur_schedule_elements(h->s, h->count, h->type);
    h->other = mur_schedule_elements(h->s, h->count, h->type);
    if (!h->mine || !h->other)
        return false;
    mur_schedule_copy(h->s, data, h->count, h->type, h->mine, h->count, h->type);
    mur_schedule_fence(h->s);
    if (is_paired && rank % 2) {
        mur_schedule_send(h->s, h->mine, h->count, h->type, rank - 1);
        mur_schedule_fence(h->s);
        return false;
    }
    if (is_paired) {
        mur_schedule_receive(h->s, h->other, h->count, h->type, rank + 1);
        mur_schedule_fence(h->s);
        mur_schedule_reduce(h->s, h->op, h->other, h->mine, h->count, h->type);
    }
    h->me = is_paired ? rank / 2 : rank - h->extra;
    return true;
}

static struct halving halving_of(struct mur_schedule *s, MPI_Count count, struct mur_type *type, struct mur_op *op)
{
    int size = s->comm->size, power = 1 << (31 - __builtin_clz((unsigned)size));

    return (struct halving){.s = s, .count = count, .type = type, .op = op, .power = power, .extra = size - power};
}

void mur_coll_allreduce_rabenseifner(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                                     struct mur_type *type, struct mur_op *op)
{
    struct halving h = halving_of(s, count, type, op);
    int rank = s->comm->rank;

    if (!fold(&h, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, rank)) {
        mur_schedule_receive(s, recvbuf, count, type, rank - 1);
        return;
    }
    halve(&h);
    gather_pieces(&h);
    mur_schedule_fence(s);
    mur_schedule_copy(s, h.mine, count, type, recvbuf, count, type);
    if (rank < 2 * h.extra)
        mur_schedule_send(s, h.mine, count, type, rank + 1);
}

void mur_coll_reduce_rabenseifner(struct mur_schedule *s, const struct mur_collective *c)
{
    MPI_Count count = c->from.count;
    struct mur_type *type = c->from.type;
    struct halving h = halving_of(s, count, type, c->op);
    int rank = s->comm->rank, root = c->root < 2 * h.extra ? c->root / 2 : c->root - h.extra;
    bool is_root_away = c->root < 2 * h.extra && c->root % 2;

    if (!count)
        return;
    if (!fold(&h, c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer, rank)) {
        if (rank == c->root)
            mur_schedule_receive(s, c->to.buffer, count, type, rank - 1);
        return;
    }
    halve(&h);
    gather_at(&h, root);
    mur_schedule_fence(s);
    if (rank == c->root)
        mur_schedule_copy(s, h.mine, count, type, c->to.buffer, count, type);
    else if (is_root_away && rank + 1 == c->root)
        mur_schedule_send(s, h.mine, count, type, c->root);
}
