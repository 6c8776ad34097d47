/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing operations (MPI-5.0 §3.7): the wait and test families, free, and asking without completing. */
#include "object/request.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/engine.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "object/look.h"
#include "pt2pt/pt2pt.h"

/* The request behind a handle; NULL for MPI_REQUEST_NULL, and for an inactive persistent one, which behaves like it
 * (§3.9). */
static inline int find(MPI_Request handle, struct mur_request **request_p)
{
    *request_p = NULL;
    if (handle == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    *request_p = mur_request_find(handle);
    if (__builtin_expect(!*request_p, 0))
        return mur_error(MPI_ERR_REQUEST, "request %p is no live request; has it been completed or freed already?",
                         (void *)handle);
    if (__builtin_expect(!(*request_p)->is_active, 0))
        *request_p = NULL;
    return MPI_SUCCESS;
}

/* The same for a handle that has been found before. */
static inline struct mur_request *known(MPI_Request handle)
{
    struct mur_request *request = (struct mur_request *)handle;

    return handle != MPI_REQUEST_NULL && request->is_active ? request : NULL;
}

static int find_in_array(MPI_Request handle, int index, struct mur_request **request_p)
{
    int rc = find(handle, request_p);

    return rc ? mur_error(MPI_ERR_REQUEST,
                          "array_of_requests[%d] is %p, no live request; has it been completed or freed "
                          "already?",
                          index, (void *)handle)
              : MPI_SUCCESS;
}

/* Finishes a complete request and nulls its handle, unless it is persistent. */
static inline int finish(MPI_Request *handle, struct mur_request *request, MPI_Status *status)
{
    if (!request->is_persistent)
        *handle = MPI_REQUEST_NULL;
    if (__builtin_expect(request->result.error, 0))
        mur_entry_blame(request->comm, request->result.error);
    return mur_request_finish(request, status);
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
        mur_wait_for(&found->is_complete, mur_describe_request, found);
    else
        mur_engine_flush();
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
        mur_engine_called(MUR_CALL_LONG);
        return MPI_SUCCESS;
    }
    if (!found->is_complete)
        mur_engine_poke();
    *flag = found->is_complete;
    return found->is_complete ? finish(request, found, status) : MPI_SUCCESS;
}

/* Waits for each and finishes it, in one pass. One error makes the call fail with MPI_ERR_IN_STATUS and every status
 * carry its own; without statuses, the first error is the call's (§3.7.5). */
static int finish_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int first_error = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses ? &statuses[i] : MPI_STATUS_IGNORE;
        struct mur_request *request;
        int rc = find(requests[i], &request);

        if (__builtin_expect(rc, 0))
            return find_in_array(requests[i], i, &request);
        if (__builtin_expect(!request, 0)) {
            mur_status_set_empty(status);
            continue;
        }
        if (!request->is_complete)
            mur_wait_for(&request->is_complete, mur_describe_requests,
                         &(struct mur_request_list){.items = requests + i, .count = count - i});
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
    mur_engine_flush();
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
            mur_engine_poke();
        has_progressed = true;
        if (!request->is_complete) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    *flag = 1;
    if (!has_progressed)
        mur_engine_called(MUR_CALL_LONG);
    return finish_all(count, array_of_requests, array_of_statuses);
}

/* The index of a complete request, -1 when there is none, or -2 when none is active. */
static int complete_one(int count, const MPI_Request requests[])
{
    int answer = -2;

    for (int i = 0; i < count; i++) {
        const struct mur_request *request = known(requests[i]);

        if (!request)
            continue;
        if (request->is_complete)
            return i;
        answer = -1;
    }
    return answer;
}

/* The same, but never -1. */
static int wait_for_one(int count, const MPI_Request requests[])
{
    const struct mur_request_list all = {.items = requests, .count = count, .is_any = true};
    struct mur_waiter waiter = {0};
    int found;

    while ((found = complete_one(count, requests)) == -1) {
        if (mur_progress())
            mur_waiter_moved(&waiter);
        else
            mur_waiter_idle(&waiter, mur_describe_requests, &all);
    }
    return found;
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
    int rc = find_all(count, array_of_requests), found;

    if (rc)
        return rc;
    found = wait_for_one(count, array_of_requests);
    mur_engine_flush();
    return finish_any(found, array_of_requests, index, status);
}

