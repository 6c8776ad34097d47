/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all, plain, with counts and with types: pairwise. In step k each rank sends to the one k after it and receives
 * from the one k before it; a few steps make a round, so that neither one pair nor all pairs at once are waited for. In
 * place, partners exchange block by block through a copy. */
#include "coll/coll.h"
#include "coll/intercomm.h"

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
