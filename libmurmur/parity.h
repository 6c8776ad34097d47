/* SPDX-License-Identifier: BSD-3-Clause */
/* The loss of one file of a group of k is made good from the others: RAID 5 over ranks, as SCR does it (A. Moody and
 * others, "Design, Modeling, and Evaluation of a Scalable Multi-level Checkpointing System", SC 2010). Each file is cut
 * into k-1 segments of the same length. Member i of the group keeps the parity (exclusive or) of one segment of each of
 * the others: of member j the one of number (i - j - 1) modulo k. So each segment is in one parity, and no parity lies
 * where one of its segments does. */
#ifndef MUR_LIBMURMUR_PARITY_H
#define MUR_LIBMURMUR_PARITY_H

#include <stdint.h>

#include "libmurmur/flaw.h"

enum { MUR_PARITY_GROUP_MAX = 16 };

struct mur_parity {
    int count, position;                 /* of members; of the one that keeps this parity */
    int members[MUR_PARITY_GROUP_MAX];   /* ranks */
    int64_t bytes[MUR_PARITY_GROUP_MAX]; /* of their files */
    int64_t segment;
};

/* Collective over the group, whose ranks are the members' positions: writes this member's parity of the files, of which
 * `own` is this one's. count, position and members are given. */
void mur_parity_write(const char *path, const char *own, struct mur_parity *parity, MPI_Comm group,
                      struct mur_flaw *flaw);

/* Whether the file is whole. Fills *parity. */
bool mur_parity_check(const char *path, struct mur_parity *parity, struct mur_flaw *flaw);

/* Makes the file of the member at `lost` from the other members' files and parities, whose paths are given by position.
 */
bool mur_parity_rebuild(const char *path, int lost, const struct mur_parity *parity, const char *const *files,
                        const char *const *parities, struct mur_flaw *flaw);

#endif
