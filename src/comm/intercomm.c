/* SPDX-License-Identifier: BSD-3-Clause */
/* The leaders of two groups tell each other who their members are, in a context of their own, so that nothing of the
 * user's on the communicator where they meet can match; each tells its group; then both sides agree on two contexts:
 * of the intercommunicator, and of the communicators within the groups that its collectives use. */
#include "comm/intercomm.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "coll/coll.h"
#include "comm/agree.h"
#include "engine/foreign.h"
#include "object/context.h"
#include "object/group.h"
#include "pt2pt/pt2pt.h"

struct bridge {
    struct mur_comm *comm;
    int rank, tag;
};

/* Sends and receives at once; between the leaders. */
static int exchange(const struct bridge *bridge, const void *out, int out_count, void *in, int in_count,
                    struct mur_type *type)
{
    uint32_t context = bridge->comm->context + MUR_CONTEXT_LEADERS;
    struct mur_request *receive, *send;
    int rc = mur_irecv(in, in_count, type, bridge->rank, bridge->tag, bridge->comm, context, &receive), sent;

    if (rc)
        return rc;
    sent = mur_isend(out, out_count, type, bridge->rank, bridge->tag, bridge->comm, context, MUR_STANDARD, &send);
    if (!sent)
        sent = mur_wait(send, MPI_STATUS_IGNORE);
    rc = mur_wait(receive, MPI_STATUS_IGNORE); /* it has a buffer of the caller's */
    return sent ? sent : rc;
}

static int tell(struct mur_comm *comm, void *values, MPI_Count count, struct mur_type *type, int root)
{
    struct mur_schedule *s = mur_schedule_create(comm);

    if (!s)
        return mur_error(MPI_ERR_NO_MEM, "no memory to make an intercommunicator");
    mur_coll_bcast(s, values, count, type, root);
    return mur_schedule_run(s);
}

/* The leader tells its group how its exchange has ended, `rc`, and, in `values`, what it has learned. All return the
 * same class of error, the leader its own error. */
static int tell_outcome(struct mur_comm *comm, int rc, int *values, int count, int leader)
{
    struct mur_type *type = mur_type_find(MPI_INT);
    int class = rc ? mur_error_class(rc) : MPI_SUCCESS, told = tell(comm, &class, 1, type, leader);

    if (!rc && !told && class)
        rc = mur_error(class, "rank %d, the leader of this group, cannot reach the other one; its own error says why",
                       leader);
    if (rc || told)
        return rc ? rc : told;
    return tell(comm, values, count, type, leader);
}

/* All are of one world, so their numbers mean the same to all. */
static int learn_numbers(struct mur_comm *local, int leader, const struct bridge *bridge, int *processes, int size)
{
    int rc = MPI_SUCCESS;

    if (local->rank == leader)
        rc = exchange(bridge, local->processes, local->size, processes, size, mur_type_find(MPI_INT));
    return tell_outcome(local, rc, processes, size, leader);
}

static bool can_all_be_called(const struct mur_identity *identities, int count)
{
    for (int i = 0; i < count; i++)
        if (!mur_foreign_identity_is_sound(&identities[i]) || !identities[i].address_count)
            return false;
    return true;
}

/* The leader's half: each of its group tells who it is, and both leaders pass that on. */
static int exchange_identities(struct mur_comm *local, int leader, const struct bridge *bridge,
                               struct mur_identity *theirs, int size, int *can_call)
{
    struct mur_type *type = mur_type_find(MPI_BYTE);
    struct mur_identity own = {.address_count = 0}, *mine = NULL;
    struct mur_schedule *s;
    struct mur_blocks blocks;
    int rc = MPI_SUCCESS;

    if (mur_network_open() == MPI_SUCCESS) /* else the address is missing, which all learn */
        mur_foreign_identify(mur_process.rank, &own);
    if (local->rank == leader && !(mine = calloc((size_t)local->size, sizeof *mine)))
        return mur_error(MPI_ERR_NO_MEM, "no memory to tell who %d processes are", local->size);
    s = mur_schedule_create(local);
    blocks = mur_blocks_regular(mine, sizeof own, type);
    if (!s)
        rc = mur_error(MPI_ERR_NO_MEM, "no memory to make an intercommunicator");
    else
        mur_coll_gather(s, &own, sizeof own, type, &blocks, leader);
    if (!rc)
        rc = mur_schedule_run(s);
    if (!rc && local->rank == leader) {
        rc = exchange(bridge, mine, local->size * (int)sizeof own, theirs, size * (int)sizeof own, type);
        *can_call = !rc && can_all_be_called(mine, local->size) && can_all_be_called(theirs, size);
    }
    free(mine);
    return rc;
}

