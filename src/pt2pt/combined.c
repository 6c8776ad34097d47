/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking combined send and receive (MPI-5.0 §3.11): one request with two parts; the receive's result is its
 * own. */
#include <stdlib.h>

#include "base/error.h"
#include "datatype/layout.h"
#include "pt2pt/pt2pt.h"

struct combined {
    void *copy; /* of the data to send, where the buffer is replaced */
    struct mur_request *receive;
};

static void part_done(struct mur_request *part)
{
    struct mur_request *request = part->owner;
    struct combined *combined = request->extra;
    int error = request->result.error;

    if (part->operation == MUR_RECEIVE) {
        request->result = part->result;
        combined->receive = NULL;
    }
    request->result.error = error ? error : part->result.error;
    if (--request->parts == 0)
        mur_request_complete(request);
}

/* Cancels the receive; the send goes its way. */
static int cancel(struct mur_request *request)
{
    struct combined *combined = request->extra;

    return combined->receive ? mur_request_cancel(combined->receive) : MPI_SUCCESS;
}

static void destroy(struct mur_request *request)
{
    struct combined *combined = request->extra;

    free(combined->copy);
}

static const struct mur_request_kind kind = {
    .name = "a combined send and receive", .cancel = cancel, .destroy = destroy};

/* Nothing could be sent; neither shall a receive be left that takes a later message. */
static void give_up(struct mur_request *request)
{
    const struct combined *combined = request->extra;

    request->is_detached = true;
    request->parts = 1; /* the receive */
    if (combined->receive)
        cancel(request);
    else
        mur_request_complete(request);
}

int mur_isendrecv(const struct mur_half *send, const struct mur_half *receive, struct mur_comm *comm,
                  struct mur_request **request_p)
{
    struct mur_request *request, *sent, *received;
    struct combined *combined;
    int rc = mur_send_check(send->count, send->type, send->rank);

    if (rc)
        return rc;
    request = mur_request_create_composite(&kind, comm, NULL, sizeof(struct combined), false);
    if (!request)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a combined request");
    combined = request->extra;
    request->parts = 2;
    rc = mur_irecv(receive->buffer, receive->count, receive->type, receive->rank, receive->tag, comm, comm->context,
                   &received);
    if (!rc) {
        combined->receive = received;
        mur_request_join(received, request, part_done);
        rc = mur_isend(send->buffer, send->count, send->type, send->rank, send->tag, comm, comm->context, MUR_STANDARD,
                       &sent);
    }
    if (rc) {
        give_up(request);
        return rc;
    }
    mur_request_join(sent, request, part_done);
    *request_p = request;
    return MPI_SUCCESS;
}

int mur_isendrecv_replace(const struct mur_half *send, const struct mur_half *receive, struct mur_comm *comm,
                          struct mur_request **request_p)
{
    struct mur_half packed = {.type = mur_type_find(MPI_BYTE), .rank = send->rank, .tag = send->tag};
    struct mur_cursor cursor;
    struct combined *combined;
    int rc;

    mur_cursor_start(&cursor, send->buffer, send->rank == MPI_PROC_NULL ? 0 : send->count, send->type);
    packed.count = (MPI_Count)cursor.bytes;
    packed.buffer = malloc(cursor.bytes ? cursor.bytes : 1);
    if (!packed.buffer)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a copy of the %zu bytes to send", cursor.bytes);
    mur_cursor_pack(&cursor, packed.buffer, cursor.bytes);
    rc = mur_isendrecv(&packed, receive, comm, request_p);
    if (rc) {
        free(packed.buffer);
        return rc;
    }
    combined = (*request_p)->extra;
    combined->copy = packed.buffer;
    return MPI_SUCCESS;
}
