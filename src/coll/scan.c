/* SPDX-License-Identifier: BSD-3-Clause */
/* Scan and exscan: recursive doubling (Hillis and Steele 1986). `range` holds the reduction of the ranks
 * [rank - distance + 1, rank]; each round prepends the range of the rank `distance` before. */
#include "coll/coll.h"

void mur_coll_scan(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type,
                   struct mur_op *op, bool is_inclusive)
{
    const void *data = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    int rank = s->comm->rank, size = s->comm->size;
    bool has_before = false; /* whether `before`, the reduction of all lower ranks so far, holds anything */
    void *range, *before, *received;

    if (!count)
        return;
    range = mur_schedule_elements(s, count, type);
    before = mur_schedule_elements(s, count, type);
    received = mur_schedule_elements(s, count, type);
    if (!range || !before || !received)
        return;
    mur_schedule_copy(s, data, count, type, range, count, type);
    for (int distance = 1; distance < size; distance *= 2) {
        mur_schedule_fence(s);
        if (rank >= distance)
            mur_schedule_receive(s, received, count, type, rank - distance);
        if (rank + distance < size)
            mur_schedule_send(s, range, count, type, rank + distance);
        if (rank < distance)
            continue;
        mur_schedule_fence(s);
        mur_schedule_reduce(s, op, received, range, count, type);
        if (has_before)
            mur_schedule_reduce(s, op, received, before, count, type);
        else
            mur_schedule_copy(s, received, count, type, before, count, type);
        has_before = true;
    }
    mur_schedule_fence(s);
    if (is_inclusive)
        mur_schedule_copy(s, range, count, type, recvbuf, count, type);
    else if (rank) /* rank 0's buffer stays as it is */
        mur_schedule_copy(s, before, count, type, recvbuf, count, type);
}
