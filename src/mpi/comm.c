/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators (MPI-5.0 §7.4): queries, making and freeing them, names. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "coll/choose.h"
#include "coll/schedule/schedule.h"
#include "comm/create.h"
#include "comm/intercomm.h"
#include "comm/meet.h"
#include "comm/split_type.h"
#include "mpi/bodies.h"
#include "mpi/hints.h"
#include "mpi/parent.h"
#include "object/attribute.h"
#include "object/comm.h"
#include "object/group.h"
#include "object/info.h"
#include "object/request.h"
#include "pt2pt/lost.h"

int mur_mpi_comm_size(struct mur_comm *comm, int *size)
{
    *size = comm->group->size;
    return MPI_SUCCESS;
}

int mur_mpi_comm_rank(struct mur_comm *comm, int *rank)
{
    *rank = comm->rank;
    return MPI_SUCCESS;
}

int mur_mpi_comm_test_inter(struct mur_comm *comm, int *flag)
{
    *flag = comm->remote != NULL;
    return MPI_SUCCESS;
}

static int not_inter(void)
{
    return mur_error(MPI_ERR_COMM, "the communicator has one group only; an intercommunicator was expected");
}

int mur_mpi_comm_remote_size(struct mur_comm *comm, int *size)
{
    if (!comm->remote)
        return not_inter();
    *size = comm->remote->size;
    return MPI_SUCCESS;
}

int mur_mpi_comm_remote_group(struct mur_comm *comm, MPI_Group *group)
{
    if (!comm->remote)
        return not_inter();
    mur_group_retain(comm->remote);
    *group = mur_object_handle(comm->remote);
    return MPI_SUCCESS;
}

/* MPI_IDENT here means the same ranks in the same order: congruent communicators. */
int mur_mpi_comm_compare(struct mur_comm *comm1, struct mur_comm *comm2, int *result)
{
    int other = MPI_IDENT;

    if (comm1 == comm2) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    *result = MPI_UNEQUAL;
    if (!comm1->remote != !comm2->remote)
        return MPI_SUCCESS;
    *result = mur_group_compare(comm1->group, comm2->group);
    if (comm1->remote)
        other = mur_group_compare(comm1->remote, comm2->remote);
    if (*result == MPI_UNEQUAL || other == MPI_UNEQUAL)
        *result = MPI_UNEQUAL;
    else
        *result = *result == MPI_SIMILAR || other == MPI_SIMILAR ? MPI_SIMILAR : MPI_CONGRUENT;
    return MPI_SUCCESS;
}

/* The hints of MPI-5.0 §7.4.4, by their keys. */
static const struct {
    const char *key;
    uint32_t hint;
} hints[] = {
    {"mpi_assert_no_any_tag", MUR_HINT_NO_ANY_TAG},
    {"mpi_assert_no_any_source", MUR_HINT_NO_ANY_SOURCE},
    {"mpi_assert_exact_length", MUR_HINT_EXACT_LENGTH},
    {"mpi_assert_allow_overtaking", MUR_HINT_ALLOW_OVERTAKING},
    {"mpi_assert_strict_persistent_collective_ordering", MUR_HINT_STRICT_START_ORDER},
};

/* Keys that are not known, and values that are neither "true" nor "false", change nothing. */
void mur_comm_set_hints(struct mur_comm *comm, const struct mur_info *info)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        const char *value = mur_info_get(info, hints[i].key);

        if (value && !strcmp(value, "true"))
            comm->hints |= hints[i].hint;
        else if (value && !strcmp(value, "false"))
            comm->hints &= ~hints[i].hint;
    }
}

int mur_mpi_comm_set_info(struct mur_comm *comm, struct mur_info *info)
{
    int rc = mur_override_set(comm, info);

    if (!rc)
        mur_comm_set_hints(comm, info);
    return rc;
}

int mur_mpi_comm_get_info(struct mur_comm *comm, MPI_Info *info_used)
{
    struct mur_info *info;
    int rc = mur_info_create(&info);

    for (size_t i = 0; !rc && i < sizeof hints / sizeof hints[0]; i++) {
        rc = mur_info_set(info, hints[i].key, comm->hints & hints[i].hint ? "true" : "false");
        if (rc)
            mur_info_free(info);
    }
    if (!rc && (rc = mur_override_get(comm, info)))
        mur_info_free(info);
    if (!rc)
        *info_used = mur_object_handle(info);
    return rc;
}

