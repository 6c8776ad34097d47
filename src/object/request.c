/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of requests: from a pool, completed by progress, finished by wait or test. */
#include "object/request.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/lock.h"
#include "object/comm.h"
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

static void request_free(struct mur_request *request)
{
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
    if (__builtin_expect(request->is_detached, 0))
        request_free(request);
}

int mur_request_finish(struct mur_request *request, MPI_Status *status)
{
    int error = request->result.error;

    mur_status_set(status, &request->result);
    if (request->operation != MUR_FINISHED)
        request_free(request);
    return error;
}

void mur_status_set_empty(MPI_Status *status)
{
    static const struct mur_result empty = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};

    mur_status_set(status, &empty);
}
