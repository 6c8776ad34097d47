/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting ranks by nodes, and adding steps of teams. */
#include "coll/hierarchy/nodes.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/settings.h"
#include "boot/process.h"
#include "object/group.h"
#include "transport/transport.h"

/* Of communicators that need not know more. */
static const struct mur_nodes one_node = {.is_contiguous = true};
static const struct mur_nodes unknown_nodes = {.is_between = true};
static const struct mur_nodes node_team = {.is_team = true};
static const struct mur_nodes leader_team = {.is_team = true, .is_between = true};

struct place {
    int node, rank;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    return left->rank - right->rank;
}

/* Writes the lowest rank on each rank's node. */
static bool find_firsts(const int *node_of, int size, int *firsts)
{
    struct place *places = malloc((size_t)size * sizeof *places);

    if (!places)
        return false;
    for (int i = 0; i < size; i++)
        places[i] = (struct place){node_of[i], i};
    qsort(places, (size_t)size, sizeof *places, compare_places);
    for (int i = 0, first = 0; i < size; i++) {
        if (places[i].node != places[first].node)
            first = i;
        firsts[places[i].rank] = places[first].rank;
    }
    free(places);
    return true;
}

/* Fills starts[0..count] and members from the numbers of the nodes. */
static void sort_members(const int *numbers, int size, int count, int *starts, int *members)
{
    for (int i = 0; i < count + 2; i++)
        starts[i] = 0;
    for (int i = 0; i < size; i++)
        starts[numbers[i] + 2]++;
    for (int i = 2; i < count + 2; i++)
        starts[i] += starts[i - 1];
    for (int i = 0; i < size; i++) /* while it is being filled, the end of node n is at n + 1 */
        members[starts[numbers[i] + 1]++] = i;
}

struct mur_nodes *mur_nodes_create(const int *node_of, int size, int rank)
{
    struct mur_nodes *nodes = malloc(sizeof *nodes + (3 * (size_t)size + 2) * sizeof(int));
    int *numbers, *members, *starts, count = 0;
    bool is_contiguous = true;

    if (!nodes)
        return NULL;
    numbers = nodes->storage;
    members = numbers + size;
    starts = members + size;
    if (!find_firsts(node_of, size, numbers)) {
        free(nodes);
        return NULL;
    }
    for (int i = 0; i < size; i++) { /* a node's first rank comes before its others */
        numbers[i] = numbers[i] == i ? count++ : numbers[numbers[i]];
        is_contiguous &= !i || numbers[i] >= numbers[i - 1];
    }
    sort_members(numbers, size, count, starts, members);
    *nodes = (struct mur_nodes){.count = count,
                                .is_between = count > 1,
                                .is_contiguous = is_contiguous,
                                .mine = numbers[rank],
                                .node_of = numbers,
                                .starts = starts,
                                .members = members};
    while (mur_nodes_rank(nodes, nodes->mine, nodes->me) != rank)
        nodes->me++;
    return nodes;
}

static bool are_on_one_host(const struct mur_comm *comm)
{
    for (int i = 1; i < comm->size; i++)
        if (mur_process.node_of[comm->processes[i]] != mur_process.node_of[comm->processes[0]])
            return false;
    return true;
}

const struct mur_nodes *mur_nodes_of(struct mur_comm *comm)
{
    bool is_shared = mur_transport_is_wanted("shm"); /* else each rank is a node of its own, as far as messages go */
    struct mur_nodes *nodes;
    int *node_of;

    if (comm->nodes)
        return comm->nodes;
    if (comm->board)
        return &one_node;
    if (comm->group->has_foreign)
        return &unknown_nodes;
    node_of = malloc((size_t)comm->size * sizeof *node_of);
    if (!node_of)
        return NULL;
    for (int i = 0; i < comm->size; i++)
        node_of[i] = is_shared ? mur_process.node_of[comm->processes[i]] : i;
    nodes = mur_nodes_create(node_of, comm->size, comm->rank);
    free(node_of);
    if (nodes)
        nodes->is_one_host = nodes->is_between && !is_shared && are_on_one_host(comm);
    comm->nodes = nodes;
    return nodes;
}

/* Between hosts, small pieces soon keep all links busy. On one host the ranks share processors, and each piece costs
 * its receiver's turn on one. */
size_t mur_nodes_piece(const struct mur_nodes *nodes)
{
    enum { BETWEEN_HOSTS = 32 << 10, ON_ONE_HOST = 256 << 10 };

    if (mur_settings.coll_piece)
        return (size_t)mur_settings.coll_piece;
    return nodes && nodes->is_one_host ? ON_ONE_HOST : BETWEEN_HOSTS;
}

void mur_hierarchy_team_enter(struct mur_team *team, struct mur_schedule *s, const int *ranks, int size, int rank,
                              bool is_between)
{
    team->comm = (struct mur_comm){.rank = rank, .size = size, .nodes = is_between ? &leader_team : &node_team};
    team->outer = s->comm;
    s->comm = &team->comm;
    s->ranks = ranks;
}

void mur_hierarchy_team_leave(struct mur_team *team, struct mur_schedule *s)
{
    s->comm = team->outer;
    s->ranks = NULL;
}

void mur_hierarchy_team_enter_node(struct mur_team *team, struct mur_schedule *s)
{
    const struct mur_nodes *nodes = mur_nodes_of(s->comm);

    mur_hierarchy_team_enter(team, s, nodes->members + nodes->starts[nodes->mine], mur_nodes_ranks(nodes, nodes->mine),
                             nodes->me, false);
}
