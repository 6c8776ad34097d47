/* SPDX-License-Identifier: BSD-3-Clause */
/* The leaders of two groups tell each other who their members are, in a context of their own, so that nothing of the
 * user's on the communicator where they meet can match; each tells its group; then both sides agree on two contexts:
 * of the intercommunicator, and of the communicators within the groups that its collectives use. */
#include "comm/intercomm.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "coll/coll.h"
#include "comm/agree.h"
#include "object/context.h"
#include "object/group.h"
#include "pt2pt/pt2pt.h"

struct bridge {
    struct mur_comm *comm;
    int rank, tag;
};

/* Sends and receives at once; between the leaders. */
static int exchange(const struct bridge *bridge, const int *out, int out_count, int *in, int in_count)
{
    struct mur_type *type = mur_type_find(MPI_INT);
    uint32_t context = bridge->comm->context + MUR_CONTEXT_LEADERS;
    struct mur_request *receive, *send;
    int rc = mur_irecv(in, in_count, type, bridge->rank, bridge->tag, bridge->comm, context, &receive);

    if (rc)
        return rc;
    rc = mur_isend(out, out_count, type, bridge->rank, bridge->tag, bridge->comm, context, MUR_STANDARD, &send);
    if (rc)
        return rc;
    rc = mur_wait(send, MPI_STATUS_IGNORE);
    return rc ? rc : mur_wait(receive, MPI_STATUS_IGNORE);
}

static int tell(struct mur_comm *comm, int *values, int count, int root)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to make an intercommunicator");
    mur_coll_bcast(s, values, count, mur_type_find(MPI_INT), root);
    return mur_schedule_run(s);
}

/* Every member learns the other group. */
static int learn_remote(struct mur_comm *local, int leader, const struct bridge *bridge, struct mur_group **remote)
{
    int size = 0, rc = MPI_SUCCESS, *processes;

    if (local->rank == leader)
        rc = exchange(bridge, &local->size, 1, &size, 1);
    if (rc || (rc = tell(local, &size, 1, leader)))
        return rc;
    processes = malloc((size_t)size * sizeof *processes);
    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    if (local->rank == leader)
        rc = exchange(bridge, local->processes, local->size, processes, size);
    if (!rc)
        rc = tell(local, processes, size, leader);
    if (!rc)
        rc = mur_group_create(processes, size, remote);
    free(processes);
    return rc;
}

static int check_disjoint(struct mur_group *mine, struct mur_group *theirs)
{
    for (int i = 0; i < theirs->size; i++)
        if (mur_group_rank_of(mine, theirs->processes[i]) != MPI_UNDEFINED)
            return mur_error(MPI_ERR_COMM,
                             "the two groups overlap: rank %d of the remote one is rank %d of the local one", i,
                             mur_group_rank_of(mine, theirs->processes[i]));
    return MPI_SUCCESS;
}

/* Both sides agree on the contexts of a communicator that this process is in. */
static int agree(struct mur_comm *comm, const struct mur_scope *between, int wanted, struct mur_comm **newcomm)
{
    struct mur_schedule *s = mur_schedule_create(comm);
    int rc;

    if (s) {
        struct mur_scope scope = between ? *between : mur_scope_of(s, comm);

        mur_agree(s, &scope, wanted, *newcomm);
        rc = mur_schedule_run(s);
    } else {
        rc = mur_error(MPI_ERR_NO_MEM, "no memory to make a communicator");
    }
    if (rc)
        mur_comm_release(*newcomm);
    return rc;
}

int mur_intercomm_create(struct mur_comm *local_comm, int local_leader, struct mur_comm *peer_comm, int remote_leader,
                         int tag, struct mur_comm **newcomm)
{
    struct bridge bridge = {peer_comm, remote_leader, tag};
    struct mur_scope scope = {.comm = local_comm,
                              .is_two_sided = true,
                              .leader = local_leader,
                              .bridge = peer_comm,
                              .bridge_rank = remote_leader,
                              .bridge_tag = tag};
    struct mur_group *remote;
    int rc = learn_remote(local_comm, local_leader, &bridge, &remote);

    if (rc)
        return rc;
    rc = check_disjoint(local_comm->group, remote);
    if (!rc)
        rc = mur_comm_create(local_comm, local_comm->group, remote, newcomm);
    mur_group_release(remote);
    if (rc)
        return rc;
    if (peer_comm)
        scope.bridge_context = peer_comm->context + MUR_CONTEXT_LEADERS;
    return agree(local_comm, &scope, 2, newcomm);
}

/* Each side learns what the other passed, out of two intersections: of `high` and of its opposite. */
static int exchange_high(struct mur_comm *intercomm, bool mine, bool *theirs)
{
    uint64_t words[2] = {mine, !mine};
    struct mur_schedule *s = mur_schedule_create(intercomm);
    struct mur_scope scope;
    int rc;

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to merge an intercommunicator");
    scope = mur_scope_of(s, intercomm);
    mur_scope_and(s, &scope, words, 2);
    rc = mur_schedule_run(s);
    *theirs = mine ? words[0] != 0 : words[1] == 0;
    return rc;
}

int mur_intercomm_merge(struct mur_comm *intercomm, bool high, struct mur_comm **newcomm)
{
    struct mur_group *mine = intercomm->group, *theirs = intercomm->remote, *group;
    int size = mine->size + theirs->size, *processes = malloc((size_t)size * sizeof *processes);
    bool is_first, other_high = false;
    int rc;

    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    rc = exchange_high(intercomm, high, &other_high);
    if (!rc) {
        is_first = high != other_high ? !high : mine->processes[0] < theirs->processes[0];
        memcpy(processes + (is_first ? 0 : theirs->size), mine->processes, (size_t)mine->size * sizeof(int));
        memcpy(processes + (is_first ? mine->size : 0), theirs->processes, (size_t)theirs->size * sizeof(int));
        rc = mur_group_create(processes, size, &group);
    }
    free(processes);
    if (rc)
        return rc;
    rc = mur_comm_create(intercomm, group, NULL, newcomm);
    mur_group_release(group);
    return rc ? rc : agree(intercomm, NULL, 1, newcomm);
}
