/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all, plain, with counts and with types: pairwise. In step k each rank sends to the one k after it and receives
 * from the one k before it; a few steps make a round, so that neither one pair nor all pairs at once are waited for. In
 * place, partners exchange block by block through a copy. */
#include "coll/coll.h"
#include "coll/schedule/inter.h"

enum { STEPS_A_ROUND = 8 };

static void receive(struct mur_schedule *s, const struct mur_blocks *to, int rank)
{
    mur_schedule_receive(s, mur_block(to, rank), mur_block_count(to, rank), mur_block_type(to, rank), rank);
}

static void exchange(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    int rank = s->comm->rank, size = s->comm->size;

    mur_schedule_copy(s, mur_block(from, rank), mur_block_count(from, rank), mur_block_type(from, rank),
                      mur_block(to, rank), mur_block_count(to, rank), mur_block_type(to, rank));
    for (int k = 1; k < size; k++) {
        int before = (rank - k + size) % size, after = (rank + k) % size;

        if (k % STEPS_A_ROUND == 0)
            mur_schedule_fence(s);
        receive(s, to, before);
        mur_schedule_send(s, mur_block(from, after), mur_block_count(from, after), mur_block_type(from, after), after);
    }
}

/* In step k the ranks i and (k - i) mod size are partners, so that all pairs meet at the same step. */
static void exchange_in_place(struct mur_schedule *s, const struct mur_blocks *to)
{
    int rank = s->comm->rank, size = s->comm->size;
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    MPI_Count most = 0;
    void *copy; /* the data of a block as a run of bytes */

    for (int i = 0; i < size; i++) {
        MPI_Count bytes = mur_block_count(to, i) * mur_block_type(to, i)->size;

        if (bytes > most)
            most = bytes;
    }
    copy = mur_schedule_memory(s, (size_t)most);
    for (int k = 0; copy && k < size; k++) {
        int partner = (k - rank + size) % size;
        MPI_Count count = mur_block_count(to, partner);
        struct mur_type *type = mur_block_type(to, partner);

        if (partner == rank)
            continue;
        mur_schedule_fence(s);
        mur_schedule_copy(s, mur_block(to, partner), count, type, copy, count * type->size, byte);
        mur_schedule_fence(s);
        receive(s, to, partner);
        mur_schedule_send(s, copy, count * type->size, byte, partner);
    }
}

void mur_coll_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    if (s->comm->remote)
        mur_inter_alltoall(s, from, to);
    else if (from->buffer == MPI_IN_PLACE)
        exchange_in_place(s, to);
    else
        exchange(s, from, to);
}

/* The blocks whose number has the bit, from or to the places that they have among all. */
static MPI_Count select_blocks(struct mur_schedule *s, char *all, char *some, MPI_Count bytes, int bit,
                               bool is_gathering)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    MPI_Count count = 0;

    for (int i = 0; i < s->comm->size; i++) {
        if (!(i & bit))
            continue;
        if (is_gathering)
            mur_schedule_copy(s, all + i * bytes, bytes, byte, some + count * bytes, bytes, byte);
        else
            mur_schedule_copy(s, some + count * bytes, bytes, byte, all + i * bytes, bytes, byte);
        count++;
    }
    return count;
}

/* Small blocks: log2(size) rounds (Bruck and others 1997). Block i is for the rank i behind its holder at first, and
 * travels the distances that are the bits of i; in the end it is the one from the rank i before. */
void mur_coll_alltoall_bruck(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    const struct mur_blocks *source = from->buffer == MPI_IN_PLACE ? to : from;
    int rank = s->comm->rank, size = s->comm->size;
    MPI_Count bytes = to->count * to->type->size;
    char *all = mur_schedule_memory(s, (size_t)(bytes * size));
    char *out = mur_schedule_memory(s, (size_t)(bytes * size)), *in = mur_schedule_memory(s, (size_t)(bytes * size));

    if (!all || !out || !in)
        return;
    mur_schedule_copy(s, mur_block(source, rank), source->count * (size - rank), source->type, all,
                      bytes * (size - rank), byte);
    if (rank)
        mur_schedule_copy(s, mur_block(source, 0), source->count * rank, source->type, all + bytes * (size - rank),
                          bytes * rank, byte);
    for (int bit = 1; bit < size; bit *= 2) {
        MPI_Count count;

        mur_schedule_fence(s);
        count = select_blocks(s, all, out, bytes, bit, true);
        mur_schedule_fence(s);
        mur_schedule_receive(s, in, count * bytes, byte, (rank - bit + size) % size);
        mur_schedule_send(s, out, count * bytes, byte, (rank + bit) % size);
        mur_schedule_fence(s);
        select_blocks(s, all, in, bytes, bit, false);
    }
    mur_schedule_fence(s);
    for (int i = 0; i < size; i++)
        mur_schedule_copy(s, all + i * bytes, bytes, byte, mur_block(to, (rank - i + size) % size), to->count,
                          to->type);
}
