/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather and scatter, plain and with counts: every rank exchanges its block with the root directly. */
#include "coll/coll.h"
#include "coll/intercomm.h"

void mur_coll_gather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                     const struct mur_blocks *blocks, int root)
{
    int rank = s->comm->rank, size = s->comm->size;

    if (s->comm->remote) {
        mur_inter_gather(s, sendbuf, sendcount, sendtype, blocks, root);
        return;
    }
    if (rank != root) {
        mur_schedule_send(s, sendbuf, sendcount, sendtype, root);
        return;
    }
    for (int i = 0; i < size; i++)
        if (i != rank)
            mur_schedule_receive(s, mur_block(blocks, i), mur_block_count(blocks, i), blocks->type, i);
    if (sendbuf != MPI_IN_PLACE)
        mur_schedule_copy(s, sendbuf, sendcount, sendtype, mur_block(blocks, rank), mur_block_count(blocks, rank),
                          blocks->type);
}

void mur_coll_scatter(struct mur_schedule *s, const struct mur_blocks *blocks, void *recvbuf, MPI_Count recvcount,
                      struct mur_type *recvtype, int root)
{
    int rank = s->comm->rank, size = s->comm->size;

    if (s->comm->remote) {
        mur_inter_scatter(s, blocks, recvbuf, recvcount, recvtype, root);
        return;
    }
    if (rank != root) {
        mur_schedule_receive(s, recvbuf, recvcount, recvtype, root);
        return;
    }
    for (int i = 0; i < size; i++)
        if (i != rank)
            mur_schedule_send(s, mur_block(blocks, i), mur_block_count(blocks, i), blocks->type, i);
    if (recvbuf != MPI_IN_PLACE)
        mur_schedule_copy(s, mur_block(blocks, rank), mur_block_count(blocks, rank), blocks->type, recvbuf, recvcount,
                          recvtype);
}
