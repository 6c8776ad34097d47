/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending: eager where it fits, else the first step of a rendezvous; a send that finds no room joins the peer's
 * backlog, so that messages keep their order (MPI-5.0 §3.5). */
#include <stdlib.h>

#include "base/counters.h"
#include "base/error.h"
#include "datatype/layout.h"
#include "object/look.h"
#include "pt2pt/lost.h"
#include "pt2pt/peer.h"
#include "pt2pt/pt2pt.h"

/* A process that only sends makes progress once in this many eager sends, so that it receives acknowledgements. */
enum { SENDS_A_LOOK = 256 };

/* Bytes of data in count elements; an error when no memory could hold them. */
static inline int data_bytes(MPI_Count count, const struct mur_type *type, size_t *bytes)
{
    if (__builtin_expect(__builtin_mul_overflow((size_t)count, (size_t)type->size, bytes), 0))
        return mur_error(MPI_ERR_COUNT, "count is %lld elements of %lld bytes, more than memory can hold",
                         (long long)count, (long long)type->size);
    return MPI_SUCCESS;
}

int mur_send_check(MPI_Count count, const struct mur_type *type, int dest)
{
    size_t bytes;

    return dest == MPI_PROC_NULL ? MPI_SUCCESS : data_bytes(count, type, &bytes);
}

static void pack(void *argument, void *out, size_t bytes)
{
    mur_cursor_pack(argument, out, bytes);
}

/* Sends the frame with the data at `buffer`, dense or not. False: no room. */
static inline bool send_eager(struct mur_peer *peer, const struct mur_frame *frame, const void *buffer, MPI_Count count,
                              struct mur_type *type)
{
    struct mur_cursor cursor;

    if (__builtin_expect(type->is_dense || !frame->bytes, 1))
        return mur_send_frame(peer, frame, buffer);
    mur_cursor_start(&cursor, buffer, count, type);
    return mur_send_frame_packed(peer, frame, pack, &cursor);
}

/* The path to the peer has room again. */
static bool resume_eager(struct mur_backlog_entry *entry)
{
    struct mur_request *request = (struct mur_request *)((char *)entry - offsetof(struct mur_request, backlog));
    struct mur_cursor cursor;
    bool is_sent;

    if (request->is_dense) {
        is_sent = request->peer->transport->send(request->peer, &request->frame, request->buffer);
    } else {
        mur_cursor_start(&cursor, request->buffer, request->count, request->type);
        is_sent = request->peer->transport->send_packed(request->peer, &request->frame, pack, &cursor);
    }
    if (is_sent) {
        mur_counters.eager_sends++;
        mur_counters.eager_send_bytes += request->bytes;
        mur_engine.open_operations--;
        mur_request_complete(request);
    }
    return is_sent;
}

static int start_slow(const void *buffer, MPI_Count count, struct mur_type *type, struct mur_comm *comm,
                      const struct mur_frame *frame, size_t bytes, struct mur_peer *peer, bool is_eager,
                      struct mur_request **request_p)
{
    struct mur_request *request;

    if (mur_is_lost(peer))
        return mur_lost_error(peer);
    if (__builtin_expect(comm->has_lost, 0) && !is_eager && frame->context != comm->context)
        return mur_lost_check(comm, frame->context, frame->source); /* its receiver fails, too */
    request = mur_request_create(MUR_SEND, comm, type);
    if (!request)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a send request");
    request->buffer = (char *)buffer;
    request->count = count;
    request->bytes = bytes;
    request->is_dense = type->is_dense || !bytes;
    request->peer = peer;
    request->frame = *frame;
    request->peer_request = request->cancel = 0;
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .bytes = (MPI_Count)bytes};
    mur_engine.open_operations++;
    *request_p = request;
    if (!is_eager)
        return mur_rendezvous_send(request);
    request->backlog.resume = resume_eager;
    mur_engine_backlog_add(peer, &request->backlog);
    return MPI_SUCCESS;
}

int mur_isend(const void *buffer, MPI_Count count, struct mur_type *type, int dest, int tag, struct mur_comm *comm,
              uint32_t context, enum mur_send_mode mode, struct mur_request **request_p)
{
    struct mur_peer *peer;
    struct mur_frame frame;
    size_t bytes;
    bool is_eager;
    int rc;

    *request_p = mur_request_finished;
    if (__builtin_expect(dest == MPI_PROC_NULL, 0))
        return MPI_SUCCESS;
    rc = data_bytes(count, type, &bytes);
    if (__builtin_expect(rc, 0))
        return rc;
    peer = &mur_engine.peers[comm->processes[dest]];
    is_eager = bytes <= peer->transport->eager_max && mode == MUR_STANDARD && !mur_pt2pt_peer(peer)->is_closed;
    frame = mur_frame_make(MUR_FRAME_EAGER, context, comm->rank, tag, (uint32_t)bytes);
    if (__builtin_expect(is_eager, 1) && send_eager(peer, &frame, buffer, count, type)) {
        mur_counters.eager_send_bytes += bytes;
        if (__builtin_expect(++mur_counters.eager_sends % SENDS_A_LOOK == 0, 0))
            mur_progress();
        return MPI_SUCCESS;
    }
    return start_slow(buffer, count, type, comm, &frame, bytes, peer, is_eager, request_p);
}

int mur_send(const void *buffer, MPI_Count count, struct mur_type *type, int dest, int tag, struct mur_comm *comm,
             uint32_t context, enum mur_send_mode mode)
{
    struct mur_request *request;
    int rc = mur_isend(buffer, count, type, dest, tag, comm, context, mode, &request);

    mur_engine_flush();
    if (__builtin_expect(request == mur_request_finished || rc, 1))
        return rc;
    return mur_wait(request, MPI_STATUS_IGNORE);
}

int mur_wait(struct mur_request *request, MPI_Status *status)
{
    mur_wait_for(&request->is_complete, mur_describe_request, request);
    return mur_request_finish(request, status);
}