/* Some are of other jobs: who they are is told, and each process gives them numbers of its own. */
static int learn_identities(struct mur_comm *local, int leader, const struct bridge *bridge, int *processes, int size)
{
    struct mur_identity *theirs = calloc((size_t)size, sizeof *theirs);
    int can_call = 0, rc;

    if (!theirs)
        return mur_error(MPI_ERR_NO_MEM, "no memory to learn who %d processes are", size);
    rc = exchange_identities(local, leader, bridge, theirs, size, &can_call);
    rc = tell_outcome(local, rc, &can_call, 1, leader);
    if (!rc && !can_call)
        rc = mur_error(MPI_ERR_OTHER, "some process of the two groups has no network address, or cannot open a socket, "
                                      "by which processes of another job could reach it");
    if (!rc)
        rc = tell(local, theirs, (MPI_Count)((size_t)size * sizeof *theirs), mur_type_find(MPI_BYTE), leader);
    for (int i = 0; !rc && i < size; i++)
        if ((rc = mur_foreign_meet(&theirs[i], &processes[i])) != MPI_SUCCESS)
            mur_foreign_hold(processes, i, -1);
    free(theirs);
    return rc;
}

/* Every member learns the other group. */
static int learn_remote(struct mur_comm *local, int leader, const struct bridge *bridge, struct mur_group **remote)
{
    struct mur_type *type = mur_type_find(MPI_INT);
    struct {
        int size, is_mixed;
    } mine = {local->size, local->group->has_foreign}, theirs = {0, 0};
    int rc = MPI_SUCCESS, *processes;

    if (local->rank == leader) {
        mine.is_mixed |= bridge->comm->processes[bridge->rank] >= mur_process.size;
        rc = exchange(bridge, &mine, 2, &theirs, 2, type);
        theirs.is_mixed |= mine.is_mixed;
    }
    if ((rc = tell_outcome(local, rc, (int *)&theirs, 2, leader)))
        return rc;
    processes = malloc((size_t)theirs.size * sizeof *processes);
    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d processes", theirs.size);
    rc = theirs.is_mixed ? learn_identities(local, leader, bridge, processes, theirs.size)
                         : learn_numbers(local, leader, bridge, processes, theirs.size);
    if (!rc) {
        rc = mur_group_create(processes, theirs.size, remote);
        if (theirs.is_mixed)
            mur_foreign_hold(processes, theirs.size, -1); /* the group does */
    }
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
static int agree(struct mur_comm *comm, const struct mur_scope *between, int wanted, bool has_failed,
                 struct mur_comm **newcomm)
{
    struct mur_schedule *s = mur_schedule_create(comm);
    int rc;

    if (s) {
        struct mur_scope scope = between ? *between : mur_agree_scope_of(s, comm);

        mur_agree(s, &scope, wanted, *newcomm, has_failed);
        rc = mur_schedule_run(s);
    } else {
        rc = mur_error(MPI_ERR_NO_MEM, "no memory to make a communicator");
    }
    if (rc)
        mur_comm_release(*newcomm);
    return rc;
}

static int try_to_create(struct mur_comm *local_comm, int local_leader, struct mur_comm *peer_comm, int remote_leader,
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
    return agree(local_comm, &scope, 2, false, newcomm);
}

/* Both groups would wait for one that has no memory. */
int mur_intercomm_create(struct mur_comm *local_comm, int local_leader, struct mur_comm *peer_comm, int remote_leader,
                         int tag, struct mur_comm **newcomm)
{
    int rc = try_to_create(local_comm, local_leader, peer_comm, remote_leader, tag, newcomm);

    return mur_collective_result(rc, local_comm->size + 1);
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
    scope = mur_agree_scope_of(s, intercomm);
    mur_agree_scope_and(s, &scope, words, 2);
    rc = mur_schedule_run(s);
    *theirs = mine ? words[0] != 0 : words[1] == 0;
    return rc;
}

int mur_intercomm_merge(struct mur_comm *intercomm, bool high, bool has_failed, struct mur_comm **newcomm)
{
    struct mur_group *mine = intercomm->group, *theirs = intercomm->remote, *group;
    int size = mine->size + theirs->size, *processes = malloc((size_t)size * sizeof *processes);
    bool is_first, other_high = false;
    int rc;

    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    rc = exchange_high(intercomm, high, &other_high);
    if (!rc) {
        is_first = high != other_high ? !high : mur_foreign_precedes(mine->processes[0], theirs->processes[0]);
        memcpy(processes + (is_first ? 0 : theirs->size), mine->processes, (size_t)mine->size * sizeof(int));
        memcpy(processes + (is_first ? mine->size : 0), theirs->processes, (size_t)theirs->size * sizeof(int));
        rc = mur_group_create(processes, size, &group);
    }
    free(processes);
    if (rc)
        return rc;
    rc = mur_comm_create(intercomm, group, NULL, newcomm);
    mur_group_release(group);
    return rc ? rc : agree(intercomm, NULL, 1, has_failed, newcomm);
}
