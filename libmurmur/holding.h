/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left of a snapshot on the hosts' disks: its whole files, wherever they are. All ranks know all of it, so all
 * come to the same plan of who sends what to whom. */
#ifndef MUR_LIBMURMUR_HOLDING_H
#define MUR_LIBMURMUR_HOLDING_H

#include "libmurmur/parity.h"
#include "libmurmur/place.h"

enum mur_holding_kind { MUR_HOLDING_OWN, MUR_HOLDING_COPY, MUR_HOLDING_PARITY, MUR_HOLDING_KINDS };
enum { MUR_HOLDING_NAME = 32 };

struct mur_holding {
    int kind, rank; /* whose data, or whose parity */
    int ranks;      /* of the job that wrote it */
    int holder;     /* a rank that can read it */
    int64_t bytes;
    struct mur_parity parity;
};

struct mur_holdings {
    struct mur_holding *at;
    int count;
};

void mur_holding_name(char name[MUR_HOLDING_NAME], enum mur_holding_kind kind, int rank);

/* Collective: checks the files of a snapshot, which the ranks of a place share among them. To be freed. */
bool mur_holdings_find(struct mur_holdings *holdings, const char *directory, int64_t version,
                       const struct mur_places *places, MPI_Comm comm);

/* One of that kind and rank, one that `place` holds if there is one; NULL: there is none. */
const struct mur_holding *mur_holdings_get(const struct mur_holdings *holdings, enum mur_holding_kind kind, int rank,
                                           const struct mur_places *places, int place);

/* A parity of the group that the rank belonged to; *position is the rank's in it. */
const struct mur_holding *mur_holdings_group(const struct mur_holdings *holdings, int rank, int *position);

#endif
