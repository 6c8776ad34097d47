/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing operations (MPI-5.0 §3.7): the wait and test families, free, and asking without completing. */
#include "object/request.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/engine.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "pt2pt/pt2pt.h"

/* The request behind a handle, NULL for MPI_REQUEST_NULL. */
static inline int find(MPI_Request handle, struct mur_request **request_p)
{
    *request_p = NULL;
    if (handle == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    *request_p = mur_request_find(handle);
    if (__builtin_expect(!*request_p, 0))
        return mur_error(MPI_ERR_REQUEST, "request %p is no live request; has it been completed or freed already?",
                         (void *)handle);
    return MPI_SUCCESS;
}

static int find_in_array(MPI_Request handle, int index, struct mur_request **request_p)
{
    int rc = find(handle, request_p);

    return rc ? mur_error(MPI_ERR_REQUEST, "array_of_requests[%d] is %p, no live request; has it been completed or freed "
                                           "already?", index, (void *)handle)
              : MPI_SUCCESS;
}

/* Finishes a complete request and nulls its handle. */
static inline int finish(MPI_Request *handle, struct mur_request *request, MPI_Status *status)
{
    int rc;

    *handle = MPI_REQUEST_NULL;
    if (__builtin_expect(request->result.error, 0))
        mur_entry_blame(request->comm);
    rc = mur_request_finish(request, status);
    return rc;
}

int mur_mpi_wait(MPI_Request *request, MPI_Status *status)
{
    struct mur_request *found;
    int rc = find(*request, &found);

    if (rc)
        return rc;
    if (!found) {
        mur_status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (!found->is_complete)
        mur_wait_for(&found->is_complete);
    return finish(request, found, status);
}

int mur_mpi_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct mur_request *found;
    int rc = find(*request, &found);

    if (rc)
        return rc;
    *flag = 1;
    if (!found) {
        mur_status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (!found->is_complete)
        mur_progress();
    *flag = found->is_complete;
    return found->is_complete ? finish(request, found, status) : MPI_SUCCESS;
}

/* All of these are complete or null. One error makes the call fail with MPI_ERR_IN_STATUS and every status carry its
 * own; without statuses, the first error is the call's (§3.7.5). */
static int finish_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int first_error = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses ? &statuses[i] : MPI_STATUS_IGNORE;
        struct mur_request *request;
        int rc;

        if (requests[i] == MPI_REQUEST_NULL) {
            mur_status_set_empty(status);
            continue;
        }
        request = (struct mur_request *)requests[i]; /* found before */
        rc = finish(&requests[i], request, status);
        if (__builtin_expect(rc, 0)) {
            if (!first_error && statuses)
                for (int j = 0; j < count; j++)
                    statuses[j].MPI_ERROR = MPI_SUCCESS;
            if (statuses)
                status->MPI_ERROR = rc;
            first_error = first_error ? first_error : rc;
        }
    }
    if (first_error && statuses)
        return mur_error(MPI_ERR_IN_STATUS, "an operation failed: %s; the statuses tell each one's error",
                         mur_error_text(first_error) ? mur_error_text(first_error) : "see the statuses");
    return first_error;
}

int mur_mpi_waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    for (int i = 0; i < count; i++) {
        struct mur_request *request;
        int rc = find(array_of_requests[i], &request);

        if (__builtin_expect(rc, 0))
            return find_in_array(array_of_requests[i], i, &request);
    }
    for (int i = 0; i < count; i++) {
        const struct mur_request *request = (const struct mur_request *)array_of_requests[i];

        if (array_of_requests[i] != MPI_REQUEST_NULL && !request->is_complete)
            mur_wait_for(&request->is_complete);
    }
    return finish_all(count, array_of_requests, array_of_statuses);
}

int mur_mpi_testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
    bool has_progressed = false;

    for (int i = 0; i < count; i++) {
        struct mur_request *request;
        int rc = find_in_array(array_of_requests[i], i, &request);

        if (rc)
            return rc;
        if (!request || request->is_complete)
            continue;
        if (!has_progressed)
            mur_progress();
        has_progressed = true;
        if (!request->is_complete) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    *flag = 1;
    return finish_all(count, array_of_requests, array_of_statuses);
}

/* Looks for complete requests, starting at a place that moves on from call to call, so that none starves. Returns
 * the index of one, -1 when there is none, or -2 when all are null. */
