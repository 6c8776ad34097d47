/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives between two groups (MPI-5.0 §6.2.2, §6.2.3). What one group has goes to the other: directly where a root
 * is named, else from group to leader (rank 0) to the other side's leader to its group. Steps among the own group are
 * those of its local communicator; all others mean ranks of the remote group. */
#include "coll/schedule/inter.h"

#include <stdlib.h>

#include "object/group.h"
#include "object/type_create.h"

/* On each side all are there; the leaders tell each other, and their groups. */
void mur_inter_barrier(struct mur_schedule *s)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);

    mur_schedule_move_to_local(s);
    mur_coll_barrier(s);
    mur_schedule_fence(s);
    mur_schedule_move_back(s);
    if (s->comm->rank == 0) {
        mur_schedule_receive(s, NULL, 0, byte, 0);
        mur_schedule_send(s, NULL, 0, byte, 0);
        mur_schedule_fence(s);
    }
    mur_schedule_move_to_local(s);
    mur_coll_bcast(s, NULL, 0, byte, 0);
    mur_schedule_move_back(s);
}

void mur_inter_bcast(struct mur_schedule *s, void *buffer, MPI_Count count, struct mur_type *type, int root)
{
    if (root == MPI_PROC_NULL)
        return;
    if (root == MPI_ROOT) {
        mur_schedule_send(s, buffer, count, type, 0);
        return;
    }
    if (s->comm->rank == 0) {
        mur_schedule_receive(s, buffer, count, type, root);
        mur_schedule_fence(s);
    }
    mur_schedule_move_to_local(s);
    mur_coll_bcast(s, buffer, count, type, 0);
    mur_schedule_move_back(s);
}

void mur_inter_gather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                      const struct mur_blocks *blocks, int root)
{
    if (root == MPI_ROOT)
        for (int i = 0; i < s->comm->size; i++)
            mur_schedule_receive(s, mur_block(blocks, i), mur_block_count(blocks, i), blocks->type, i);
    else if (root != MPI_PROC_NULL)
        mur_schedule_send(s, sendbuf, sendcount, sendtype, root);
}

void mur_inter_scatter(struct mur_schedule *s, const struct mur_blocks *blocks, void *recvbuf, MPI_Count recvcount,
                       struct mur_type *recvtype, int root)
{
    if (root == MPI_ROOT)
        for (int i = 0; i < s->comm->size; i++)
            mur_schedule_send(s, mur_block(blocks, i), mur_block_count(blocks, i), blocks->type, i);
    else if (root != MPI_PROC_NULL)
        mur_schedule_receive(s, recvbuf, recvcount, recvtype, root);
}

/* One type that holds all blocks of a buffer; NULL, with the schedule's error set, when there is no memory. */
static struct mur_type *type_of_blocks(struct mur_schedule *s, const struct mur_blocks *blocks, int size)
{
    MPI_Count *counts = mur_schedule_memory(s, (size_t)size * sizeof *counts);
    MPI_Count *places = mur_schedule_memory(s, (size_t)size * sizeof *places);
    struct mur_type *type = NULL;
    int rc;

    if (!counts || !places)
        return NULL;
    for (int i = 0; i < size; i++) {
        counts[i] = mur_block_count(blocks, i);
        places[i] = (char *)mur_block(blocks, i) - blocks->buffer;
    }
    rc = mur_type_create_hindexed(size, counts, places, blocks->type, true, &type);
    if (!rc && (rc = mur_type_commit(type)))
        mur_type_release(type);
    if (!rc)
        return type;
    mur_schedule_fail(s, rc);
    return NULL;
}

/* The leader gathers the remote blocks at their places, then its group gets all of them. */
void mur_inter_allgather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                         const struct mur_blocks *blocks)
{
    struct mur_type *all = type_of_blocks(s, blocks, s->comm->size);

    if (!all)
        return;
    if (s->comm->rank == 0)
        for (int i = 0; i < s->comm->size; i++)
            mur_schedule_receive(s, mur_block(blocks, i), mur_block_count(blocks, i), blocks->type, i);
    mur_schedule_send(s, sendbuf, sendcount, sendtype, 0);
    mur_schedule_fence(s);
    mur_schedule_move_to_local(s);
    mur_coll_bcast(s, blocks->buffer, 1, all, 0);
    mur_schedule_move_back(s);
    mur_type_release(all); /* the steps have references */
}

/* Pairwise; both groups go through the pairs in the same order, a few at a time. */
void mur_inter_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    enum { PAIRS_A_ROUND = 8 };
    int rank = s->comm->rank, size = s->comm->size, mine = s->owner->group->size;
    int steps = size > mine ? size : mine;

    for (int k = 0; k < steps; k++) {
        int partner = ((k - rank) % steps + steps) % steps;

        if (k && k % PAIRS_A_ROUND == 0)
            mur_schedule_fence(s);
        if (partner >= size)
            continue;
        mur_schedule_receive(s, mur_block(to, partner), mur_block_count(to, partner), mur_block_type(to, partner),
                             partner);
        mur_schedule_send(s, mur_block(from, partner), mur_block_count(from, partner), mur_block_type(from, partner),
                          partner);
    }
}

/* Reduces this side's data at its rank 0, into memory of the schedule, which is returned there. */
static void *reduce_local(struct mur_schedule *s, const void *sendbuf, MPI_Count count, struct mur_type *type,
                          struct mur_op *op)
{
    void *result = s->comm->rank == 0 ? mur_schedule_elements(s, count, type) : NULL;

    mur_schedule_move_to_local(s);
    mur_coll_reduce(s, sendbuf, result, count, type, op, 0);
    mur_schedule_fence(s);
    mur_schedule_move_back(s);
    return result;
}

void mur_inter_reduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                      struct mur_type *type, struct mur_op *op, int root)
{
    if (root == MPI_PROC_NULL)
        return;
    if (root == MPI_ROOT) {
        mur_schedule_receive(s, recvbuf, count, type, 0);
    } else {
        void *result = reduce_local(s, sendbuf, count, type, op);

        if (s->comm->rank == 0)
            mur_schedule_send(s, result, count, type, root);
    }
}

void mur_inter_allreduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                         struct mur_type *type, struct mur_op *op)
{
    void *result = reduce_local(s, sendbuf, count, type, op);

    if (s->comm->rank == 0) {
        mur_schedule_receive(s, recvbuf, count, type, 0);
        mur_schedule_send(s, result, count, type, 0);
        mur_schedule_fence(s);
    }
    mur_schedule_move_to_local(s);
    mur_coll_bcast(s, recvbuf, count, type, 0);
    mur_schedule_move_back(s);
}

/* Counts are those of this side's ranks; their sum is the same on both sides. */
void mur_inter_reduce_scatter(struct mur_schedule *s, const void *sendbuf, void *recvbuf,
                              const struct mur_blocks *blocks, struct mur_op *op)
{
    struct mur_type *type = blocks->type;
    MPI_Count total = mur_blocks_count(blocks, s->owner->group->size);
    char *result, *theirs = NULL;

    result = reduce_local(s, sendbuf, total, type, op);
    if (s->comm->rank == 0) {
        theirs = mur_schedule_elements(s, total, type);
        if (!theirs)
            return;
        mur_schedule_receive(s, theirs, total, type, 0);
        mur_schedule_send(s, result, total, type, 0);
        mur_schedule_fence(s);
    }
    mur_schedule_move_to_local(s);
    mur_coll_deal(s, theirs, recvbuf, blocks);
    mur_schedule_move_back(s);
}
