/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: a receive takes the first waiting message that matches or is posted; a message that arrives goes to the
 * first posted receive that matches or is kept. */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/copy.h"
#include "base/counters.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/events.h"
#include "boot/process.h"
#include "datatype/layout.h"
#include "engine/lock.h"
#include "object/look.h"
#include "pt2pt/flow.h"
#include "pt2pt/lost.h"
#include "pt2pt/peer.h"
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

/* A blocking receive that is all that this process waits for, as long as no other is posted: its message, if it is
 * small, goes straight to its buffer (mur_engine.awaited). What is not that simple makes a request of it. */
static struct {
    void *buffer;
    MPI_Count count;
    struct mur_type *type;
    struct mur_comm *comm;
    struct mur_request *request; /* once it is one */
    bool is_busy;                /* with a receive, which may have got its message already */
} awaiting;

/* The request of the awaited receive, if this frame is for it. Without memory for one the message is kept, and the
 * receive finds it. */
static __attribute__((noinline)) struct mur_request *request_awaited(const struct mur_frame *frame)
{
    const struct mur_frame *wanted = &mur_engine.awaited.frame;

    if (wanted->context != frame->context || wanted->source != frame->source || wanted->tag != frame->tag)
        return NULL;
    mur_engine.awaited.frame.kind = MUR_AWAITED_NONE;
    awaiting.request = NULL;
    receive_request(awaiting.buffer, awaiting.count, awaiting.type, awaiting.comm, &awaiting.request);
    return awaiting.request;
}

static struct mur_request *find_receive(const struct mur_frame *frame)
{
    struct mur_match_node *node;
    struct mur_request *request;

    if (mur_engine.awaited.frame.kind != MUR_AWAITED_NONE && (request = request_awaited(frame)))
        return request;
    node = mur_match_arrival(frame->context, frame->source, frame->tag);

    return node ? (struct mur_request *)((char *)node - offsetof(struct mur_request, match)) : NULL;
}

/* A large message has begun to arrive. The receive that it matches, if there is one, is settled now, so that its data
 * can go to where it belongs; messages that follow on the same way cannot overtake it. */
static void *place(struct mur_peer *peer, const struct mur_frame *frame)
{
    struct mur_request *request = find_receive(frame);

    mur_pt2pt_peer(peer)->placing = request;
    if (!request)
        return NULL;
    request->is_posted = false;
    request->peer = peer;
    return request->is_dense && frame->bytes <= request->bytes ? request->buffer : NULL;
}

