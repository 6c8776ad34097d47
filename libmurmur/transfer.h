/* SPDX-License-Identifier: BSD-3-Clause */
/* Files from rank to rank. */
#ifndef MUR_LIBMURMUR_TRANSFER_H
#define MUR_LIBMURMUR_TRANSFER_H

#include <limits.h>
#include <stdint.h>

#include "libmurmur/flaw.h"

struct mur_file_transfer {
    int from, to;    /* ranks, which may be the same */
    int64_t bytes;   /* of the file */
    char source[32]; /* name in the sender's directory */
    char target[64]; /* in the receiver's */
};

/* Collective: all ranks give the same list. Each reads below `source` and writes below `target`, and syncs what it has
 * written. All transfers go on at once, a piece of each at a time. The flaw is this rank's own. */
void mur_transfers_run(const struct mur_file_transfer *list, int count, const char *source, const char *target,
                       MPI_Comm comm, struct mur_flaw *flaw);

#endif
