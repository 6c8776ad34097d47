/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce of large data with a commutative operation around a ring: each rank adds its data to one of as many pieces
 * as there are ranks after the other, one step behind its left neighbour, then the sums go around (Patarasu and Yuan
 * 2009). Each rank sends twice the data less two pieces, always to the same neighbour. The ring goes from node to node,
 * so that only one rank of each sends to another. */
#include "coll/algorithms.h"

static MPI_Count start_of(MPI_Count count, int piece, int pieces)
{
    return (MPI_Count)((__int128)count * piece / pieces);
}

struct mur_ring mur_ring_of(struct mur_comm *comm)
{
    const struct mur_nodes *nodes = mur_nodes_of(comm);
    int size = comm->size, place = comm->rank;

    if (!nodes || !mur_nodes_are_several(nodes, size))
        return (struct mur_ring){.place = place, .left = (place - 1 + size) % size, .right = (place + 1) % size};
    place = nodes->starts[nodes->mine] + nodes->me;
    return (struct mur_ring){.place = place,
                             .left = nodes->members[(place - 1 + size) % size],
                             .right = nodes->members[(place + 1) % size],
                             .ranks = nodes->members};
}

void mur_coll_allreduce_ring(struct mur_schedule *s, const struct mur_collective *c)
{
    struct mur_type *type = c->from.type;
    MPI_Count count = c->from.count;
    struct mur_ring ring = mur_ring_of(s->comm);
    int rank = ring.place, size = s->comm->size;
    char *data = c->to.buffer, *taken = mur_schedule_elements(s, count / size + 1, type);

    if (!taken || !count)
        return;
    if (c->from.buffer != MPI_IN_PLACE)
        mur_schedule_copy(s, c->from.buffer, count, type, data, count, type);
    for (int k = 0; k < 2 * (size - 1); k++) {
        int out = (rank - k + 2 * size) % size, in = (rank - k - 1 + 2 * size) % size;
        MPI_Count out_start = start_of(count, out, size), in_start = start_of(count, in, size);
        MPI_Count in_count = start_of(count, in + 1, size) - in_start;
        bool is_adding = k < size - 1;

        mur_schedule_receive(s, is_adding ? taken : data + in_start * type->extent, in_count, type, ring.left);
        mur_schedule_send(s, data + out_start * type->extent, start_of(count, out + 1, size) - out_start, type,
                          ring.right);
        mur_schedule_fence(s);
        if (is_adding)
            mur_schedule_reduce(s, c->op, taken, data + in_start * type->extent, in_count, type);
    }
}
