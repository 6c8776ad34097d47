/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cancel (MPI-5.0 §3.8.4). A receive that is posted is taken back. A send can be taken back while it waits for
 * room, or as long as its receiver, who has been told of it, has matched it with nothing:
 *
 *   sender                                receiver
 *     READY ---------------------------->   waits for a receive
 *     CANCEL --------------------------->   forgets it; or knows it no more, and says nothing: it has been matched
 *     <----------------------- CANCELLED
 *
 * Frames of a pair stay in order, so a CANCEL never meets a later message whose request has the same address. A send
 * whose bytes have left is complete, and stays so. */
#include <string.h>

#include "pt2pt/flow.h"
#include "pt2pt/pt2pt.h"

/* Nobody will receive it. */
static void withdraw(struct mur_request *request)
{
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .is_cancelled = true};
    mur_rendezvous_withdraw(request);
}

static int cancel_send(struct mur_request *request)
{
    uint64_t id = (uintptr_t)request;
    struct mur_frame frame = request->frame;

    if (request->is_complete || request->peer_request)
        return MPI_SUCCESS; /* sent, or matched */
    if (mur_backlog_remove(request->peer, &request->backlog)) {
        withdraw(request);
        return MPI_SUCCESS;
    }
    frame.kind = MUR_FRAME_CANCEL;
    frame.bytes = sizeof id;
    mur_send_control(request->peer, &frame, &id);
    return MPI_SUCCESS;
}

int mur_cancel(struct mur_request *request)
{
    return !request->kind && request->operation == MUR_SEND ? cancel_send(request) : mur_request_cancel(request);
}

/* What both frames say: the sender's request. */
static uint64_t named(const struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    uint64_t id;

    if (frame->bytes != sizeof id)
        mur_frame_refuse(peer, frame);
    memcpy(&id, data, sizeof id);
    return id;
}

static bool is_of_request(const struct mur_message *message, uint64_t id)
{
    return message->frame.kind == MUR_FRAME_READY && ((const struct mur_ready *)message->data)->request == id;
}

static void cancel_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    const struct mur_match_key key = {.context = frame->context, .source = frame->source, .tag = frame->tag};
    struct mur_frame answer = {.kind = MUR_FRAME_CANCELLED, .bytes = sizeof(uint64_t)};
    struct mur_message *message;
    uint64_t id = named(peer, frame, data);

    message = mur_match_find_sent(&key, peer, is_of_request, id);
    if (!message)
        return;
    mur_match_take(message);
    mur_flow_free(peer, &message->frame);
    mur_message_free(message);
    mur_send_control(peer, &answer, &id);
}

static void cancelled_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_request *request = mur_rendezvous_request(peer, frame, named(peer, frame, data), MUR_SEND);

    if (request->peer_request || request->frame.kind != MUR_FRAME_READY)
        mur_frame_refuse(peer, frame);
    withdraw(request);
}

void mur_cancel_setup(void)
{
    mur_frame_handlers[MUR_FRAME_CANCEL] = cancel_arrived;
    mur_frame_handlers[MUR_FRAME_CANCELLED] = cancelled_arrived;
}
