/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast: a binomial tree. Counted from the root, each rank receives from the rank without its lowest set bit, and
 * sends to those that have one bit more below it. */
#include "coll/coll.h"
#include "coll/intercomm.h"

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