/* Hands out a new communicator, or the null handle where this process is no member. Of `ranks` that make it together
 * the others would wait for one that has no memory; what has `failed` before, for any other reason, they know of. */
static int give(int failed, int rc, int ranks, struct mur_comm *made, MPI_Comm *newcomm)
{
    if (newcomm) /* whose arguments were refused has none */
        *newcomm = made && !failed && !rc ? (MPI_Comm)made : MPI_COMM_NULL;
    return failed ? failed : mur_collective_result(rc, ranks);
}

/* A copy has no hints of the original's (since MPI-4.0), only those given. */
static int dup(int failed, struct mur_comm *comm, const struct mur_info *info, MPI_Comm *newcomm, MPI_Request *request)
{
    struct mur_attribute *attributes = NULL;
    struct mur_comm *made = NULL;
    int rc;

    if (!failed)
        failed = mur_override_check(info);
    if (!failed)
        failed = mur_attributes_copy(&comm->attributes, comm, &attributes); /* as of now, also for an idup */
    rc = mur_comm_dup(comm, failed != MPI_SUCCESS, &made, request);
    if (failed || rc) {
        mur_attributes_delete(&attributes, comm);
    } else {
        made->attributes = attributes;
        mur_comm_set_hints(made, info);
        rc = mur_override_set(made, info);
    }
    return give(failed, rc, mur_comm_ranks(comm), made, newcomm);
}

int mur_mpi_comm_dup(int refused, struct mur_comm *comm, MPI_Comm *newcomm)
{
    return dup(refused, comm, NULL, newcomm, NULL);
}

int mur_mpi_comm_dup_with_info(int refused, struct mur_comm *comm, struct mur_info *info, MPI_Comm *newcomm)
{
    return dup(refused, comm, info, newcomm, NULL);
}

int mur_mpi_comm_idup(int refused, struct mur_comm *comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return dup(refused, comm, NULL, newcomm, request);
}

int mur_mpi_comm_idup_with_info(int refused, struct mur_comm *comm, struct mur_info *info, MPI_Comm *newcomm,
                                MPI_Request *request)
{
    return dup(refused, comm, info, newcomm, request);
}

int mur_mpi_comm_split(int refused, struct mur_comm *comm, int color, int key, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int failed = refused, rc;

    if (!failed && color < 0 && color != MPI_UNDEFINED)
        failed = mur_error(MPI_ERR_ARG, "color is %d, but must be 0 or more, or MPI_UNDEFINED", color);
    rc = mur_comm_split(comm, color, key, failed != MPI_SUCCESS, &made);
    return give(failed, rc, mur_comm_ranks(comm), made, newcomm);
}

int mur_mpi_comm_split_type(int refused, struct mur_comm *comm, int split_type, int key, struct mur_info *info,
                            MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int failed = refused, rc;

    if (!failed && split_type != MPI_UNDEFINED &&
        (split_type < MPI_COMM_TYPE_SHARED || split_type > MPI_COMM_TYPE_RESOURCE_GUIDED))
        failed = mur_error(MPI_ERR_ARG, "split_type is %d, but must be one of MPI_COMM_TYPE_..., or MPI_UNDEFINED",
                           split_type);
    rc = mur_comm_split_type(comm, split_type, key, info, failed != MPI_SUCCESS, &made);
    return give(failed, rc, mur_comm_ranks(comm), made, newcomm);
}

static int check_subgroup(struct mur_comm *comm, const struct mur_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (mur_group_rank_of(comm->group, group->processes[i]) == MPI_UNDEFINED)
            return mur_error(MPI_ERR_GROUP, "rank %d of the group is no member of the communicator", i);
    return MPI_SUCCESS;
}

int mur_mpi_comm_create(int refused, struct mur_comm *comm, struct mur_group *group, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int failed = refused, rc;

    if (!failed)
        failed = check_subgroup(comm, group);
    rc = mur_comm_create_from(comm, group, failed != MPI_SUCCESS, &made);
    return give(failed, rc, mur_comm_ranks(comm), made, newcomm);
}

