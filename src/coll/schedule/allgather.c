/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather. Plain and with counts: a ring. In each of size-1 rounds every rank passes on the block that it got in
 * the round before; blocks lie at their final place at once. The ring goes from node to node (coll/schedule/ring.c). */
#include "coll/algorithms.h"
#include "coll/schedule/inter.h"

void mur_coll_allgather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                        const struct mur_blocks *blocks)
{
    int rank = s->comm->rank, size = s->comm->size;
    struct mur_ring ring;

    if (s->comm->remote) {
        mur_inter_allgather(s, sendbuf, sendcount, sendtype, blocks);
        return;
    }
    ring = mur_ring_of(s->comm);
    for (int k = 0; k < size - 1; k++) {
        int out = (ring.place - k + size) % size, in = (ring.place - k - 1 + size) % size;

        if (ring.ranks) {
            out = ring.ranks[out];
            in = ring.ranks[in];
        }
        if (k)
            mur_schedule_fence(s);
        mur_schedule_receive(s, mur_block(blocks, in), mur_block_count(blocks, in), blocks->type, ring.left);
        if (k == 0 && sendbuf != MPI_IN_PLACE)
            mur_schedule_send(s, sendbuf, sendcount, sendtype, ring.right);
        else
            mur_schedule_send(s, mur_block(blocks, out), mur_block_count(blocks, out), blocks->type, ring.right);
        if (k == 0 && sendbuf != MPI_IN_PLACE)
            mur_schedule_copy(s, sendbuf, sendcount, sendtype, mur_block(blocks, rank), mur_block_count(blocks, rank),
                              blocks->type);
    }
    if (size == 1 && sendbuf != MPI_IN_PLACE)
        mur_schedule_copy(s, sendbuf, sendcount, sendtype, mur_block(blocks, 0), mur_block_count(blocks, 0),
                          blocks->type);
}

/* Small blocks: log2(size) rounds, in each of which the blocks gathered so far are passed on by twice the distance
 * (Bruck and others 1997). Block i of the copy is that of the rank i behind this one. */
void mur_coll_allgather_bruck(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount,
                              struct mur_type *sendtype, const struct mur_blocks *blocks)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE), *type = blocks->type;
    int rank = s->comm->rank, size = s->comm->size;
    MPI_Count bytes = blocks->count * type->size;
    char *all = mur_schedule_memory(s, (size_t)(bytes * size));

    if (!all)
        return;
    if (sendbuf == MPI_IN_PLACE)
        mur_schedule_copy(s, mur_block(blocks, rank), blocks->count, type, all, bytes, byte);
    else
        mur_schedule_copy(s, sendbuf, sendcount, sendtype, all, bytes, byte);
    for (int distance = 1; distance < size; distance *= 2) {
        int count = distance < size - distance ? distance : size - distance;

        mur_schedule_fence(s);
        mur_schedule_receive(s, all + distance * bytes, count * bytes, byte, (rank + distance) % size);
        mur_schedule_send(s, all, count * bytes, byte, (rank - distance + size) % size);
    }
    mur_schedule_fence(s);
    mur_schedule_copy(s, all, bytes * (size - rank), byte, mur_block(blocks, rank), blocks->count * (size - rank),
                      type);
    if (rank)
        mur_schedule_copy(s, all + bytes * (size - rank), bytes * rank, byte, mur_block(blocks, 0),
                          blocks->count * rank, type);
}

/* The same for a power of two of ranks, where partners exchange all that they have: every block goes straight to its
 * final place. */
void mur_coll_allgather_doubling(struct mur_schedule *s, const struct mur_collective *c)
{
    const struct mur_blocks *blocks = &c->to;
    int rank = s->comm->rank, size = s->comm->size;

    if (c->from.buffer != MPI_IN_PLACE)
        mur_schedule_copy(s, c->from.buffer, c->from.count, c->from.type, mur_block(blocks, rank), blocks->count,
                          blocks->type);
    for (int bit = 1; bit < size; bit *= 2) {
        int partner = rank ^ bit, mine = rank / bit * bit, theirs = partner / bit * bit;

        mur_schedule_fence(s);
        mur_schedule_receive(s, mur_block(blocks, theirs), blocks->count * bit, blocks->type, partner);
        mur_schedule_send(s, mur_block(blocks, mine), blocks->count * bit, blocks->type, partner);
    }
}
