/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators out of one: each finds out who the members are, makes the communicator, and lets them agree on
 * its contexts (comm/agree.c). Communicators of disjoint groups may share an id, so a split needs one agreement for all
 * of its parts. */
#include "comm/create.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "comm/agree.h"
#include "object/topology.h"

/* Ends the making of *newcomm, which is NULL where this process only takes part. With `group`, its members call. */
static int finish(struct mur_comm *comm, struct mur_group *group, int tag, int wanted, bool has_failed,
                  struct mur_comm **newcomm, MPI_Request *request)
{
    struct mur_schedule *s = group ? mur_schedule_create_apart(comm) : mur_schedule_create(comm);
    int rc = MPI_SUCCESS;

    if (s) {
        struct mur_scope scope =
            group ? (struct mur_scope){.comm = comm, .group = group, .tag = tag} : mur_agree_scope_of(s, comm);

        s->is_strict = true; /* nor must lack of memory on the way leave the others waiting */
        mur_agree(s, &scope, wanted, *newcomm, has_failed);
        rc = request ? mur_schedule_start(s, request) : mur_schedule_run(s);
    } else {
        rc = mur_error(MPI_ERR_NO_MEM, "no memory to make a communicator");
    }
    if (rc && *newcomm) {
        mur_comm_release(*newcomm);
        *newcomm = NULL;
    }
    return rc;
}

int mur_comm_create_from(struct mur_comm *comm, struct mur_group *group, bool has_failed, struct mur_comm **newcomm)
{
    int me = has_failed ? MPI_UNDEFINED : group->rank, rc = MPI_SUCCESS;

    if (comm->remote)
        return mur_comm_split(comm, me == MPI_UNDEFINED ? MPI_UNDEFINED : 0, me, has_failed, newcomm);
    *newcomm = NULL;
    if (me != MPI_UNDEFINED)
        rc = mur_comm_create(comm, group, NULL, newcomm);
    return rc ? rc : finish(comm, NULL, 0, 1, has_failed, newcomm, NULL);
}

int mur_comm_create_in_group(struct mur_comm *comm, struct mur_group *group, int tag, struct mur_comm **newcomm)
{
    int rc;

    *newcomm = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    rc = mur_comm_create(comm, group, NULL, newcomm);
    return rc ? rc : finish(comm, group, tag, 1, false, newcomm, NULL);
}

/* The others wait. If the call returns at once, this goes on behind it. */
static int dup_refused(struct mur_comm *comm, struct mur_comm **newcomm, MPI_Request *request)
{
    MPI_Request unseen;
    int rc = finish(comm, NULL, 0, mur_comm_contexts_needed(comm), true, newcomm, request ? &unseen : NULL);

    if (request && !rc)
        mur_request_detach(mur_request_find(unseen));
    return rc;
}

int mur_comm_dup(struct mur_comm *comm, bool has_failed, struct mur_comm **newcomm, MPI_Request *request)
{
    int rc;

    *newcomm = NULL;
    if (has_failed)
        return dup_refused(comm, newcomm, request);
    rc = mur_comm_create(comm, comm->group, comm->remote, newcomm);
    if (rc)
        return rc;
    if (comm->topology) {
        (*newcomm)->topology = mur_topology_dup(comm->topology);
        if (!(*newcomm)->topology) {
            mur_comm_release(*newcomm);
            return mur_error(MPI_ERR_NO_MEM, "no memory for a copy of the topology");
        }
    }
    return finish(comm, NULL, 0, mur_comm_contexts_needed(*newcomm), false, newcomm, request);
}

/* What a rank tells. */
enum { HAS_FAILED = -1 }; /* as the color of one */
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

/* The group of those of `all` whose color is mine, in their order. Overwrites `places`. */
static int split_group(struct mur_group *all, struct place *places, int color, struct mur_group **group)
{
    int *processes = malloc((size_t)all->size * sizeof *processes);
    int count = 0, rc;

    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of up to %d processes", all->size);
    for (int i = 0; i < all->size; i++)
        if (places[i].color == color)
            places[count++] = places[i];
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int i = 0; i < count; i++)
        processes[i] = all->processes[places[i].rank];
    rc = mur_group_create(processes, count, group);
    free(processes);
    return rc;
}

int mur_comm_gather_places(struct mur_comm *comm, void *places, void *remote_places, int ints)
{
    struct mur_schedule *s = mur_schedule_create(comm);
    struct mur_type *type = mur_type_find(MPI_INT);
    struct mur_blocks blocks = mur_blocks_regular(places, ints, type);

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to split a communicator");
    if (comm->remote) {
        struct mur_blocks remote_blocks = mur_blocks_regular(remote_places, ints, type);

        mur_coll_allgather(s, mur_block(&blocks, comm->rank), ints, type, &remote_blocks);
        mur_schedule_fence(s);
        mur_schedule_move_to_local(s);
    }
    mur_coll_allgather(s, MPI_IN_PLACE, 0, NULL, &blocks);
    return mur_schedule_run(s);
}

/* All ranks know which rank has failed. */
static int check_places(const struct place *places, int size, const char *whose)
{
    for (int i = 0; i < size; i++)
        if (places[i].color == HAS_FAILED)
            return mur_agree_failed_elsewhere(i, whose);
    return MPI_SUCCESS;
}

/* Makes the communicator of my color, still without contexts; NULL where there is none. */
static int create_part(struct mur_comm *comm, int color, struct place *places, struct place *remote_places,
                       struct mur_comm **newcomm)
{
    struct mur_group *group, *remote = NULL;
    int rc = split_group(comm->group, places, color, &group);

    if (rc)
        return rc;
    if (comm->remote)
        rc = split_group(comm->remote, remote_places, color, &remote);
    if (!rc && (!remote || remote->size))
        rc = mur_comm_create(comm, group, remote, newcomm);
    mur_group_release(group);
    if (remote)
        mur_group_release(remote);
    return rc;
}

int mur_comm_split(struct mur_comm *comm, int color, int key, bool has_failed, struct mur_comm **newcomm)
{
    size_t mine = (size_t)comm->group->size, theirs = comm->remote ? (size_t)comm->remote->size : 0;
    struct place *places = malloc((mine + theirs) * sizeof *places);
    int rc;

    *newcomm = NULL;
    if (!places)
        return mur_error(MPI_ERR_NO_MEM, "no memory to split a communicator of %zu ranks", mine + theirs);
    places[comm->rank] = (struct place){has_failed ? HAS_FAILED : color, key, comm->rank};
    rc = mur_comm_gather_places(comm, places, places + mine, sizeof *places / sizeof(int));
    if (!rc)
        rc = check_places(places, (int)mine, comm->remote ? "local group" : "communicator");
    if (!rc)
        rc = check_places(places + mine, (int)theirs, "remote group");
    if (!rc && color != MPI_UNDEFINED)
        rc = create_part(comm, color, places, places + mine, newcomm);
    free(places);
    return rc ? rc : finish(comm, NULL, 0, comm->remote ? 2 : 1, false, newcomm, NULL);
}
