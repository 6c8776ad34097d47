/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: a receive takes the first waiting message that matches or is posted; a message that arrives goes to the
 * first posted receive that matches or is kept. */
#include <stdlib.h>

#include "base/copy.h"
#include "base/counters.h"
#include "base/error.h"
#include "base/events.h"
#include "boot/process.h"
#include "datatype/layout.h"
#include "pt2pt/flow.h"
#include "pt2pt/lost.h"
#include "pt2pt/pt2pt.h"

size_t mur_receive_fit(struct mur_request *request, uint64_t length)
{
    if (__builtin_expect(length <= request->bytes, 1))
        return length;
    request->result.error = mur_error(
        MPI_ERR_TRUNCATE, "the message from rank %d with tag %d has %llu bytes, but the receive has room for %zu",
        request->result.source, request->result.tag, (unsigned long long)length, request->bytes);
    return request->bytes;
}

void mur_receive_match(struct mur_request *request, struct mur_peer *peer, const struct mur_frame *frame,
                       const void *data)
{
    struct mur_cursor cursor;
    size_t bytes;

    request->is_posted = false;
    request->peer = peer;
    request->result.source = frame->source;
    request->result.tag = frame->tag;
    if (__builtin_expect(frame->kind == MUR_FRAME_READY, 0)) {
        mur_rendezvous_accept(request, data);
        return;
    }
    bytes = mur_receive_fit(request, frame->bytes);
    mur_counters.eager_receives++;
    mur_counters.eager_receive_bytes += bytes;
    request->result.bytes = (MPI_Count)bytes;
    if (request->is_dense) {
        if (data != request->buffer) /* else it is there */
            mur_copy(request->buffer, data, bytes);
    } else {
        mur_cursor_start(&cursor, request->buffer, request->count, request->type);
        mur_cursor_unpack(&cursor, data, bytes);
    }
    mur_request_complete(request);
}

static void tell_unexpected(const struct mur_frame *frame, const void *data)
{
    const struct mur_ready *ready = data;
    struct mur_event_message event = {.rank = frame->source, .tag = frame->tag, .bytes = frame->bytes};

    if (frame->kind == MUR_FRAME_READY)
        event.bytes = ready->length;
    mur_event(MUR_EVENT_UNEXPECTED, NULL, &event);
}

static struct mur_request *find_receive(const struct mur_frame *frame)
{
    struct mur_match_node *node = mur_match_arrival(frame->context, frame->source, frame->tag);

    return node ? (struct mur_request *)((char *)node - offsetof(struct mur_request, match)) : NULL;
}

/* A large message has begun to arrive. The receive that it matches, if there is one, is settled now, so that its data
 * can go to where it belongs; messages that follow on the same way cannot overtake it. */
static void *place(struct mur_peer *peer, const struct mur_frame *frame)
{
    struct mur_request *request = find_receive(frame);

    peer->placing = request;
    if (!request)
        return NULL;
    request->is_posted = false;
    request->peer = peer;
    return request->is_dense && frame->bytes <= request->bytes ? request->buffer : NULL;
}

/* A message or the announcement of one has arrived. */
static void arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_request *request = peer->placing;

    if (__builtin_expect(frame->kind == MUR_FRAME_READY && frame->bytes != sizeof(struct mur_ready), 0))
        mur_frame_refuse(peer, frame);
    if (__builtin_expect(request != NULL, 0))
        peer->placing = NULL;
    else
        request = find_receive(frame);
    if (__builtin_expect(request != NULL, 1)) {
        mur_receive_match(request, peer, frame, data);
        return;
    }
    if (!mur_match_keep(peer, frame, data))
        mur_boot_abort(1, "no memory to keep a message that no receive was posted for");
    mur_flow_keep(peer, frame);
    tell_unexpected(frame, data);
}

