/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreeing on context ids: the members of a communicator that is being made take ids that are free at all of them. */
#ifndef MUR_COMM_AGREE_H
#define MUR_COMM_AGREE_H

#include "coll/schedule/schedule.h"
#include "object/group.h"

/* Who agrees. */
struct mur_scope {
    struct mur_comm *comm; /* all of its ranks; or, with `group`, the members of that only */
    struct mur_group *group;
    int tag; /* of the members' messages */
    /* Where there is another such side: who speaks for this one, and how to reach the other's speaker. */
    bool is_two_sided;
    int leader;
    struct mur_comm *bridge;
    uint32_t bridge_context;
    int bridge_rank, bridge_tag;
    /* Called with the owner at each member of this side before the schedule fails, since the other side is out of
     * reach; or NULL. */
    void (*on_loss)(void *owner);
    void *owner;
};

/* All of an intracommunicator, or both sides of an intercommunicator. The schedule is one of this communicator. */
struct mur_scope mur_agree_scope_of(struct mur_schedule *schedule, struct mur_comm *comm);

/* Adds the steps that replace `words` by the bitwise and of all members' words. Where the speaker cannot reach that of
 * the other side, the schedule fails at all members of this side. */
void mur_agree_scope_and(struct mur_schedule *schedule, const struct mur_scope *scope, uint64_t *words, int count);

/* The error of the others where a call has failed at one rank of `whose`: "communicator", "local group". */
int mur_agree_failed_elsewhere(int rank, const char *whose) __attribute__((cold));

/* Adds the steps that agree on `wanted` (1 or 2) ids and give them to `newcomm`, which is NULL where this process takes
 * part but is no member. Newcomm stays alive until the schedule is over. Where `has_failed`, the process takes part
 * only to let the others know: the schedule fails at all of them, with an error that names the rank. A scope of a group
 * has no such process. */
void mur_agree(struct mur_schedule *schedule, const struct mur_scope *scope, int wanted, struct mur_comm *newcomm,
               bool has_failed);

#endif
