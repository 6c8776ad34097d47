/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends and receives (MPI-5.0 §3.9): the arguments are kept, and each start makes an ordinary operation that
 * is part of the persistent request. */
#include "base/error.h"
#include "pt2pt/buffered.h"
#include "pt2pt/pt2pt.h"

struct persistent {
    enum mur_persistent_mode mode;
    int rank, tag;
    struct mur_request *part; /* under way; NULL between */
};

static void part_done(struct mur_request *part)
{
    struct mur_request *request = part->owner;
    struct persistent *persistent = request->extra;

    persistent->part = NULL;
    request->result = part->result;
    mur_request_complete(request);
}

static int start(struct mur_request *request)
{
    struct persistent *p = request->extra;
    struct mur_comm *comm = request->comm;
    struct mur_request *part = NULL;
    int rc;

    if (p->mode == MUR_PERSISTENT_RECEIVE)
        rc = mur_irecv(request->buffer, request->count, request->type, p->rank, p->tag, comm, comm->context, &part);
    else if (p->mode == MUR_PERSISTENT_BUFFERED)
        rc = mur_ibsend(request->buffer, request->count, request->type, p->rank, p->tag, comm, &part);
    else
        rc = mur_isend(request->buffer, request->count, request->type, p->rank, p->tag, comm, comm->context,
                       p->mode == MUR_PERSISTENT_SYNCHRONOUS ? MUR_SYNCHRONOUS : MUR_STANDARD, &part);
    if (rc) {
        request->is_active = false;
        return rc;
    }
    p->part = part;
    mur_request_join(part, request, part_done);
    return MPI_SUCCESS;
}

static int cancel(struct mur_request *request)
{
    struct persistent *persistent = request->extra;

    return persistent->part && persistent->part != mur_request_finished ? mur_cancel(persistent->part) : MPI_SUCCESS;
}

static const struct mur_request_kind kind = {.name = "a persistent operation", .start = start, .cancel = cancel};

int mur_persistent_init(enum mur_persistent_mode mode, void *buffer, MPI_Count count, struct mur_type *type, int rank,
                        int tag, struct mur_comm *comm, struct mur_request **request_p)
{
    struct mur_request *request = mur_request_create_composite(&kind, comm, type, sizeof(struct persistent), true);
    struct persistent *persistent;

    if (!request)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a persistent request");
    persistent = request->extra;
    *persistent = (struct persistent){.mode = mode, .rank = rank, .tag = tag};
    request->buffer = buffer;
    request->count = count;
    *request_p = request;
    return MPI_SUCCESS;
}
