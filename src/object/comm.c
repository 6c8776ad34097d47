/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of communicators, and the two predefined ones. */
#include "object/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/foreign.h"
#include "object/context.h"
#include "object/errhandler.h"
#include "object/group.h"
#include "object/session.h"
#include "object/topology.h"

static struct mur_pool comm_pool = MUR_POOL(MUR_KIND_COMM, struct mur_comm, "communicators");

struct mur_comm mur_comm_world, mur_comm_self;

/* Counts what the communicator connects; `by` is 1 or -1. */
static void count_connected(const struct mur_comm *comm, int by)
{
    if (comm->group->has_foreign)
        mur_foreign_connect(comm->group->processes, comm->group->size, by);
    if (comm->remote && comm->remote->has_foreign)
        mur_foreign_connect(comm->remote->processes, comm->remote->size, by);
}

static void comm_init(struct mur_comm *comm, struct mur_group *group, struct mur_group *remote, uint32_t context,
                      struct mur_errhandler *errhandler)
{
    comm->context = context;
    comm->rank = group->rank;
    comm->size = remote ? remote->size : group->size;
    comm->processes = remote ? remote->processes : group->processes;
    comm->group = group;
    mur_group_retain(group);
    comm->remote = remote;
    if (remote)
        mur_group_retain(remote);
    count_connected(comm, 1);
    comm->local = NULL;
    comm->hints = 0;
    comm->sequence = 0;
    comm->collectives = 0;
    comm->nonblocking_sequence = 0;
    comm->persistent_sequence = 0;
    comm->errhandler = errhandler;
    comm->has_own_errhandler = false;
    mur_errhandler_retain(errhandler);
    comm->session = group->session;
    mur_session_retain(comm->session);
    comm->board = NULL;
    comm->nodes = NULL;
    comm->overrides = NULL;
    comm->file = NULL;
    comm->win = NULL;
    comm->has_lost = false;
    comm->topology = NULL;
    comm->send_buffer = NULL;
    comm->attributes = NULL;
    comm->name[0] = '\0';
}

static int setup_predefined(struct mur_comm *comm, int constant, const char *name, const int *processes, int size)
{
    bool is_world = constant == (int)(uintptr_t)MPI_COMM_WORLD;
    struct mur_group *group;
    uint32_t context;
    int rc = mur_group_create(processes, size, &group);

    if (rc)
        return rc;
    mur_context_take(0, is_world ? 0 : 1, &context); /* MUR_CONTEXT_WORLD and _SELF */
    comm->object = (struct mur_object){.kind = MUR_KIND_COMM, .references = 1, .predefined = (uint32_t)constant};
    comm_init(comm, group, NULL, context, *mur_errhandler_initial());
    mur_group_release(group);
    strcpy(comm->name, name);
    return MPI_SUCCESS;
}

void (*mur_comm_close_board)(struct mur_board *board);

int mur_comm_setup(int rank, int size)
{
    int *processes = malloc((size_t)size * sizeof *processes);
    uint32_t context;
    int rc;

    if (!processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the group of %d processes", size);
    for (int i = 0; i < size; i++)
        processes[i] = i;
    mur_context_take(0, MUR_CONTEXT_GROUPS / MUR_CONTEXT_STRIDE, &context);
    mur_context_take(0, MUR_CONTEXT_PORTS / MUR_CONTEXT_STRIDE, &context);
    rc = setup_predefined(&mur_comm_world, (int)(uintptr_t)MPI_COMM_WORLD, "MPI_COMM_WORLD", processes, size);
    free(processes);
    if (rc)
        return rc;
    return setup_predefined(&mur_comm_self, (int)(uintptr_t)MPI_COMM_SELF, "MPI_COMM_SELF", &rank, 1);
}

void mur_comm_publish(void)
{
    mur_predefined[mur_comm_world.object.predefined] = &mur_comm_world.object;
    mur_predefined[mur_comm_self.object.predefined] = &mur_comm_self.object;
}

void mur_comm_unpublish(void)
{
    mur_predefined[mur_comm_world.object.predefined] = NULL;
    mur_predefined[mur_comm_self.object.predefined] = NULL;
}

int mur_comm_create(struct mur_comm *parent, struct mur_group *group, struct mur_group *remote,
                    struct mur_comm **comm_p)
{
    struct mur_comm *comm = mur_pool_get(&comm_pool);

    if (!comm)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a communicator");
    comm_init(comm, group, remote, MUR_CONTEXT_NONE, parent->errhandler);
    if (remote) {
        int rc = mur_comm_create(parent, group, NULL, &comm->local);

        if (rc) {
            mur_comm_release(comm);
            return rc;
        }
    }
    *comm_p = comm;
    return MPI_SUCCESS;
}

struct mur_comm *mur_comm_next(const struct mur_comm *previous)
{
    return mur_pool_next(&comm_pool, previous);
}

int mur_comm_ranks(const struct mur_comm *comm)
{
    return comm->group->size + (comm->remote ? comm->remote->size : 0);
}

void mur_comm_set_contexts(struct mur_comm *comm, const uint32_t *contexts)
{
    comm->context = contexts[0];
    if (comm->local)
        comm->local->context = contexts[1];
}

void mur_comm_release_slow(struct mur_comm *comm)
{
    if (comm->context != MUR_CONTEXT_NONE && !comm->has_lost) /* messages of what has failed there may still come */
        mur_context_free(comm->context);
    if (comm->local)
        mur_comm_release(comm->local);
    count_connected(comm, -1);
    if (comm->remote)
        mur_group_release(comm->remote);
    if (comm->board)
        mur_comm_close_board(comm->board);
    free((void *)comm->nodes);
    free(comm->overrides);
    mur_topology_free(comm->topology);
    mur_errhandler_release(comm->errhandler);
    mur_session_release(comm->session);
    mur_group_release(comm->group);
    mur_pool_put(&comm_pool, comm);
}
