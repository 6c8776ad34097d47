/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier: dissemination (Hensgen, Finkel and Manber 1988). In round k each rank tells the one 2^k after it and hears
 * from the one 2^k before it; after log2(ranks) rounds all know of all. */
#include "coll/algorithms.h"
#include "coll/schedule/inter.h"

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

/* The same with three messages a round to the ranks k 4^i after this one, in half as many rounds: better where it is
 * latency that counts, not the work for a message. */
void mur_coll_barrier_wide(struct mur_schedule *s, const struct mur_collective *c)
{
    enum { WIDTH = 4 };
    struct mur_type *byte = mur_type_find(MPI_BYTE);
    int rank = s->comm->rank, size = s->comm->size;

    (void)c;
    for (long distance = 1; distance < size; distance *= WIDTH) {
        mur_schedule_fence(s);
        for (long step = distance; step < WIDTH * distance && step < size; step += distance) {
            mur_schedule_receive(s, NULL, 0, byte, (int)((rank - step + size) % size));
            mur_schedule_send(s, NULL, 0, byte, (int)((rank + step) % size));
        }
    }
}