/* A message or the announcement of one has arrived. */
static void arrived(struct mur_peer *peer, const struct mur_frame *frame, const void *data)
{
    struct mur_pt2pt_peer *state = mur_pt2pt_peer(peer);
    struct mur_request *request = state->placing;

    if (__builtin_expect(frame->kind == MUR_FRAME_READY && !mur_rendezvous_can_be(peer, frame, data), 0))
        mur_frame_refuse(peer, frame);
    if (__builtin_expect(request != NULL, 0))
        state->placing = NULL;
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

struct mur_pt2pt_peer *mur_pt2pt_peers;

static void peer_renewed(struct mur_peer *peer)
{
    *mur_pt2pt_peer(peer) = (struct mur_pt2pt_peer){0};
}

/* Addresses for all that may ever be known; memory comes with use. */
static int make_peers(void)
{
    size_t bytes = ((size_t)mur_process.size + MUR_FOREIGN_MAX) * sizeof *mur_pt2pt_peers;

    mur_pt2pt_peers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
    if (mur_pt2pt_peers == MAP_FAILED)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the table of %d processes", mur_process.size);
    mur_look.large = (struct mur_look_table){
        .at = (uintptr_t)mur_pt2pt_peers,
        .rows = (uint32_t)mur_process.size,
        .row_bytes = sizeof *mur_pt2pt_peers,
        .columns = {offsetof(struct mur_pt2pt_peer, announced), offsetof(struct mur_pt2pt_peer, announced_bytes)}};
    mur_engine.peer_renewed = peer_renewed;
    return MPI_SUCCESS;
}

/* What waits here that nobody has asked for (engine/rest.h). */
static void describe_messages(void)
{
    const struct mur_message *messages[MUR_LOOK_MESSAGES];
    int count = mur_match_list(messages, MUR_LOOK_MESSAGES);

    mur_look.message_count = (uint32_t)count;
    for (int i = 0; i < count && i < MUR_LOOK_MESSAGES; i++) {
        struct mur_result result;

        mur_message_result(messages[i], &result);
        mur_look.messages[i] = (struct mur_look_message){
            .context = messages[i]->frame.context, .source = result.source, .tag = result.tag, .bytes = result.bytes};
    }
}

int mur_pt2pt_setup(void)
{
    mur_rest_messages = describe_messages;
    mur_rest_sends = mur_look_sends;
    mur_engine.handlers[MUR_FRAME_EAGER] = arrived;
    mur_engine.placers[MUR_FRAME_EAGER] = place;
    mur_engine.handlers[MUR_FRAME_READY] = arrived;
    mur_rendezvous_setup();
    mur_cancel_setup();
    mur_flow_setup();
    mur_lost_setup();
    return make_peers();
}

/* Whether a receive may take its message from the peer's path itself: nothing that waits, or is posted or
 * awaited, comes first. Sets what frame it would be. */
static inline bool may_take(const struct mur_match_key *key, MPI_Count count, const struct mur_type *type,
                            const struct mur_comm *comm, struct mur_frame *wanted)
{
    uint64_t room;

    if (key->source < 0 || key->tag < 0 || !type->is_dense || mur_match_has_posted() || awaiting.is_busy ||
        comm->has_lost || __builtin_mul_overflow((uint64_t)count, (uint64_t)type->size, &room))
        return false;
    *wanted = mur_frame_make(MUR_FRAME_EAGER, key->context, key->source, key->tag,
                             room < UINT32_MAX ? (uint32_t)room : UINT32_MAX);
    return true;
}

/* A receive that waits looks at the one path that its message can come by so many times before it asks for progress of
 * everything else. */
enum { LOOKS = 8 };

/* Takes the message, if it is the next to arrive, within so many looks. Sets the result. */
static inline bool take(const struct mur_comm *comm, const struct mur_frame *wanted, void *buffer, int looks,
                        struct mur_result *result)
{
    struct mur_peer *peer = &mur_engine.peers[comm->processes[wanted->source]];
    int64_t bytes = peer->transport->take(peer, wanted, buffer, looks);

    if (bytes < 0)
        return false;
    mur_counters.eager_receives++;
    mur_counters.eager_receive_bytes += (uint64_t)bytes;
    *result = (struct mur_result){.source = wanted->source, .tag = wanted->tag, .bytes = bytes};
    return true;
}

static inline struct mur_message *find_message(const struct mur_match_key *key)
{
    return mur_match_has_messages() ? mur_match_find(key) : NULL;
}

/* Receives a message that waits. */
static void receive_waiting(struct mur_request *request, struct mur_message *message)
{
    mur_match_take(message);
    mur_receive_match(request, message->peer, &message->frame, message->data);
    mur_flow_free(message->peer, &message->frame);
    mur_match_message_free(message);
}

int mur_irecv(void *buffer, MPI_Count count, struct mur_type *type, int source, int tag, struct mur_comm *comm,
              uint32_t context, struct mur_request **request_p)
{
    struct mur_request *request = NULL;
    struct mur_message *message;
    struct mur_frame wanted;
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
    message = find_message(&request->match.key);
    if (message) {
        receive_waiting(request, message);
    } else if ((may_take(&request->match.key, count, type, comm, &wanted) &&
                take(comm, &wanted, buffer, 1, &request->result)) ||
               (__builtin_expect(comm->has_lost, 0) &&
                (request->result.error = mur_lost_check(comm, context, source)))) {
        mur_request_complete(request);
    } else {
        mur_match_post(&request->match);
        request->is_posted = true;
    }
    return MPI_SUCCESS;
}

/* Awaits the message, for a short time. True: it has come. Otherwise the receive may have become a request. Progress
 * may run a callback of the program's that receives, too, while this one is awaited. */
static bool await(void *buffer, MPI_Count count, struct mur_type *type, struct mur_comm *comm,
                  const struct mur_frame *wanted, struct mur_result *result, struct mur_request **request_p)
{
    bool is_met = false;

    awaiting.buffer = buffer;
    awaiting.count = count;
    awaiting.type = type;
    awaiting.comm = comm;
    awaiting.request = NULL;
    awaiting.is_busy = true;
    mur_engine.awaited = (struct mur_awaited){.frame = *wanted, .buffer = buffer};
    for (int polls = mur_wait_polls(); polls && !is_met && !awaiting.request; polls--) {
        bool moved;

        if (take(comm, wanted, buffer, LOOKS, result)) {
            awaiting.is_busy = false;
            mur_engine.awaited.frame.kind = MUR_AWAITED_NONE;
            return true;
        }
        moved = mur_progress();

        is_met = mur_engine.awaited.is_met;
        if (!moved)
            mur_cpu_relax();
    }
    awaiting.is_busy = false;
    *request_p = awaiting.request;
    mur_engine.awaited.frame.kind = MUR_AWAITED_NONE;
    mur_engine.awaited.is_met = false;
    if (!is_met)
        return false;
    mur_counters.eager_receives++;
    mur_counters.eager_receive_bytes += mur_engine.awaited.frame.bytes;
    *result = (struct mur_result){
        .source = wanted->source, .tag = wanted->tag, .bytes = (MPI_Count)mur_engine.awaited.frame.bytes};
    return true;
}

int mur_recv(void *buffer, MPI_Count count, struct mur_type *type, int source, int tag, struct mur_comm *comm,
             uint32_t context, MPI_Status *status)
{
    struct mur_match_key key = {.context = context, .source = source, .tag = tag};
    struct mur_message *message = find_message(&key);
    struct mur_request *request = NULL;
    struct mur_result result;
    struct mur_frame wanted;
    int rc;

    if (message) {
        rc = receive_request(buffer, count, type, comm, &request);
        if (rc)
            return rc;
        receive_waiting(request, message);
    } else if (may_take(&key, count, type, comm, &wanted)) {
        if (take(comm, &wanted, buffer, LOOKS, &result) ||
            (!mur_lock_is_used() && await(buffer, count, type, comm, &wanted, &result, &request))) {
            mur_status_set(status, &result);
            mur_engine_flush();
            return MPI_SUCCESS;
        }
    }
    if (!request && (rc = mur_irecv(buffer, count, type, source, tag, comm, context, &request)))
        return rc;
    return mur_wait(request, status);
}

struct mur_message *mur_iprobe(int source, int tag, struct mur_comm *comm)
{
    struct mur_match_key key = {.context = comm->context, .source = source, .tag = tag};
    struct mur_message *message = mur_match_find(&key);

    if (message)
        return message;
    mur_engine_poke();
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
    mur_match_message_free(message);
    return MPI_SUCCESS;
}
