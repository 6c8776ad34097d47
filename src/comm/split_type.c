/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks tell all others what they ask for and where they are bound; from that each computes the same answer: a
 * level of the machine, and its own color, the instance of that level which it is confined to. */
#include "comm/split_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/machine.h"
#include "boot/psets.h"
#include "comm/create.h"
#include "engine/engine.h"
#include "engine/foreign.h"

/* What a rank may ask for: a level of the machine, or one of these. */
enum { BY_NODE = -1, BY_NOTHING = -2, BY_NEXT = -3, BY_SET = -4 }; /* or BY_SET less the number of a process set */

struct place {
    int split_type, wanted;
    int node;                  /* ranks with the same can share memory, in both groups of an intercommunicator */
    int instances[MUR_LEVELS]; /* that the rank is confined to, or -1 */
};

static int wanted_resource(const char *value)
{
    int level;

    if (!strcmp(value, "mpi_shared_memory"))
        return BY_NODE;
    level = mur_level_find(value);
    return level < 0 ? BY_NOTHING : level;
}

static int wanted_set(const char *name)
{
    const struct mur_pset *set = mur_pset_find(name);

    return set ? BY_SET - mur_pset_number(set) : BY_NOTHING;
}

static int wanted(int split_type, const struct mur_info *info)
{
    const char *resource = mur_info_get(info, "mpi_hw_resource_type");
    const char *set = mur_info_get(info, "mpi_pset_name");

    switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
        return BY_NODE;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return BY_NEXT;
    case MPI_COMM_TYPE_HW_GUIDED:
        return resource ? wanted_resource(resource) : BY_NOTHING;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        if (resource)
            return wanted_resource(resource);
        return set ? wanted_set(set) : BY_NOTHING;
    default:
        return BY_NOTHING;
    }
}

/* All ranks, those of one group after those of the other: `is_first` where that is this process's group. Both sides of
 * an intercommunicator have the same order. */
struct both {
    struct mur_group *groups[2];
    bool is_first;
};

static struct both both_groups(const struct mur_comm *comm)
{
    struct mur_group *mine = comm->group, *theirs = comm->remote;

    if (!theirs)
        return (struct both){.groups = {mine}, .is_first = true};
    if (mur_foreign_precedes(mine->processes[0], theirs->processes[0]))
        return (struct both){.groups = {mine, theirs}, .is_first = true};
    return (struct both){.groups = {theirs, mine}};
}

/* This process's number in that order. */
static int my_number(const struct mur_comm *comm)
{
    struct both both = both_groups(comm);

    return both.is_first ? comm->rank : both.groups[0]->size + comm->rank;
}

/* The least number that this process shares memory with: without shared memory, each is a node of its own. */
static int my_node(const struct mur_comm *comm)
{
    struct both both = both_groups(comm);
    int number = 0;

    for (int side = 0; side < 2 && both.groups[side]; side++)
        for (int rank = 0; rank < both.groups[side]->size; rank++, number++)
            if (mur_engine.peers[both.groups[side]->processes[rank]].local >= 0)
                return number;
    return number;
}

/* The coarsest division of the ranks that has more than one part; BY_NOTHING where there is none. */
static int next_level(const struct place *places, int size)
{
    for (int i = 1; i < size; i++)
        if (places[i].node != places[0].node)
            return BY_NODE;
    for (int level = 0; level < MUR_LEVELS; level++)
        for (int i = 1; i < size; i++)
            if (places[i].instances[level] != places[0].instances[level])
                return level;
    return BY_NOTHING;
}

/* What all who take part ask for; BY_NOTHING where they do not agree. */
static int agreed(const struct place *places, int size)
{
    int found = BY_NOTHING;
    bool has_one = false;

    for (int i = 0; i < size; i++) {
        if (places[i].split_type == MPI_UNDEFINED)
            continue;
        if (has_one && places[i].wanted != found)
            return BY_NOTHING;
        found = places[i].wanted;
        has_one = true;
    }
    return found == BY_NEXT ? next_level(places, size) : found;
}

static int color_of(const struct place *place, int by, int number)
{
    if (place->split_type == MPI_UNDEFINED || by == BY_NOTHING)
        return MPI_UNDEFINED;
    if (by <= BY_SET && !strcmp(mur_pset_numbered(BY_SET - by)->name, "mpi://SELF"))
        return number;
    if (by <= BY_SET)
        return mur_pset_numbered(BY_SET - by)->has_me ? 0 : MPI_UNDEFINED;
    if (by == BY_NODE)
        return place->node;
    if (place->instances[by] < 0)
        return MPI_UNDEFINED;
    return place->node * 65536 + place->instances[by];
}

static int tell(struct mur_info *info, int by)
{
    char value[64];

    if (!info || (by < 0 && by != BY_NODE))
        return MPI_SUCCESS;
    if (by == BY_NODE)
        return mur_info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    snprintf(value, sizeof value, "hwloc://%s", mur_level_names[by]);
    return mur_info_set(info, "mpi_hw_resource_type", value);
}

int mur_comm_split_type(struct mur_comm *comm, int split_type, int key, struct mur_info *info, bool has_failed,
                        struct mur_comm **newcomm)
{
    int mine = comm->group->size, all = mur_comm_ranks(comm);
    struct place *places = calloc((size_t)all, sizeof *places);
    int by = BY_NOTHING, color = MPI_UNDEFINED, rc;

    *newcomm = NULL;
    if (!places)
        return mur_error(MPI_ERR_NO_MEM, "no memory to split a communicator of %d ranks", all);
    places[comm->rank].split_type = has_failed ? MPI_UNDEFINED : split_type;
    places[comm->rank].wanted = wanted(split_type, info);
    places[comm->rank].node = my_node(comm);
    if (split_type != MPI_COMM_TYPE_SHARED) /* which asks for nothing of the machine's inside */
        for (int level = 0; level < MUR_LEVELS; level++)
            places[comm->rank].instances[level] = mur_machine_instance_here((enum mur_level)level);
    rc = mur_comm_gather_places(comm, places, places + mine, sizeof *places / sizeof(int));
    if (!rc) {
        by = agreed(places, all);
        color = color_of(&places[comm->rank], by, my_number(comm));
    }
    free(places);
    if (!rc)
        rc = mur_comm_split(comm, color, key, has_failed, newcomm);
    if (!rc && split_type == MPI_COMM_TYPE_HW_UNGUIDED)
        rc = tell(info, by);
    return rc;
}
