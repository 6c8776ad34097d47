/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of requests: from a pool, completed by progress, finished by wait or test. */
#include "object/request.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/settings.h"
#include "engine/lock.h"
#include "object/comm.h"
#include "object/look.h"
#include "object/type.h"

struct mur_pool mur_request_pool = MUR_POOL(MUR_KIND_REQUEST, struct mur_request, "requests");
struct mur_request *mur_request_finished;

int mur_request_setup(void)
{
    mur_request_finished = mur_pool_get(&mur_request_pool);
    if (!mur_request_finished)
        return mur_error(MPI_ERR_NO_MEM, "no memory for requests");
    mur_request_finished->is_complete = 1;
    mur_request_finished->operation = MUR_FINISHED;
    mur_request_finished->is_active = true;
    mur_request_finished->is_persistent = false;
    mur_request_finished->kind = NULL;
    mur_request_finished->comm = NULL;
    mur_request_finished->result =
        (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .error = MPI_SUCCESS};
    return MPI_SUCCESS;
}

struct mur_request *mur_request_create(int operation, struct mur_comm *comm, struct mur_type *type)
{
    struct mur_request *request = mur_pool_get(&mur_request_pool);

    if (!request)
        return NULL;
    request->is_complete = 0;
    request->operation = (uint8_t)operation;
    request->is_detached = false;
    request->is_posted = false;
    request->is_persistent = false;
    request->is_active = true;
    request->on_complete = NULL;
    request->kind = NULL;
    request->comm = comm;
    mur_comm_retain(comm);
    request->type = type;
    if (type)
        mur_type_retain(type);
    request->cursor = NULL;
    request->transfer = NULL;
    request->task.link = NULL;
    request->result.error = MPI_SUCCESS;
    request->result.is_cancelled = false;
    return request;
}

struct mur_request *mur_request_create_composite(const struct mur_request_kind *kind, struct mur_comm *comm,
                                                 struct mur_type *type, size_t extra_bytes, bool is_persistent)
{
    void *extra = calloc(1, extra_bytes ? extra_bytes : 1);
    struct mur_request *request = extra ? mur_request_create(MUR_COMPOSITE, comm, type) : NULL;

    if (!request) {
        free(extra);
        return NULL;
    }
    request->kind = kind;
    request->extra = extra;
    request->parts = 0;
    request->is_persistent = is_persistent;
    request->is_active = !is_persistent;
    return request;
}

static void request_release(struct mur_request *request)
{
    if (request->kind) {
        if (request->kind->destroy)
            request->kind->destroy(request);
        free(request->extra);
    }
    if (request->cursor)
        free(request->cursor);
    if (request->type)
        mur_type_release(request->type);
    mur_comm_release(request->comm);
    mur_pool_put(&mur_request_pool, request);
}

void mur_request_complete(struct mur_request *request)
{
    request->is_complete = 1;
    mur_engine_notify();
    if (__builtin_expect(request->on_complete != NULL, 0)) {
        request->on_complete(request);
        request_release(request);
    } else if (__builtin_expect(request->is_detached, 0)) {
        request_release(request);
    }
}

void mur_request_join(struct mur_request *part, struct mur_request *owner,
                      void (*on_complete)(struct mur_request *part))
{
    struct mur_request finished;

    if (part == mur_request_finished) { /* shared by many: its owner must not be written */
        finished = *part;
        finished.owner = owner;
        on_complete(&finished);
        return;
    }
    part->owner = owner;
    part->on_complete = on_complete;
    if (part->is_complete)
        mur_request_complete(part);
}

int mur_request_query(struct mur_request *request, MPI_Status *status)
{
    if (request->kind && request->kind->query)
        return request->kind->query(request, status);
    mur_status_set(status, &request->result);
    return request->result.error;
}

/* Lets the owner of a complete request, which is freed next, have the last word. */
static int conclude(struct mur_request *request)
{
    return request->kind && request->kind->conclude ? request->kind->conclude(request) : MPI_SUCCESS;
}

static int finish_composite(struct mur_request *request, MPI_Status *status)
{
    int error = mur_request_query(request, status);

    if (request->is_persistent) {
        request->is_active = false;
        request->is_complete = 0;
    } else {
        int rc = conclude(request);

        error = error ? error : rc;
        request_release(request);
    }
    return error;
}

int mur_request_finish(struct mur_request *request, MPI_Status *status)
{
    int error = request->result.error;

    if (__builtin_expect(request->kind != NULL, 0))
        return finish_composite(request, status);
    mur_status_set(status, &request->result);
    if (request->operation != MUR_FINISHED)
        request_release(request);
    return error;
}

void mur_request_detach(struct mur_request *request)
{
    bool is_under_way = request->is_active && !request->is_complete;

    if (is_under_way || (request->kind && request->kind->lingers && request->kind->lingers(request)))
        request->is_detached = true;
    else if (request->operation != MUR_FINISHED)
        request_release(request);
}

int mur_request_free(struct mur_request *request)
{
    bool is_kept = request->kind && request->kind->is_kept_while_active;
    bool is_collective = request->operation == MUR_COLLECTIVE || (request->kind && request->kind->is_collective);
    int rc = MPI_SUCCESS;

    /* Even if it is complete: whether it is depends on chance until it has been waited for. */
    if (request->is_active && (is_kept || (is_collective && mur_is_strict())))
        return mur_error(MPI_ERR_REQUEST, "the request of %s that is active cannot be freed; wait for it first",
                         request->kind ? request->kind->name : "a collective operation");
    if (request->is_complete)
        rc = conclude(request);
    mur_request_detach(request);
    return rc;
}

/* A receive that has not been matched ends without a message; all else goes its way (MPI-5.0 §3.8.4). */
int mur_request_cancel(struct mur_request *request)
{
    if (request->kind)
        return request->kind->cancel
                   ? request->kind->cancel(request)
                   : mur_error(MPI_ERR_REQUEST, "the request of %s cannot be cancelled", request->kind->name);
    if (request->operation == MUR_COLLECTIVE)
        return mur_error(MPI_ERR_REQUEST, "the request of a collective operation cannot be cancelled");
    if (!request->is_posted)
        return MPI_SUCCESS;
    mur_match_withdraw(&request->match);
    request->is_posted = false;
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .is_cancelled = true};
    mur_request_complete(request);
    return MPI_SUCCESS;
}

void mur_status_set_empty(MPI_Status *status)
{
    static const struct mur_result empty = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};

    mur_status_set(status, &empty);
    if (status)
        status->MPI_ERROR = MPI_SUCCESS;
}

static bool is_busy(const struct mur_comm *comm)
{
    for (struct mur_request *request = mur_pool_next(&mur_request_pool, NULL); request;
         request = mur_pool_next(&mur_request_pool, request))
        if (request->comm == comm && request->is_active && !request->is_complete)
            return true;
    return false;
}

void mur_request_drain(const struct mur_comm *comm)
{
    struct mur_waiter waiter = {0};

    while (is_busy(comm))
        if (!mur_progress())
            mur_waiter_idle(&waiter, mur_describe_traffic, comm);
        else
            mur_waiter_moved(&waiter);
}
