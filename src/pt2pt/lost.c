/* SPDX-License-Identifier: BSD-3-Clause */
/* Losing a process: its transport becomes one that takes everything and delivers nothing (transport/nowhere.c), so that
 * what waits to be sent drains away; then the requests that wait for it are failed. */
#include "pt2pt/lost.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "object/context.h"
#include "object/group.h"
#include "object/request.h"
#include "pt2pt/flow.h"
#include "pt2pt/peer.h"
#include "pt2pt/pt2pt.h"
#include "transport/port.h"

/* ---- what fails ---- */

int mur_lost_error(const struct mur_peer *peer)
{
    const struct mur_foreign *foreign = peer->foreign;
    char who[64];

    return mur_error(MPI_ERR_PROC_ABORTED, "%s on %s is lost: %s", mur_foreign_peer_text(peer, who),
                     foreign->identity.host, foreign->fate);
}

static bool has(const struct mur_group *group, int process)
{
    for (int i = 0; group && group->has_foreign && i < group->size; i++)
        if (group->processes[i] == process)
            return true;
    return false;
}

static const struct mur_peer *first_lost(const struct mur_group *group)
{
    for (int i = 0; group && group->has_foreign && i < group->size; i++)
        if (mur_is_lost(&mur_engine.peers[group->processes[i]]))
            return &mur_engine.peers[group->processes[i]];
    return NULL;
}

/* The local communicator of one between groups has none of the lost itself, but is there for its collectives. */
static int error_of_any(const struct mur_comm *comm)
{
    const struct mur_peer *peer = first_lost(comm->remote);

    peer = peer ? peer : first_lost(comm->group);
    return peer ? mur_lost_error(peer)
                : mur_error(MPI_ERR_PROC_ABORTED, "a process of the remote group is lost; it has ended");
}

int mur_lost_check(const struct mur_comm *comm, uint32_t context, int source)
{
    const struct mur_peer *peer;

    if (context != comm->context)
        return error_of_any(comm);
    if (source != MPI_ANY_SOURCE) {
        peer = &mur_engine.peers[comm->processes[source]];
        return mur_is_lost(peer) ? mur_lost_error(peer) : MPI_SUCCESS;
    }
    peer = first_lost(comm->remote ? comm->remote : comm->group);
    return peer ? mur_lost_error(peer) : MPI_SUCCESS;
}

static void fail(struct mur_request *request, int error)
{
    if (request->is_posted)
        mur_match_withdraw(&request->match);
    request->is_posted = false;
    mur_engine_task_remove(&request->task);
    request->result.error = error;
    if (request->operation == MUR_SEND)
        mur_engine.open_operations--;
    mur_request_complete(request);
}

static int error_of(const struct mur_request *request, const struct mur_peer *lost)
{
    if (request->is_posted)
        return request->comm->has_lost
                   ? mur_lost_check(request->comm, request->match.key.context, request->match.key.source)
                   : MPI_SUCCESS;
    return request->peer == lost ? mur_lost_error(lost) : MPI_SUCCESS;
}

/* A message between the living whose receiver may have left the collective call: it is still received, or cancelled. */
static bool is_in_vain(const struct mur_request *request)
{
    return request->operation == MUR_SEND && request->comm->has_lost && request->frame.kind == MUR_FRAME_READY &&
           request->frame.context != request->comm->context;
}

static void fail_requests(struct mur_peer *lost)
{
    struct mur_request *request = NULL;

    while ((request = mur_pool_next(&mur_request_pool, request))) {
        int error;

        if (request->is_complete || !request->is_active ||
            (request->operation != MUR_SEND && request->operation != MUR_RECEIVE))
            continue;
        error = error_of(request, lost);
        if (error)
            fail(request, error);
        else if (is_in_vain(request))
            mur_cancel(request);
    }
    mur_pt2pt_peer(lost)->placing = NULL; /* its data ends here */
}

/* ---- who is concerned ---- */

/* Windows and files of jobs together wait in many ways for each other: they end together. */
static void mark_communicators(const struct mur_peer *lost)
{
    struct mur_comm *comm = NULL;

    while ((comm = mur_comm_next(comm))) {
        if (!has(comm->group, lost->process) && !has(comm->remote, lost->process))
            continue;
        if (comm->win || comm->file)
            mur_boot_abort(1, mur_error_text(mur_lost_error(lost)));
        comm->has_lost = true;
        if (comm->local)
            comm->local->has_lost = true;
    }
}

struct notice {
    uint64_t job;
    int32_t rank, spare;
};

static void tell_group(const struct mur_group *group, const struct mur_frame *frame, const struct notice *notice)
{
    for (int i = 0; group && i < group->size; i++) {
        struct mur_peer *peer = &mur_engine.peers[group->processes[i]];

        if (!mur_is_lost(peer) && group->processes[i] != mur_process.rank)
            mur_send_control(peer, frame, notice);
    }
}

/* Some are told twice, of several communicators. */
static void tell_others(const struct mur_peer *lost)
{
    const struct notice notice = {.job = lost->foreign->identity.job, .rank = lost->foreign->identity.rank};
    const struct mur_frame frame = {.kind = MUR_FRAME_LOST, .bytes = sizeof notice};
    const struct mur_comm *comm = NULL;

    while ((comm = mur_comm_next(comm)))
        if (has(comm->group, lost->process) || has(comm->remote, lost->process)) {
            tell_group(comm->group, &frame, &notice);
            tell_group(comm->remote, &frame, &notice);
        }
}

/* Mostly a whole job has ended; who is connected with it may never have called the others. */
static void look_for_others(const struct mur_peer *lost)
{
    for (int i = 0; i < mur_engine.foreign_count; i++) {
        struct mur_peer *peer = &mur_engine.peers[mur_engine.peer_count + i];

        if (!mur_is_lost(peer) && peer->foreign->connected &&
            peer->foreign->identity.job == lost->foreign->identity.job)
            mur_port_look_for(peer);
    }
}

void mur_lost_forget(const struct mur_comm *comm)
{
    struct mur_message *message;

    while ((message = mur_match_any(comm->context, MUR_CONTEXT_STRIDE))) {
        mur_match_take(message);
        mur_cancel_refuse(message);
        mur_flow_free(message->peer, &message->frame);
        mur_match_message_free(message);
    }
    if (comm->local)
        mur_lost_forget(comm->local);
}

/* ---- hearing of it ---- */

static void lose(struct mur_peer *peer)
{
    peer->transport = &mur_nowhere_transport;
    mur_pt2pt_peer(peer)->is_closed = true;
    mur_engine_backlog_drop(peer);
    mark_communicators(peer);
    fail_requests(peer);
    look_for_others(peer);
    mur_engine_notify();
}

static void found(struct mur_peer *peer)
{
    lose(peer);
    tell_others(peer);
}

static void told(struct mur_peer *from, const struct mur_frame *frame, const void *data)
{
    struct notice notice;
    struct mur_peer *peer;
    char who[64];

    if (frame->bytes != sizeof notice)
        mur_frame_refuse(from, frame);
    memcpy(&notice, data, sizeof notice);
    if (notice.job == mur_port_identity()->job || !(peer = mur_foreign_find(notice.job, notice.rank)) ||
        mur_is_lost(peer))
        return;
    snprintf(peer->foreign->fate, sizeof peer->foreign->fate, "it has ended, as %s says",
             mur_foreign_peer_text(from, who));
    mur_port_lose(peer);
    lose(peer);
}

void mur_lost_setup(void)
{
    mur_engine.peer_lost = found;
    mur_engine.handlers[MUR_FRAME_LOST] = told;
}
