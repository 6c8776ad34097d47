/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all, plain and with counts: pairwise. In step k each rank sends to the one k after it and receives from the
 * one k before it; a few steps make a round, so that neither one pair nor all pairs at once are waited for. In place,
 * partners exchange block by block through a copy. */
#include "coll/coll.h"
#include "coll/intercomm.h"

enum { STEPS_A_ROUND = 8 };

static void exchange(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    int rank = s->comm->rank, size = s->comm->size;

    mur_schedule_copy(s, mur_block(from, rank), mur_block_count(from, rank), from->type, mur_block(to, rank),
                      mur_block_count(to, rank), to->type);
    for (int k = 1; k < size; k++) {
        int before = (rank - k + size) % size, after = (rank + k) % size;

        if (k % STEPS_A_ROUND == 0)
            mur_schedule_fence(s);
        mur_schedule_receive(s, mur_block(to, before), mur_block_count(to, before), to->type, before);
        mur_schedule_send(s, mur_block(from, after), mur_block_count(from, after), from->type, after);
    }
}

/* In step k the ranks i and (k - i) mod size are partners, so that all pairs meet at the same step. */
static void exchange_in_place(struct mur_schedule *s, const struct mur_blocks *to)
{
    int rank = s->comm->rank, size = s->comm->size;
    MPI_Count most = 0;
    void *copy;

    for (int i = 0; i < size; i++)
        if (mur_block_count(to, i) > most)
            most = mur_block_count(to, i);
    copy = mur_schedule_elements(s, most, to->type);
    for (int k = 0; copy && k < size; k++) {
        int partner = (k - rank + size) % size;
        MPI_Count count = mur_block_count(to, partner);

        if (partner == rank)
            continue;
        mur_schedule_fence(s);
        mur_schedule_copy(s, mur_block(to, partner), count, to->type, copy, count, to->type);
        mur_schedule_fence(s);
        mur_schedule_receive(s, mur_block(to, partner), count, to->type, partner);
        mur_schedule_send(s, copy, count, to->type, partner);
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