int mur_mpi_comm_create_group(struct mur_comm *comm, struct mur_group *group, int tag, MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = comm->remote ? mur_error(MPI_ERR_COMM, "comm is an intercommunicator, but must have one group")
                          : check_subgroup(comm, group);

    if (!rc)
        rc = mur_comm_create_in_group(comm, group, tag, &made);
    return give(MPI_SUCCESS, rc, group->size, made, newcomm);
}

/* Finds a communicator that is to be given up. */
static int find_freeable(MPI_Comm comm, struct mur_comm **found)
{
    *found = mur_comm_find(comm);
    if (!*found)
        return mur_error(MPI_ERR_COMM, comm == MPI_COMM_NULL
                                           ? "comm is MPI_COMM_NULL, which cannot be freed"
                                           : "comm is no live communicator; has it been freed already?");
    if ((*found)->object.predefined)
        return mur_error(MPI_ERR_COMM, "%s cannot be freed", (*found)->name);
    return MPI_SUCCESS;
}

int mur_mpi_comm_free(MPI_Comm *comm)
{
    struct mur_comm *found;
    int rc = find_freeable(*comm, &found);

    if (rc || (rc = mur_attributes_delete(&found->attributes, found)))
        return rc;
    *comm = MPI_COMM_NULL;
    mur_parent_forget(found);
    if (found->has_lost)
        mur_lost_forget(found);
    mur_comm_release(found);
    return MPI_SUCCESS;
}

/* Like freeing, after all communication on it is complete, also what nobody waits for any more (§11.10.4). */
int mur_mpi_comm_disconnect(MPI_Comm *comm)
{
    struct mur_comm *found;
    int rc = find_freeable(*comm, &found);

    if (rc || (rc = mur_attributes_delete(&found->attributes, found)))
        return rc;
    mur_request_drain(found);
    rc = mur_comm_disconnect(found);
    if (rc)
        return rc;
    mur_parent_forget(found);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_comm_set_name(struct mur_comm *comm, const char *comm_name)
{
    snprintf(comm->name, sizeof comm->name, "%s", comm_name);
    return MPI_SUCCESS;
}

int mur_mpi_comm_get_name(struct mur_comm *comm, char *comm_name, int *resultlen)
{
    const char *name = comm ? comm->name : "MPI_COMM_NULL"; /* §7.8: since MPI-4.1 */

    strcpy(comm_name, name);
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

static int check_leader(const char *name, int rank, int size)
{
    if (rank >= 0 && rank < size)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_RANK, "%s is %d, but must be from 0 to %d", name, rank, size - 1);
}

int mur_mpi_intercomm_create(struct mur_comm *local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                             int tag, MPI_Comm *newintercomm)
{
    struct mur_comm *made = NULL, *peer = NULL;
    int rc;

    if (local_comm->remote)
        return mur_error(MPI_ERR_COMM, "local_comm is an intercommunicator, but must have one group");
    if ((rc = check_leader("local_leader", local_leader, local_comm->size)))
        return rc;
    if (local_comm->rank == local_leader) { /* elsewhere peer_comm and remote_leader mean nothing */
        peer = mur_comm_find(peer_comm);
        if (!peer)
            return mur_error(MPI_ERR_COMM, "peer_comm is no live communicator at the local leader");
        if ((rc = check_leader("remote_leader", remote_leader, peer->size)))
            return rc;
    }
    rc = mur_intercomm_create(local_comm, local_leader, peer, remote_leader, tag, &made);
    return give(MPI_SUCCESS, rc, local_comm->size + 1, made, newintercomm);
}

int mur_mpi_intercomm_merge(int refused, struct mur_comm *intercomm, int high, MPI_Comm *newintracomm)
{
    struct mur_comm *made = NULL;
    int failed = refused, rc;

    if (!intercomm->remote)
        return not_inter();
    rc = mur_intercomm_merge(intercomm, high != 0, failed != MPI_SUCCESS, &made);
    return give(failed, rc, mur_comm_ranks(intercomm), made, newintracomm);
}
