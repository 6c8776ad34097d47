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
 * whose bytes have left is complete, and stays so.
 *
 * A receiver that has left MPI answers nothing. It has completed its receives before, so a message that it has not
 * matched then is cancelled. Should it answer in its next session, the sender knows by the number in CANCEL and
 * CANCELLED that the answer is late.
 *
 * The loss of a process (lost.h) cancels the collective messages of its communicators that nobody has matched: their
 * receivers leave the call. A receiver that frees such a communicator says CANCELLED without being asked. */
#include <string.h>

#include "pt2pt/flow.h"
#include "pt2pt/lost.h"
#include "pt2pt/pt2pt.h"

/* What both frames say. */
struct notice {
    uint64_t request; /* the sender's */
    uint64_t number;  /* of the CANCEL, among all of the sender's; from 1. 0: the receiver was not asked */
};

static uint64_t cancels; /* that were sent */

/* Nobody will receive it. */
static void withdraw(struct mur_request *request)
{
    const struct mur_comm *comm = request->comm;

    mur_engine_task_remove(&request->task);
    request->cancel = 0;
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .is_cancelled = true};
    if (request->frame.context != comm->context) /* not by MPI_Cancel */
        request->result.error = mur_lost_check(comm, request->frame.context, MPI_ANY_SOURCE);
    mur_rendezvous_withdraw(request);
}

/* A task. */
static bool look_whether_left(struct mur_task *task, bool *is_over)
{
    struct mur_request *request = mur_request_of_task(task);

    *is_over = request->peer->transport->has_left(request->peer);
    if (*is_over)
        withdraw(request);
    return *is_over;
}

static int cancel_send(struct mur_request *request)
{
    struct mur_frame frame = request->frame;
    struct notice notice = {.request = (uintptr_t)request};

    if (request->is_complete || request->peer_request || request->cancel)
        return MPI_SUCCESS; /* sent, or matched, or being cancelled */
    if (mur_engine_backlog_remove(request->peer, &request->backlog)) {
        withdraw(request);
        return MPI_SUCCESS;
    }
    request->cancel = notice.number = ++cancels;
    frame.kind = MUR_FRAME_CANCEL;
    frame.bytes = sizeof notice;
    mur_send_control(request->peer, &frame, &notice);
    request->task.run = look_whether_left;
    mur_engine_task_add(&request->task);
    return MPI_SUCCESS;
}

int mur_cancel(struct mur_request *request)
{
    return !request->kind && request->operation == MUR_SEND ? cancel_send(request) : mur_request_cancel(request);
}

void mur_cancel_refuse(const struct mur_message *message)
{
    struct mur_frame answer = message->frame;
    struct notice notice;

    if (message->frame.kind != MUR_FRAME_READY || mur_is_lost(message->peer))
        return;
    notice = (struct notice){.request = ((const struct mur_ready *)message->data)->request};
    answer.kind = MUR_FRAME_CANCELLED;
    answer.bytes = sizeof notice;
    mur_send_control(message->peer, &answer, &notice);
}

static struct notice notice_of(const struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct notice notice;

    if (frame->bytes != sizeof notice)
        mur_frame_refuse(peer, frame);
    memcpy(&notice, data, sizeof notice);
    return notice;
}

static bool is_of_request(const struct mur_message *message, uint64_t id)
{
    return message->frame.kind == MUR_FRAME_READY && ((const struct mur_ready *)message->data)->request == id;
}

static void cancel_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    const struct mur_match_key key = {.context = frame->context, .source = frame->source, .tag = frame->tag};
    struct notice notice = notice_of(peer, frame, data);
    struct mur_frame answer = {.kind = MUR_FRAME_CANCELLED, .bytes = sizeof notice};
    struct mur_message *message = mur_match_find_sent(&key, peer, is_of_request, notice.request);

    if (!message)
        return;
    mur_match_take(message);
    mur_flow_free(peer, &message->frame);
    mur_match_message_free(message);
    mur_send_control(peer, &answer, &notice);
}

static void cancelled_arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct notice notice = notice_of(peer, frame, data);
    struct mur_request *request = mur_object_find((void *)(uintptr_t)notice.request, MUR_KIND_REQUEST);

    if (notice.number > cancels || !notice.request)
        mur_frame_refuse(peer, frame);
    if (!request || request->operation != MUR_SEND || request->is_complete ||
        (notice.number && request->cancel != notice.number))
        return; /* late */
    if (request->peer != peer || request->peer_request ||
        (!notice.number && request->frame.context == request->comm->context))
        mur_frame_refuse(peer, frame);
    withdraw(request);
}

void mur_cancel_setup(void)
{
    mur_engine.handlers[MUR_FRAME_CANCEL] = cancel_arrived;
    mur_engine.handlers[MUR_FRAME_CANCELLED] = cancelled_arrived;
}
