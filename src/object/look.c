/* SPDX-License-Identifier: BSD-3-Clause */
#include "object/look.h"

#include "object/context.h"
#include "object/win.h"

bool (*mur_look_performers[MUR_LOOK_PERFORMERS])(const struct mur_request *request);

struct mur_look_wait *mur_look_add_comm(enum mur_wait_kind kind, const struct mur_comm *comm)
{
    struct mur_look_wait *wait = mur_rest_add(kind);

    wait->context = comm->context;
    wait->size = comm->size;
    mur_rest_name(wait, comm->win && comm->win->name[0] ? comm->win->name : comm->name);
    return wait;
}

void mur_look_set_peer(struct mur_look_wait *wait, const struct mur_comm *comm, int rank)
{
    if (rank == MPI_ANY_SOURCE) {
        wait->peer = wait->process = MUR_LOOK_ANY;
        return;
    }
    if (rank < 0 || rank >= comm->size)
        return;
    wait->peer = rank;
    wait->process = mur_rest_process(comm->processes[rank]);
    mur_rest_miss(wait, comm->processes[rank]);
}

static int rank_of(const struct mur_comm *comm, int process)
{
    for (int rank = 0; rank < comm->size; rank++)
        if (comm->processes[rank] == process)
            return rank;
    return MPI_UNDEFINED;
}

static void describe_send(const struct mur_request *request)
{
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_SEND, request->comm);

    mur_look_set_peer(wait, request->comm, rank_of(request->comm, request->peer->process));
    wait->tag = request->frame.tag;
    wait->bytes = (int64_t)request->bytes;
}

/* Once its message has been matched, the sender is known. */
static void describe_receive(const struct mur_request *request)
{
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_RECEIVE, request->comm);
    const struct mur_match_key *key = &request->match.key;

    if (!request->is_posted && request->peer)
        mur_look_set_peer(wait, request->comm, rank_of(request->comm, request->peer->process));
    else
        mur_look_set_peer(wait, request->comm, key->source);
    wait->tag = mur_look_tag(key->tag);
    wait->bytes = (int64_t)request->bytes;
}

/* The parts of a request, or nothing. */
static bool describe_parts(const struct mur_request *request)
{
    bool is_any = false;

    for (const struct mur_request *part = mur_pool_next(&mur_request_pool, NULL); part;
         part = mur_pool_next(&mur_request_pool, part))
        if (part->on_complete && part->owner == request && !part->is_complete) {
            mur_describe_request(part);
            is_any = true;
        }
    return is_any;
}

void mur_describe_request(const void *what)
{
    const struct mur_request *request = what;

    for (int i = 0; i < MUR_LOOK_PERFORMERS; i++)
        if (mur_look_performers[i] && mur_look_performers[i](request))
            return;
    if (request->operation == MUR_SEND && request->peer)
        describe_send(request);
    else if (request->operation == MUR_RECEIVE)
        describe_receive(request);
    else if (!describe_parts(request))
        mur_look_add_comm(request->operation == MUR_COLLECTIVE ? MUR_WAIT_COLLECTIVE : MUR_WAIT_OTHER, request->comm);
}

void mur_describe_requests(const void *what)
{
    const struct mur_request_list *list = what;

    mur_look.is_any = list->is_any;
    for (int i = 0; i < list->count; i++) {
        const struct mur_request *request = mur_request_find(list->items[i]);

        if (request && request->is_active && !request->is_complete)
            mur_describe_request(request);
    }
}

void mur_look_sends(void)
{
    for (const struct mur_request *request = mur_pool_next(&mur_request_pool, NULL); request;
         request = mur_pool_next(&mur_request_pool, request))
        if (request->operation == MUR_SEND && request->peer && !request->is_complete)
            describe_send(request);
}

void mur_describe_traffic(const void *what)
{
    const struct mur_comm *comm = what;

    for (const struct mur_request *request = mur_pool_next(&mur_request_pool, NULL); request;
         request = mur_pool_next(&mur_request_pool, request))
        if (request->comm == comm && request->is_active && !request->is_complete)
            mur_describe_request(request);
}
