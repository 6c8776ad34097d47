/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of hierarchical collectives: among the ranks of this node, and among the leaders, one of each node. A
 * stage is a collective of a team, performed as the table says for it. */
#ifndef MUR_COLL_HIERARCHICAL_H
#define MUR_COLL_HIERARCHICAL_H

#include "coll/algorithms.h"

struct mur_hierarchy {
    struct mur_schedule *s;
    const struct mur_nodes *nodes;
    int *leaders;   /* [nodes->count] ranks */
    int leader;     /* of this node, among its ranks */
    int here;       /* ranks on this node */
    bool is_leader; /* this rank */
    struct mur_team team;
};

/* Leaders are the lowest ranks of their nodes, but `root` on its own. False, with the schedule's error set: no memory.
 */
bool mur_hierarchy_start(struct mur_hierarchy *h, struct mur_schedule *s, int root);

/* Makes the highest rank of each node its leader. */
void mur_hierarchy_lead_by_last(struct mur_hierarchy *h);

/* Adds a stage, for the ranks that take part: of the collective, only what matters to this rank need be there. Stages
 * of a single rank must be left out by the caller. A fence stands before it. */
void mur_hierarchy_stage_node(struct mur_hierarchy *h, const struct mur_collective *c);
void mur_hierarchy_stage_leaders(struct mur_hierarchy *h, const struct mur_collective *c);

#endif