static int complete_one(int count, MPI_Request requests[], int start)
{
    int answer = -2;

    for (int k = 0; k < count; k++) {
        int i = start + k < count ? start + k : start + k - count;
        const struct mur_request *request = (const struct mur_request *)requests[i];

        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        if (request->is_complete)
            return i;
        answer = -1;
    }
    return answer;
}

static int find_all(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        struct mur_request *request;
        int rc = find_in_array(requests[i], i, &request);

        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

static int finish_any(int found, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (found == -2) {
        *index = MPI_UNDEFINED;
        mur_status_set_empty(status);
        return MPI_SUCCESS;
    }
    *index = found;
    return finish(&requests[found], (struct mur_request *)requests[found], status);
}

int mur_mpi_waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    struct mur_waiter waiter = {0};
    int rc = find_all(count, array_of_requests), found;

    if (rc)
        return rc;
    while ((found = complete_one(count, array_of_requests, 0)) == -1) {
        if (mur_progress())
            waiter = (struct mur_waiter){0};
        else
            mur_waiter_idle(&waiter);
    }
    return finish_any(found, array_of_requests, index, status);
}

int mur_mpi_testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    int rc = find_all(count, array_of_requests), found;

    if (rc)
        return rc;
    found = complete_one(count, array_of_requests, 0);
    if (found == -1) {
        mur_progress();
        found = complete_one(count, array_of_requests, 0);
    }
    *flag = found != -1;
    if (!*flag) {
        *index = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return finish_any(found, array_of_requests, index, status);
}

/* Finishes every complete request of the array; statuses are packed in the order of the indices. */
static int finish_some(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    int first_error = MPI_SUCCESS;

    *outcount = 0;
    for (int i = 0; i < count; i++) {
        struct mur_request *request = (struct mur_request *)requests[i];
        MPI_Status *status = statuses ? &statuses[*outcount] : MPI_STATUS_IGNORE;
        int rc;

        if (requests[i] == MPI_REQUEST_NULL || !request->is_complete)
            continue;
        indices[*outcount] = i;
        rc = finish(&requests[i], request, status);
        if (rc && !first_error && statuses)
            for (int j = 0; j < *outcount; j++)
                statuses[j].MPI_ERROR = MPI_SUCCESS;
        first_error = first_error ? first_error : rc;
        if (first_error && statuses)
            status->MPI_ERROR = rc;
        ++*outcount;
    }
    if (first_error && statuses)
        return mur_error(MPI_ERR_IN_STATUS, "an operation failed: %s; the statuses tell each one's error",
                         mur_error_text(first_error) ? mur_error_text(first_error) : "see the statuses");
    return first_error;
}

int mur_mpi_waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                     MPI_Status array_of_statuses[])
{
    struct mur_waiter waiter = {0};
    int rc = find_all(incount, array_of_requests), found;

    if (rc)
        return rc;
    while ((found = complete_one(incount, array_of_requests, 0)) == -1) {
        if (mur_progress())
            waiter = (struct mur_waiter){0};
        else
            mur_waiter_idle(&waiter);
    }
    if (found == -2) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

int mur_mpi_testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                     MPI_Status array_of_statuses[])
{
    int rc = find_all(incount, array_of_requests);

    if (rc)
        return rc;
    mur_progress();
    if (complete_one(incount, array_of_requests, 0) == -2) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

int mur_mpi_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct mur_request *found;
    int rc = find(request, &found);

    if (rc)
        return rc;
    *flag = 1;
    if (!found) {
        mur_status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (!found->is_complete)
        mur_progress();
    *flag = found->is_complete;
    if (*flag)
        mur_status_set(status, &found->result);
    return MPI_SUCCESS;
}

int mur_mpi_request_free(MPI_Request *request)
{
    struct mur_request *found;
    int rc = find(*request, &found);

    if (rc)
        return rc;
    if (!found)
        return mur_error(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL, which cannot be freed");
    if (found->operation == MUR_COLLECTIVE && !found->is_complete)
        return mur_error(MPI_ERR_REQUEST, "an active request of a collective operation cannot be freed; wait for it");
    *request = MPI_REQUEST_NULL;
    if (found->is_complete)
        mur_request_finish(found, MPI_STATUS_IGNORE);
    else
        found->is_detached = true;
    return MPI_SUCCESS;
}
