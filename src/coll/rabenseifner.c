/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce of large data with a commutative operation (Rabenseifner 2004): recursive halving leaves each rank with one
 * piece of the result, recursive doubling gives all pieces to all. Each rank sends about twice the data, whatever the
 * number of ranks, instead of once per round. The ranks beyond a power of two fold their data into a neighbour's. */
#include "coll/coll.h"

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

void mur_coll_allreduce_rabenseifner(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                                     struct mur_type *type, struct mur_op *op)
{
    int rank = s->comm->rank, size = s->comm->size;
    int power = 1 << (31 - __builtin_clz((unsigned)size)), extra = size - power;
    struct halving h = {.s = s, .count = count, .type = type, .op = op, .power = power, .extra = extra};

    h.mine = mur_schedule_elements(s, count, type);
    h.other = mur_schedule_elements(s, count, type);
    if (!h.mine || !h.other)
        return;
    mur_schedule_copy(s, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type, h.mine, count, type);
    mur_schedule_fence(s);
    if (rank < 2 * extra && rank % 2) {
        mur_schedule_send(s, h.mine, count, type, rank - 1);
        mur_schedule_fence(s);
        mur_schedule_receive(s, recvbuf, count, type, rank - 1);
        return;
    }
    if (rank < 2 * extra) {
        mur_schedule_receive(s, h.other, count, type, rank + 1);
        mur_schedule_fence(s);
        mur_schedule_reduce(s, op, h.other, h.mine, count, type);
    }
    h.me = rank < 2 * extra ? rank / 2 : rank - extra;
    halve(&h);
    gather_pieces(&h);
    mur_schedule_fence(s);
    mur_schedule_copy(s, h.mine, count, type, recvbuf, count, type);
    if (rank < 2 * extra)
        mur_schedule_send(s, h.mine, count, type, rank + 1);
}
