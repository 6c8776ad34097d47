/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm builds a collective's schedule: one table, and what users ask for. */
#ifndef MUR_COLL_CHOOSE_H
#define MUR_COLL_CHOOSE_H

#include "coll/collective.h"

struct mur_algorithm {
    enum mur_collective_kind kind;
    const char *name;
    size_t least_bytes; /* chosen for messages (or blocks) of so many bytes and more, */
    int least_ranks;    /* and so many ranks */
    void (*build)(struct mur_schedule *schedule, const struct mur_collective *collective);
    bool is_general; /* does every case; the others want one group, blocks of one size and commutative operations */
};
extern const struct mur_algorithm mur_algorithms[];
extern const size_t mur_algorithm_count;
extern uint64_t mur_algorithm_uses[]; /* how often each has built a schedule */

/* The name of a kind in lower case: "allreduce". */
const char *mur_collective_name(enum mur_collective_kind kind);

/* The same choice at all ranks. */
const struct mur_algorithm *mur_choose(const struct mur_collective *collective, const struct mur_comm *comm);

/* With MUR_COLL_VERBOSE=1: rank 0 of the communicator tells, once for each, what performs a collective, and why. */
void mur_choice_tell(const struct mur_collective *collective, const struct mur_comm *comm, const char *algorithm);

#endif
