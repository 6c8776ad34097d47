/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/access.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/lock.h"
#include "io/datarep.h"
#include "object/comm.h"
#include "object/look.h"
#include "object/request.h"

static int convert(struct mur_access *access)
{
    MPI_Count each;
    int rc = mur_datarep_size(access->file->rep, access->user.type, &each);
    MPI_Count bytes = each * access->user.count;

    if (rc)
        return rc;
    access->user.converted = malloc(bytes ? (size_t)bytes : 1);
    if (!access->user.converted)
        return mur_error(MPI_ERR_NO_MEM, "no memory to convert %lld bytes for file '%s'", (long long)bytes,
                         access->file->name);
    mur_cursor_start(&access->memory, access->user.converted, bytes, mur_type_find(MPI_BYTE));
    if (access->is_write)
        rc = mur_datarep_encode(access->file->rep, access->user.buffer, access->user.count, access->user.type,
                                access->user.converted);
    return rc;
}

int mur_access_begin(struct mur_access *access, struct mur_file *file, bool is_write, bool is_collective,
                     MPI_Offset offset, void *buffer, MPI_Count count, struct mur_type *type)
{
    int rc = MPI_SUCCESS;

    *access = (struct mur_access){.file = file,
                                  .is_write = is_write,
                                  .is_collective = is_collective,
                                  .start = offset * file->unit,
                                  .user = {.buffer = buffer, .count = count, .type = type}};
    mur_cursor_start(&access->memory, buffer, count, type);
    if (file->rep)
        rc = convert(access);
    if (!file->shape->size)
        access->memory.bytes = 0;
    return rc;
}

int mur_access_end(struct mur_access *access, size_t *bytes)
{
    const struct mur_datarep *rep = access->file->rep;
    MPI_Count native = (MPI_Count)access->moved;
    int rc = MPI_SUCCESS;

    if (access->user.converted && access->is_write)
        native = access->moved == access->memory.bytes ? access->user.count * access->user.type->size : 0;
    else if (access->user.converted && access->moved)
        rc = mur_datarep_decode(rep, access->user.converted, native, access->user.buffer, access->user.count,
                                access->user.type, &native);
    *bytes = (size_t)native;
    free(access->user.converted);
    access->user.converted = NULL;
    mur_independent_end(access);
    return access->error ? access->error : rc;
}

/* ---- blocking and nonblocking ---- */

static bool is_shared(const struct mur_access *access)
{
    return access->is_collective && access->file->comm->size > 1;
}

static bool run_blocking(struct mur_task *task, bool *is_over)
{
    struct mur_access *access = (struct mur_access *)task; /* its first member */

    *is_over = mur_two_phase_step(access);
    access->is_complete = *is_over;
    return *is_over;
}

/* The ranks of the file that have not come to the access. */
static void describe_access(const void *what)
{
    const struct mur_access *access = what;
    const struct mur_shared_state *shared = access->file->shared;
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_FILE, access->file->comm);

    mur_rest_name(wait, access->file->name);
    for (int rank = 0; rank < shared->size; rank++)
        if (access->shared.number && !mur_shared_state_has_posted(shared, rank, access->shared.number))
            mur_rest_miss(wait, shared->processes[rank]);
}

static void run_collective(struct mur_access *access)
{
    access->shared.ticket = access->file->shared->started++;
    access->task.run = run_blocking;
    if (mur_two_phase_step(access))
        return;
    mur_engine_task_add(&access->task);
    mur_wait_for(&access->is_complete, describe_access, access);
}

int mur_access_run(struct mur_access *access, size_t *bytes)
{
    if (is_shared(access) && !access->file->shared)
        mur_two_phase_messages_run(access);
    else if (is_shared(access))
        run_collective(access);
    else
        while (!mur_independent_step(access))
            mur_engine_breathe();
    return mur_access_end(access, bytes);
}

void mur_access_complete(struct mur_access *access)
{
    struct mur_request *request = access->request;
    size_t bytes;

    request->result.error = mur_access_end(access, &bytes);
    request->result.bytes = (MPI_Count)bytes;
    mur_request_complete(request); /* which may free the access */
}

static bool run_nonblocking(struct mur_task *task, bool *is_over)
{
    struct mur_access *access = (struct mur_access *)task;
    size_t before = access->moved;

    *is_over = is_shared(access) ? mur_two_phase_step(access) : mur_independent_step(access);
    if (*is_over)
        mur_access_complete(access);
    return *is_over || access->moved != before;
}

static bool describe_request(const struct mur_request *request)
{
    for (const struct mur_task *task = mur_engine.tasks; task; task = task->next) {
        const struct mur_access *access = (const void *)task;

        if (task->run != run_nonblocking || access->request != request)
            continue;
        if (is_shared(access))
            describe_access(access);
        else
            mur_rest_name(mur_look_add_comm(MUR_WAIT_FILE, access->file->comm), access->file->name);
        return true;
    }
    return false;
}

void mur_access_setup(void)
{
    mur_look_performers[2] = describe_request;
}

/* What the kernel can do meanwhile is handed to it before the call returns. True: all is complete. */
static bool launch(struct mur_access *access)
{
    if (access->error || !mur_independent_is_for_background(access))
        return false;
    if (!is_shared(access))
        mur_independent_step(access);
    return is_shared(access) && mur_access_is_alone(access) && mur_two_phase_step(access);
}

static const struct mur_request_kind collective_kind = {.name = "a collective file access", .is_collective = true};
static const struct mur_request_kind independent_kind = {.name = "a file access"};

/* Without memory for a request: who accesses together with others takes part at once, so that they hear of it. */
static int refuse(struct mur_access access, int rc)
{
    size_t bytes;

    access.error = rc ? rc : mur_error(MPI_ERR_NO_MEM, "no memory for a request");
    return access.is_collective ? mur_access_run(&access, &bytes) : mur_access_end(&access, &bytes);
}

int mur_access_start(const struct mur_access *what, int rc, struct mur_request **request_p)
{
    const struct mur_request_kind *kind = what->is_collective ? &collective_kind : &independent_kind;
    struct mur_request *request =
        mur_request_create_composite(kind, what->file->comm, what->user.type, sizeof(struct mur_access), false);
    struct mur_access *access;

    if (!request)
        return refuse(*what, rc);
    request->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    access = request->extra;
    *access = *what;
    access->request = request;
    access->error = rc;
    access->task.run = run_nonblocking;
    *request_p = request;
    if (is_shared(access) && !access->file->shared) {
        mur_two_phase_messages_start(access);
        return MPI_SUCCESS;
    }
    if (is_shared(access))
        access->shared.ticket = access->file->shared->started++;
    if (launch(access))
        mur_access_complete(access);
    else
        mur_engine_task_add(&access->task);
    return MPI_SUCCESS;
}
