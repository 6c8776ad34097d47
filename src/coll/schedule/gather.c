/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather and scatter, plain and with counts: every rank exchanges its block with the root directly. */
#include "coll/coll.h"
#include "coll/schedule/inter.h"

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

/* The ranks [me, end) counted from the root whose blocks pass through this one, in a binomial tree. */
static int subtree_end(int me, int size, int *bit_p)
{
    int bit = 1;

    while (bit < size && !(me & bit))
        bit *= 2;
    *bit_p = bit;
    return me + bit < size ? me + bit : size;
}

/* Copies between the blocks of all ranks and their run of bytes, which begins with the root's. */
static void copy_all(struct mur_schedule *s, const struct mur_blocks *blocks, char *run, int root, bool is_out)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE), *type = blocks->type;
    int size = s->comm->size;
    MPI_Count bytes = blocks->count * type->size;
    int starts[2] = {root, 0}, counts[2] = {size - root, root};

    for (int i = 0; i < 2; i++) {
        char *bytes_at = run + (i ? bytes * (size - root) : 0);

        if (!counts[i])
            continue;
        if (is_out)
            mur_schedule_copy(s, mur_block(blocks, starts[i]), blocks->count * counts[i], type, bytes_at,
                              bytes * counts[i], byte);
        else
            mur_schedule_copy(s, bytes_at, bytes * counts[i], byte, mur_block(blocks, starts[i]),
                              blocks->count * counts[i], type);
    }
}

/* Small blocks of one size: log2(size) rounds; every rank passes on what its subtree has. */
void mur_coll_gather_binomial(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount,
                              struct mur_type *sendtype, const struct mur_blocks *blocks, int root)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int size = s->comm->size, rank = s->comm->rank, me = (rank - root + size) % size, top;
    int end = subtree_end(me, size, &top);
    bool is_in_place = sendbuf == MPI_IN_PLACE;
    MPI_Count bytes = is_in_place ? blocks->count * blocks->type->size : sendcount * sendtype->size;
    char *run = mur_schedule_memory(s, (size_t)(bytes * (end - me)));

    if (!run)
        return;
    if (is_in_place)
        mur_schedule_copy(s, mur_block(blocks, rank), blocks->count, blocks->type, run, bytes, byte);
    else
        mur_schedule_copy(s, sendbuf, sendcount, sendtype, run, bytes, byte);
    for (int bit = 1; bit < top && me + bit < size; bit *= 2) {
        int child = me + bit, ignored, child_end = subtree_end(child, size, &ignored);

        mur_schedule_receive(s, run + bit * bytes, (child_end - child) * bytes, byte, (child + root) % size);
    }
    mur_schedule_fence(s);
    if (me)
        mur_schedule_send(s, run, (end - me) * bytes, byte, (me - top + root) % size);
    else
        copy_all(s, blocks, run, root, false);
}

void mur_coll_scatter_binomial(struct mur_schedule *s, const struct mur_blocks *blocks, void *recvbuf,
                               MPI_Count recvcount, struct mur_type *recvtype, int root)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int size = s->comm->size, rank = s->comm->rank, me = (rank - root + size) % size, top;
    int end = subtree_end(me, size, &top);
    bool is_in_place = recvbuf == MPI_IN_PLACE;
    MPI_Count bytes = is_in_place ? blocks->count * blocks->type->size : recvcount * recvtype->size;
    char *run = mur_schedule_memory(s, (size_t)(bytes * (end - me)));

    if (!run)
        return;
    if (me)
        mur_schedule_receive(s, run, (end - me) * bytes, byte, (me - top + root) % size);
    else
        copy_all(s, blocks, run, root, true);
    mur_schedule_fence(s);
    for (int bit = top / 2; bit >= 1; bit /= 2) {
        int child = me + bit, ignored, child_end;

        if (child >= size)
            continue;
        child_end = subtree_end(child, size, &ignored);
        mur_schedule_send(s, run + bit * bytes, (child_end - child) * bytes, byte, (child + root) % size);
    }
    if (!is_in_place)
        mur_schedule_copy(s, run, bytes, byte, recvbuf, recvcount, recvtype);
}
