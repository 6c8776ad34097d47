/* SPDX-License-Identifier: BSD-3-Clause */
/* How the ranks of a communicator lie on nodes, and teams: some of its ranks that do a stage of a collective among
 * themselves, those of a node, or one of each node. */
#ifndef MUR_COLL_NODES_H
#define MUR_COLL_NODES_H

#include "coll/schedule/schedule.h"

struct mur_nodes {
    int count;          /* of nodes that have ranks of it; 0 where nobody needs to know, see span */
    bool is_between;    /* messages go between nodes; false: all ranks are on one */
    bool is_one_host;   /* messages go by the sockets of one host, whose processors the ranks share */
    bool is_team;       /* of a team, not of a communicator */
    bool is_contiguous; /* ranks of a node are consecutive */
    int mine;           /* this rank's node: nodes are numbered in the order of their first ranks */
    int me;             /* this rank among those of its node */
    const int *node_of; /* [size] */
    const int *starts;  /* [count + 1] the ranks of node n are members[starts[n]] up to members[starts[n + 1]], */
    const int *members; /* [size] in their order */
    int storage[];
};

/* Of an intracommunicator; made when first asked for, and kept with it. NULL: no memory. */
const struct mur_nodes *mur_nodes_of(struct mur_comm *comm);

/* The same from the node of each rank. NULL: no memory. */
struct mur_nodes *mur_nodes_create(const int *node_of, int size, int rank);

/* Bytes of the pieces in which a large message is passed on. */
size_t mur_nodes_piece(const struct mur_nodes *nodes);

/* Several nodes, of which one at least has several ranks. */
static inline bool mur_nodes_are_several(const struct mur_nodes *nodes, int size)
{
    return nodes->count > 1 && nodes->count < size;
}

static inline int mur_nodes_ranks(const struct mur_nodes *nodes, int node)
{
    return nodes->starts[node + 1] - nodes->starts[node];
}

static inline int mur_nodes_rank(const struct mur_nodes *nodes, int node, int i)
{
    return nodes->members[nodes->starts[node] + i];
}

/* Steps that are added are among the team's ranks, until mur_hierarchy_team_leave. `ranks` are those of the
 * communicator that the schedule is one of at the time, and is only read before that. */
struct mur_team {
    struct mur_comm comm; /* its rank and size; the rest is not there */
    struct mur_comm *outer;
};
void mur_hierarchy_team_enter(struct mur_team *team, struct mur_schedule *s, const int *ranks, int size, int rank,
                              bool is_between);
void mur_hierarchy_team_leave(struct mur_team *team, struct mur_schedule *s);

/* The ranks of this node. */
void mur_hierarchy_team_enter_node(struct mur_team *team, struct mur_schedule *s);

#endif
