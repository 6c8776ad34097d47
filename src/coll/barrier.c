/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier: dissemination (Hensgen, Finkel and Manber 1988). In round k each rank tells the one 2^k after it and hears
 * from the one 2^k before it; after log2(ranks) rounds all know of all. */
#include "coll/coll.h"
#include "coll/intercomm.h"

void mur_coll_barrier(struct mur_schedule *s)
{
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int rank = s->comm->rank, size = s->comm->size;

    if (s->comm->remote) {
        mur_inter_barrier(s);
        return;
    }
    for (int distance = 1; distance < size; distance *= 2) {
        mur_schedule_fence(s);
        mur_schedule_receive(s, NULL, 0, byte, (rank - distance + size) % size);
        mur_schedule_send(s, NULL, 0, byte, (rank + distance) % size);
    }
}
