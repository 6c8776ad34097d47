/* SPDX-License-Identifier: BSD-3-Clause */
/* Where there is no communicator, the members talk in a context that is kept for this, over a makeshift communicator of
 * the group; a tag made of the string and the group keeps calls apart that are under way at one time. */
#include "comm/from_group.h"

#include "base/error.h"
#include "coll/schedule/schedule.h"
#include "comm/create.h"
#include "comm/intercomm.h"
#include "engine/foreign.h"
#include "object/context.h"
#include "object/errhandler.h"

/* FNV-1a. */
static uint32_t hash(uint32_t value, const void *data, size_t bytes)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < bytes; i++)
        value = (value ^ byte[i]) * 16777619u;
    return value;
}

static int tag_of(const char *stringtag, const struct mur_group *group)
{
    uint32_t value = 2166136261u;

    while (*stringtag)
        value = hash(value, stringtag++, 1);
    if (!group->has_foreign)
        return (int)(hash(value, group->processes, (size_t)group->size * sizeof *group->processes) & INT32_MAX);
    for (int i = 0; i < group->size; i++) { /* whose numbers differ from member to member */
        struct mur_identity identity;

        mur_foreign_identify(group->processes[i], &identity);
        value = hash(hash(value, &identity.job, sizeof identity.job), &identity.rank, sizeof identity.rank);
    }
    return (int)(value & INT32_MAX);
}

/* A communicator in the kept context. It is given up by makeshift_free. */
static int makeshift(struct mur_group *group, struct mur_comm **comm_p)
{
    int rc = mur_comm_create(&mur_comm_self, group, NULL, comm_p);

    if (!rc)
        (*comm_p)->context = MUR_CONTEXT_GROUPS;
    return rc;
}

static void makeshift_free(struct mur_comm *comm)
{
    comm->context = MUR_CONTEXT_NONE; /* the context stays */
    mur_comm_release(comm);
}

int mur_comm_create_from_group(struct mur_group *group, const char *stringtag, struct mur_errhandler *errhandler,
                               struct mur_comm **newcomm)
{
    struct mur_comm *comm;
    int rc;

    *newcomm = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    rc = makeshift(group, &comm);
    if (rc)
        return rc;
    mur_errhandler_attach(&comm->errhandler, errhandler);
    rc = mur_comm_create_in_group(comm, group, tag_of(stringtag, group), newcomm);
    makeshift_free(comm);
    return rc;
}

/* The two leaders, in the order of their processes, so that both make the same group. */
static int group_of_leaders(int mine, int theirs, struct mur_group **group)
{
    bool is_first = mur_foreign_precedes(mine, theirs);
    int processes[2] = {is_first ? mine : theirs, is_first ? theirs : mine};

    return mur_group_create(processes, 2, group);
}

static int meet(struct mur_comm *local, int local_leader, struct mur_group *remote, int remote_leader,
                const char *stringtag, struct mur_comm **newcomm)
{
    struct mur_comm *bridge = NULL;
    struct mur_group *leaders;
    int rc, tag = 0;

    if (local->rank == local_leader) {
        rc = group_of_leaders(local->processes[local_leader], remote->processes[remote_leader], &leaders);
        if (rc)
            return rc;
        tag = tag_of(stringtag, leaders);
        rc = makeshift(leaders, &bridge);
        mur_group_release(leaders);
        if (rc)
            return rc;
    }
    rc = mur_intercomm_create(local, local_leader, bridge, bridge ? 1 - bridge->rank : 0, tag, newcomm);
    if (bridge)
        makeshift_free(bridge);
    return rc;
}

int mur_intercomm_create_from_groups(struct mur_group *local_group, int local_leader, struct mur_group *remote,
                                     int remote_leader, const char *stringtag, struct mur_errhandler *errhandler,
                                     struct mur_comm **newcomm)
{
    struct mur_comm *local;
    int rc = mur_comm_create_from_group(local_group, stringtag, errhandler, &local);

    *newcomm = NULL;
    if (rc || !local)
        return rc;
    rc = mur_collective_result(meet(local, local_leader, remote, remote_leader, stringtag, newcomm),
                               local_group->size + remote->size);
    mur_comm_release(local);
    return rc;
}
