/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators. A context id is agreed upon by intersecting the members' bitmaps of free ids and taking the
 * lowest that is left: no counter runs out, and ids of freed communicators come back. Communicators of disjoint
 * groups may share an id, so a split needs one agreement for all of its parts. */
#include "comm/create.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "object/context.h"
#include "pt2pt/pt2pt.h"
#include "object/topology.h"

enum { GROUP_TAG = 1 << 30 }; /* apart from the tags of collectives, see mur_schedule_create */

static int no_context_left(void)
{
    return mur_error(MPI_ERR_OTHER,
                     "no context id is free at all ranks: the program has %d communicators at a time; "
                     "free some with MPI_Comm_free",
                     MUR_CONTEXT_LIMIT);
}

/* Intersects the bitmaps of all ranks of `comm`. */
static int agree(struct mur_comm *comm, uint64_t bits[MUR_CONTEXT_WORDS])
{
    struct mur_schedule *schedule = mur_schedule_create(comm);

    if (!schedule)
        return mur_error(MPI_ERR_NO_MEM, "no memory to make a communicator");
    mur_context_free_bits(bits);
    mur_coll_allreduce(schedule, MPI_IN_PLACE, bits, MUR_CONTEXT_WORDS, mur_type_find(MPI_UINT64_T),
                       mur_op_find(MPI_BAND));
    return mur_schedule_run(schedule);
}

/* A communicator over `group` with an id from the intersection; NULL where this process is no member. */
static int create_agreed(struct mur_comm *comm, struct mur_group *group, const uint64_t bits[MUR_CONTEXT_WORDS],
                         struct mur_comm **newcomm)
{
    uint32_t context;
    int rc;

    *newcomm = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    context = mur_context_take(bits);
    if (!context)
        return no_context_left();
    rc = mur_comm_create(comm, group, context, newcomm);
    if (rc)
        mur_context_free(context);
    return rc;
}

int mur_comm_create_from(struct mur_comm *comm, struct mur_group *group, struct mur_comm **newcomm)
{
    uint64_t bits[MUR_CONTEXT_WORDS];
    int rc = agree(comm, bits);

    return rc ? rc : create_agreed(comm, group, bits, newcomm);
}

int mur_comm_dup(struct mur_comm *comm, struct mur_comm **newcomm)
{
    int rc = mur_comm_create_from(comm, comm->group, newcomm);

    if (rc || !comm->topology)
        return rc;
    (*newcomm)->topology = mur_topology_dup(comm->topology);
    if ((*newcomm)->topology)
        return MPI_SUCCESS;
    mur_comm_release(*newcomm);
    return mur_error(MPI_ERR_NO_MEM, "no memory for a copy of the topology");
}

struct place {
    int color, key, rank;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->rank - right->rank;
}

/* The group of the ranks whose color is mine, in their order. Overwrites `places`. */
static int split_group(struct mur_comm *comm, struct place *places, int color, struct mur_group **group)
{
    int *processes = malloc((size_t)comm->size * sizeof *processes);
    int count = 0, rc;

    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of up to %d processes", comm->size);
    for (int i = 0; i < comm->size; i++)
        if (places[i].color == color)
            places[count++] = places[i];
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int i = 0; i < count; i++)
        processes[i] = comm->processes[places[i].rank];
    rc = mur_group_create(processes, count, group);
    free(processes);
    return rc;
}

static int gather_places(struct mur_comm *comm, int color, int key, struct place *places)
{
    struct mur_schedule *schedule = mur_schedule_create(comm);
    struct mur_blocks blocks = mur_blocks_regular(places, 3, mur_type_find(MPI_INT));

    if (!schedule)
        return mur_error(MPI_ERR_NO_MEM, "no memory to make a communicator");
    places[comm->rank] = (struct place){color, key, comm->rank};
    mur_coll_allgather(schedule, MPI_IN_PLACE, 0, NULL, &blocks);
    return mur_schedule_run(schedule);
}

int mur_comm_split(struct mur_comm *comm, int color, int key, struct mur_comm **newcomm)
{
    struct place *places = malloc((size_t)comm->size * sizeof *places);
    uint64_t bits[MUR_CONTEXT_WORDS];
    struct mur_group *group;
    int rc;

    *newcomm = NULL;
    if (!places)
        return mur_error(MPI_ERR_NO_MEM, "no memory to split a communicator of %d ranks", comm->size);
    rc = gather_places(comm, color, key, places);
    if (!rc)
        rc = agree(comm, bits);
    if (!rc && color != MPI_UNDEFINED) {
        rc = split_group(comm, places, color, &group);
        if (!rc) {
            rc = create_agreed(comm, group, bits, newcomm);
            mur_group_release(group);
        }
    }
    free(places);
    return rc;
}

/* The first member intersects the bitmaps and tells the rest; ranks are those of `comm`. */
static int agree_in_group(struct mur_comm *comm, struct mur_group *group, int tag, uint64_t bits[MUR_CONTEXT_WORDS])
{
    struct mur_type *type = mur_type_find(MPI_UINT64_T);
    uint64_t other[MUR_CONTEXT_WORDS];
    uint32_t context = comm->context + 1;
    int leader = mur_group_rank_of(comm->group, group->processes[0]);
    int rc = MPI_SUCCESS;

    mur_context_free_bits(bits);
    if (group->rank) {
        rc = mur_send(bits, MUR_CONTEXT_WORDS, type, leader, tag | GROUP_TAG, comm, context, MUR_STANDARD);
        return rc ? rc
                  : mur_recv(bits, MUR_CONTEXT_WORDS, type, leader, tag | GROUP_TAG, comm, context, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < group->size && !rc; i++) {
        rc = mur_recv(other, MUR_CONTEXT_WORDS, type, mur_group_rank_of(comm->group, group->processes[i]),
                      tag | GROUP_TAG, comm, context, MPI_STATUS_IGNORE);
        for (int word = 0; word < MUR_CONTEXT_WORDS; word++)
            bits[word] &= other[word];
    }
    for (int i = 1; i < group->size && !rc; i++)
        rc = mur_send(bits, MUR_CONTEXT_WORDS, type, mur_group_rank_of(comm->group, group->processes[i]),
                      tag | GROUP_TAG, comm, context, MUR_STANDARD);
    return rc;
}

int mur_comm_create_in_group(struct mur_comm *comm, struct mur_group *group, int tag, struct mur_comm **newcomm)
{
    uint64_t bits[MUR_CONTEXT_WORDS];
    int rc;

    *newcomm = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    rc = agree_in_group(comm, group, tag, bits);
    return rc ? rc : create_agreed(comm, group, bits, newcomm);
}
