/* SPDX-License-Identifier: BSD-3-Clause */
/* Foreign processes have the places of the table of peers behind those of the world. The table's addresses are reserved
 * from the start, memory comes with use, so pointers to peers stay good. A place is given to another process when no
 * group holds it any more and the link has ended. */
#include "engine/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "mpi.h"
#include "transport/port.h"

int mur_network_open(void)
{
    int rc;

    if (mur_engine.network)
        return MPI_SUCCESS;
    rc = mur_tcp_transport.open(mur_engine.peers, mur_engine.peer_count);
    if (rc)
        return rc;
    mur_engine_notify(); /* a thread that sleeps in the node's transport is to sleep in the network's from now on */
    mur_engine.network = &mur_tcp_transport;
    return MPI_SUCCESS;
}

void mur_foreign_identify(int process, struct mur_identity *identity)
{
    const struct mur_peer *peer = &mur_engine.peers[process];

    if (peer->foreign) {
        *identity = peer->foreign->identity;
        return;
    }
    *identity = *mur_port_identity();
    if (process == mur_process.rank)
        return;
    identity->rank = process;
    identity->address_count = 0;
}

bool mur_foreign_precedes(int a, int b)
{
    struct mur_identity first, second;

    if (a < mur_engine.peer_count && b < mur_engine.peer_count)
        return a < b;
    mur_foreign_identify(a, &first);
    mur_foreign_identify(b, &second);
    return mur_identity_precedes(&first, &second);
}

static bool is_free(const struct mur_peer *peer)
{
    return !peer->foreign->held && !peer->foreign->connected && !peer->backlog && !peer->is_backlogged &&
           mur_port_has_parted(peer);
}

/* A place for one more. NULL: no memory. */
static struct mur_peer *find_place(void)
{
    struct mur_peer *peers = mur_engine.peers + mur_engine.peer_count;
    int count = mur_engine.foreign_count;

    for (int i = 0; i < count; i++)
        if (is_free(&peers[i])) {
            mur_port_forget(&peers[i]);
            return &peers[i];
        }
    if (count == MUR_FOREIGN_MAX)
        return NULL;
    peers[count].foreign = calloc(1, sizeof *peers[count].foreign);
    mur_engine.foreign_count += peers[count].foreign != NULL;
    return peers[count].foreign ? &peers[count] : NULL;
}

int mur_foreign_meet(const struct mur_identity *identity, int *process)
{
    struct mur_peer *peer;
    struct mur_foreign *foreign;

    if (identity->job == mur_port_identity()->job) {
        if (identity->rank >= mur_engine.peer_count)
            return mur_error(MPI_ERR_OTHER, "another process says it is rank %d of this job, which has %d",
                             identity->rank, mur_engine.peer_count);
        *process = identity->rank;
        return MPI_SUCCESS;
    }
    peer = mur_foreign_find(identity->job, identity->rank);
    if (!peer) {
        peer = find_place();
        if (!peer)
            return mur_error(MPI_ERR_NO_MEM, "no room for one more process of another job; %d are known",
                             mur_engine.foreign_count);
        foreign = peer->foreign;
        *foreign = (struct mur_foreign){.identity = *identity};
        *peer = (struct mur_peer){.transport = &mur_tcp_transport, .local = -1, .foreign = foreign};
        peer->process = (int)(peer - mur_engine.peers);
        peer->backlog_tail = &peer->backlog;
        mur_engine.peer_renewed(peer);
    }
    peer->foreign->held++;
    *process = peer->process;
    return MPI_SUCCESS;
}

void mur_foreign_hold(const int *processes, int count, int by)
{
    for (int i = 0; i < count; i++)
        if (processes[i] >= mur_engine.peer_count)
            mur_engine.peers[processes[i]].foreign->held += by;
}

void mur_foreign_connect(const int *processes, int count, int by)
{
    int foreign = 0;

    for (int i = 0; i < count; i++)
        if (processes[i] >= mur_engine.peer_count) {
            mur_engine.peers[processes[i]].foreign->connected += by;
            foreign++;
        }
    mur_boot_count_foreign(by * foreign);
}

static bool is_parted(struct mur_peer *peer)
{
    return !peer->foreign || peer->foreign->connected || (!peer->backlog && mur_port_part(peer));
}

void mur_foreign_part(const int *processes, int count)
{
    struct mur_waiter waiter = {0};
    bool is_over;

    do {
        is_over = true;
        for (int i = 0; i < count; i++)
            is_over &= is_parted(&mur_engine.peers[processes[i]]);
        if (is_over)
            return;
        if (!mur_progress())
            mur_waiter_idle(&waiter, mur_describe_ending, NULL);
        else
            mur_waiter_moved(&waiter);
    } while (true);
}