int mur_mpi_testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    int rc = find_all(count, array_of_requests), found;

    if (rc)
        return rc;
    found = complete_one(count, array_of_requests);
    if (found == -1) {
        mur_engine_poke();
        found = complete_one(count, array_of_requests);
    } else {
        mur_engine_called(MUR_CALL_LONG);
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
        struct mur_request *request = known(requests[i]);
        MPI_Status *status = statuses ? &statuses[*outcount] : MPI_STATUS_IGNORE;
        int rc;

        if (!request || !request->is_complete)
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
    int rc = find_all(incount, array_of_requests), found;

    if (rc)
        return rc;
    found = wait_for_one(incount, array_of_requests);
    if (found == -2) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    mur_engine_flush();
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

int mur_mpi_testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                     MPI_Status array_of_statuses[])
{
    int rc = find_all(incount, array_of_requests);

    if (rc)
        return rc;
    mur_engine_poke();
    if (complete_one(incount, array_of_requests) == -2) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

/* Asks about one request without completing it. */
static int ask(struct mur_request *request, MPI_Status *status)
{
    if (!request) {
        mur_status_set_empty(status);
        return MPI_SUCCESS;
    }
    return mur_entry_blame(request->comm, mur_request_query(request, status));
}

int mur_mpi_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct mur_request *found;
    int rc = find(request, &found);

    if (rc)
        return rc;
    if (found && !found->is_complete)
        mur_engine_poke();
    else
        mur_engine_called(MUR_CALL_LONG);
    *flag = !found || found->is_complete;
    return *flag ? ask(found, status) : MPI_SUCCESS;
}

int mur_mpi_request_get_status_any(int count, const MPI_Request array_of_requests[], int *index, int *flag,
                                   MPI_Status *status)
{
    int rc = find_all(count, array_of_requests), found;

    if (rc)
        return rc;
    mur_engine_poke();
    found = complete_one(count, array_of_requests);
    *flag = found != -1;
    *index = found < 0 ? MPI_UNDEFINED : found;
    return *flag ? ask(found < 0 ? NULL : known(array_of_requests[found]), status) : MPI_SUCCESS;
}

int mur_mpi_request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                   MPI_Status array_of_statuses[])
{
    int rc = find_all(count, array_of_requests), error;

    if (rc)
        return rc;
    mur_engine_poke();
    *flag = 1;
    for (int i = 0; i < count; i++)
        *flag &= !known(array_of_requests[i]) || known(array_of_requests[i])->is_complete;
    for (int i = 0; *flag && i < count; i++) {
        error = ask(known(array_of_requests[i]), array_of_statuses ? &array_of_statuses[i] : MPI_STATUS_IGNORE);
        rc = rc ? rc : error;
    }
    return rc;
}

int mur_mpi_request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                    int array_of_indices[], MPI_Status array_of_statuses[])
{
    int rc = find_all(incount, array_of_requests), error;

    if (rc)
        return rc;
    mur_engine_poke();
    *outcount = complete_one(incount, array_of_requests) == -2 ? MPI_UNDEFINED : 0;
    for (int i = 0; i < incount; i++) {
        struct mur_request *request = known(array_of_requests[i]);

        if (!request || !request->is_complete)
            continue;
        error = ask(request, array_of_statuses ? &array_of_statuses[*outcount] : MPI_STATUS_IGNORE);
        rc = rc ? rc : error;
        array_of_indices[(*outcount)++] = i;
    }
    return rc;
}

/* The request of a call that takes no null handle. */
static int find_real(const MPI_Request *handle, struct mur_request **request_p)
{
    *request_p = mur_request_find(*handle);
    if (*request_p)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_REQUEST, *handle == MPI_REQUEST_NULL
                                          ? "request is MPI_REQUEST_NULL, which is not allowed here"
                                          : "request is no live request; has it been completed or freed already?");
}

int mur_mpi_request_free(MPI_Request *request)
{
    struct mur_request *found;
    int rc = find_real(request, &found);

    if (!rc)
        rc = mur_request_free(found);
    if (!rc)
        *request = MPI_REQUEST_NULL;
    return rc;
}

int mur_mpi_cancel(MPI_Request *request)
{
    struct mur_request *found;
    int rc = find_real(request, &found);

    if (rc)
        return rc;
    if (!found->is_active)
        return mur_error(MPI_ERR_REQUEST, "request is a persistent one that has not been started");
    return mur_cancel(found);
}

static int start(struct mur_request *request)
{
    if (!request->kind || !request->kind->start)
        return mur_error(MPI_ERR_REQUEST, "request is none that can be started: those come from the _init functions");
    if (request->is_active)
        return mur_error(MPI_ERR_REQUEST, "request is active already; wait for it before it is started again");
    request->is_complete = 0;
    request->is_active = true;
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    return mur_entry_blame(request->comm, request->kind->start(request));
}

int mur_mpi_start(MPI_Request *request)
{
    struct mur_request *found;
    int rc = find_real(request, &found);

    return rc ? rc : start(found);
}

int mur_mpi_startall(int count, MPI_Request array_of_requests[])
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && !rc; i++) {
        struct mur_request *found;

        rc = find_real(&array_of_requests[i], &found);
        if (!rc)
            rc = start(found);
    }
    return rc;
}