int mur_pt2pt_setup(void)
{
    mur_frame_handlers[MUR_FRAME_EAGER] = arrived;
    mur_frame_placers[MUR_FRAME_EAGER] = place;
    mur_frame_handlers[MUR_FRAME_READY] = arrived;
    mur_rendezvous_setup();
    mur_cancel_setup();
    mur_flow_setup();
    mur_lost_setup();
    return MPI_SUCCESS;
}

static inline int receive_request(void *buffer, MPI_Count count, struct mur_type *type, struct mur_comm *comm,
                                  struct mur_request **request_p)
{
    struct mur_request *request;
    size_t bytes;

    if (__builtin_expect(__builtin_mul_overflow((size_t)count, (size_t)type->size, &bytes), 0))
        bytes = SIZE_MAX;
    request = mur_request_create(MUR_RECEIVE, comm, type);
    if (__builtin_expect(!request, 0))
        return mur_error(MPI_ERR_NO_MEM, "no memory for a receive request");
    request->buffer = buffer;
    request->count = count;
    request->bytes = bytes;
    request->is_dense = type->is_dense || !bytes;
    *request_p = request;
    return MPI_SUCCESS;
}

int mur_irecv(void *buffer, MPI_Count count, struct mur_type *type, int source, int tag, struct mur_comm *comm,
              uint32_t context, struct mur_request **request_p)
{
    struct mur_request *request = NULL;
    struct mur_message *message;
    int rc = receive_request(buffer, count, type, comm, &request);

    if (__builtin_expect(rc, 0))
        return rc;
    *request_p = request;
    if (__builtin_expect(source == MPI_PROC_NULL, 0)) {
        request->result = (struct mur_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
        mur_request_complete(request);
        return MPI_SUCCESS;
    }
    request->match.key = (struct mur_match_key){.context = context, .source = source, .tag = tag};
    message = mur_match_find(&request->match.key);
    if (!message) {
        if (__builtin_expect(comm->has_lost, 0) && (request->result.error = mur_lost_check(comm, context, source))) {
            mur_request_complete(request);
            return MPI_SUCCESS;
        }
        mur_match_post(&request->match);
        request->is_posted = true;
        return MPI_SUCCESS;
    }
    mur_match_take(message);
    mur_receive_match(request, message->peer, &message->frame, message->data);
    mur_flow_free(message->peer, &message->frame);
    mur_message_free(message);
    return MPI_SUCCESS;
}

int mur_recv(void *buffer, MPI_Count count, struct mur_type *type, int source, int tag, struct mur_comm *comm,
             uint32_t context, MPI_Status *status)
{
    struct mur_request *request;
    int rc = mur_irecv(buffer, count, type, source, tag, comm, context, &request);

    return rc ? rc : mur_wait(request, status);
}

struct mur_message *mur_iprobe(int source, int tag, struct mur_comm *comm)
{
    struct mur_match_key key = {.context = comm->context, .source = source, .tag = tag};
    struct mur_message *message = mur_match_find(&key);

    if (message)
        return message;
    mur_poke();
    return mur_match_find(&key);
}

void mur_message_result(const struct mur_message *message, struct mur_result *result)
{
    const struct mur_ready *ready = message->data;

    *result = (struct mur_result){.source = message->frame.source,
                                  .tag = message->frame.tag,
                                  .bytes = message->frame.kind == MUR_FRAME_READY ? (MPI_Count)ready->length
                                                                                  : (MPI_Count)message->frame.bytes};
}

int mur_imrecv(void *buffer, MPI_Count count, struct mur_type *type, struct mur_message *message,
               struct mur_request **request_p)
{
    int rc = receive_request(buffer, count, type, message->comm, request_p);

    if (rc)
        return rc;
    mur_receive_match(*request_p, message->peer, &message->frame, message->data);
    mur_comm_release(message->comm);
    mur_flow_free(message->peer, &message->frame);
    mur_message_free(message);
    return MPI_SUCCESS;
}
