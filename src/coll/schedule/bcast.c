/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast: a binomial tree. Counted from the root, each rank receives from the rank without its lowest set bit, and
 * sends to those that have one bit more below it. */
#include "base/settings.h"
#include "coll/algorithms.h"
#include "coll/schedule/inter.h"
#include "coll/schedule/tree.h"

void mur_coll_bcast(struct mur_schedule *s, void *buffer, MPI_Count count, struct mur_type *type, int root)
{
    int size = s->comm->size, me = (s->comm->rank - root + size) % size;
    int bit = 1;

    if (s->comm->remote) {
        mur_inter_bcast(s, buffer, count, type, root);
        return;
    }
    while (bit < size && !(me & bit))
        bit *= 2;
    if (me) {
        mur_schedule_receive(s, buffer, count, type, (me - bit + root) % size);
        mur_schedule_fence(s);
    }
    while (bit > 1) {
        bit /= 2;
        if (me + bit < size)
            mur_schedule_send(s, buffer, count, type, (me + bit + root) % size);
    }
}

/* Where piece i of `pieces` begins. */
static MPI_Count piece(MPI_Count bytes, int i, int pieces)
{
    return (MPI_Count)((__int128)bytes * i / pieces);
}

/* Large data: a binomial scatter gives every rank a piece, a ring gives all pieces to all (van de Geijn's algorithm,
 * Barnett and others 1994). Twice the bytes go over every link, but none twice over the same. */
void mur_coll_bcast_scatter(struct mur_schedule *s, void *buffer, MPI_Count count, struct mur_type *type, int root)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int size = s->comm->size, me = (s->comm->rank - root + size) % size, bit = 1;
    int left = (s->comm->rank - 1 + size) % size, right = (s->comm->rank + 1) % size;
    MPI_Count bytes = count * type->size;
    char *data = type->is_dense ? buffer : mur_schedule_memory(s, (size_t)bytes);

    if (!type->is_dense && !data)
        return;
    if (!me && !type->is_dense)
        mur_schedule_copy(s, buffer, count, type, data, bytes, byte);
    mur_schedule_fence(s);
    while (bit < size && !(me & bit))
        bit *= 2;
    if (me) { /* the pieces of this rank and all below it in the tree */
        int end = me + bit < size ? me + bit : size;

        mur_schedule_receive(s, data + piece(bytes, me, size), piece(bytes, end, size) - piece(bytes, me, size), byte,
                             (me - bit + root) % size);
        mur_schedule_fence(s);
    }
    while (bit > 1) {
        int child, end;

        bit /= 2;
        child = me + bit;
        end = child + bit < size ? child + bit : size;
        if (child < size)
            mur_schedule_send(s, data + piece(bytes, child, size), piece(bytes, end, size) - piece(bytes, child, size),
                              byte, (child + root) % size);
    }
    for (int k = 0; k < size - 1; k++) {
        int out = (me - k + size) % size, in = (me - k - 1 + size) % size;

        mur_schedule_fence(s);
        mur_schedule_receive(s, data + piece(bytes, in, size), piece(bytes, in + 1, size) - piece(bytes, in, size),
                             byte, left);
        mur_schedule_send(s, data + piece(bytes, out, size), piece(bytes, out + 1, size) - piece(bytes, out, size),
                          byte, right);
    }
    if (me && !type->is_dense) {
        mur_schedule_fence(s);
        mur_schedule_copy(s, data, bytes, byte, buffer, count, type);
    }
}

void mur_coll_bcast_chain(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_tree tree;

    mur_tree_chain(&tree, s->comm->rank, s->comm->size, c->root);
    mur_tree_bcast(s, &tree, c->to.buffer, c->to.count, c->to.type, mur_nodes_piece(mur_nodes_of(s->comm)));
}

void mur_coll_bcast_pieces(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_tree tree;

    mur_tree_binomial(&tree, s->comm->rank, s->comm->size, c->root);
    mur_tree_bcast(s, &tree, c->to.buffer, c->to.count, c->to.type, mur_nodes_piece(mur_nodes_of(s->comm)));
}
