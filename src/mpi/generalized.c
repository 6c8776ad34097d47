/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests (MPI-5.0 §13.2): operations that users perform and complete themselves. Their callbacks run
 * without the engine's lock. */
#include "base/error.h"
#include "engine/lock.h"
#include "mpi/bodies.h"
#include "object/comm.h"
#include "object/request.h"

struct generalized {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
};

static int query(struct mur_request *request, MPI_Status *status)
{
    const struct generalized *g = request->extra;
    MPI_Status own;
    int rc;

    mur_status_set_empty(&own);
    mur_engine_unlock();
    rc = g->query(g->state, &own);
    mur_engine_lock();
    if (status) {
        int error = status->MPI_ERROR;

        *status = own;
        status->MPI_ERROR = error;
    }
    return rc;
}

static int cancel(struct mur_request *request)
{
    const struct generalized *g = request->extra;
    int rc, is_complete = request->is_complete;

    mur_engine_unlock();
    rc = g->cancel(g->state, is_complete);
    mur_engine_lock();
    return rc;
}

static int conclude(struct mur_request *request)
{
    const struct generalized *g = request->extra;
    int rc;

    mur_engine_unlock();
    rc = g->free(g->state);
    mur_engine_lock();
    return rc;
}

static const struct mur_request_kind kind = {
    .name = "a generalized operation", .query = query, .cancel = cancel, .conclude = conclude};

int mur_mpi_grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                           MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    struct mur_request *made =
        mur_request_create_composite(&kind, &mur_comm_self, NULL, sizeof(struct generalized), false);

    if (!made)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a generalized request");
    *(struct generalized *)made->extra =
        (struct generalized){.query = query_fn, .free = free_fn, .cancel = cancel_fn, .state = extra_state};
    *request = (MPI_Request)made;
    return MPI_SUCCESS;
}

int mur_mpi_grequest_complete(MPI_Request request)
{
    struct mur_request *found = mur_request_find(request);
    int rc = MPI_SUCCESS;

    if (!found || found->kind != &kind)
        return mur_error(MPI_ERR_REQUEST, "request is no live generalized request");
    if (found->is_complete)
        return mur_error(MPI_ERR_REQUEST, "the generalized request is complete already");
    if (found->is_detached)
        rc = conclude(found);
    mur_request_complete(found);
    return rc;
}
