/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables (MPI-5.0 §15.3.7). What the library counts is never reset; a handle remembers where it began.
 *
 * A sum (counts, bytes, times) is what has been collected up to the last stop, and since the last start the difference
 * to what the counter was then. A peak is kept by the library as the highest level since any handle began anew; before
 * it is set back for one handle, all others that run take it over. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "mpi/bodies.h"
#include "mpi/tool.h"
#include "object/buffer.h"
#include "object/comm.h"
#include "tool/meter.h"

struct handle {
    struct mur_object object;
    struct handle *next; /* of the session */
    struct session *session;
    const struct mur_meter *meter;
    struct mur_comm *comm; /* that it is bound to, a reference; or NULL */
    bool is_started;
    uint64_t *collected; /* [meter->count] of a sum; the peak up to now */
    uint64_t *start;     /* [meter->count] of a sum, while it is started; both owned, in one block */
};

struct session {
    struct mur_object object;
    struct handle *handles;
};

static struct mur_pool handle_pool = MUR_POOL(MUR_KIND_TOOL_METER, struct handle, "performance variable handles");
static struct mur_pool session_pool = MUR_POOL(MUR_KIND_TOOL_SESSION, struct session, "tool sessions");

static uint64_t now(const struct handle *handle, int i)
{
    return handle->meter->read(handle->meter, handle->comm, i);
}

static uint64_t *level_of(const struct handle *handle)
{
    return mur_counter_at(handle->meter->counter->level);
}

static uint64_t *peak_of(const struct handle *handle)
{
    return mur_counter_at(handle->meter->counter->offset);
}

/* Lets a peak begin anew at the level of this moment; the other handles that follow it take over what it was. */
static void restart_peak(const struct handle *handle)
{
    uint64_t peak = *peak_of(handle);

    for (struct handle *other = NULL; (other = mur_pool_next(&handle_pool, other));)
        if (other->meter == handle->meter && other->is_started && other->collected[0] < peak)
            other->collected[0] = peak;
    *peak_of(handle) = *level_of(handle);
}

static uint64_t value_of(const struct handle *handle, int i)
{
    if (mur_meter_is_continuous(handle->meter))
        return now(handle, i);
    if (!handle->is_started)
        return handle->collected[i];
    if (mur_meter_is_peak(handle->meter))
        return now(handle, i) > handle->collected[i] ? now(handle, i) : handle->collected[i];
    return handle->collected[i] + now(handle, i) - handle->start[i];
}

/* Goes on from this value. */
static void set(struct handle *handle, int i, uint64_t value)
{
    if (mur_meter_is_peak(handle->meter) && handle->is_started)
        restart_peak(handle);
    handle->collected[i] = value;
    if (mur_meter_is_sum(handle->meter) && handle->is_started)
        handle->start[i] = now(handle, i);
}

static void start(struct handle *handle)
{
    if (handle->is_started)
        return;
    if (mur_meter_is_peak(handle->meter)) {
        restart_peak(handle);
        handle->collected[0] = *level_of(handle);
    } else {
        for (int i = 0; i < handle->meter->count; i++)
            handle->start[i] = now(handle, i);
    }
    handle->is_started = true;
}

static void stop(struct handle *handle)
{
    for (int i = 0; i < handle->meter->count; i++)
        handle->collected[i] = value_of(handle, i);
    handle->is_started = false;
}

static void reset(struct handle *handle)
{
    for (int i = 0; i < handle->meter->count; i++)
        set(handle, i, mur_meter_is_peak(handle->meter) ? *level_of(handle) : 0);
}

/* As the user sees them. */
static void give(const struct handle *handle, void *buffer)
{
    MPI_Datatype datatype = mur_meter_datatype(handle->meter);

    for (int i = 0; i < handle->meter->count; i++)
        if (datatype == MPI_INT)
            ((int *)buffer)[i] = (int)value_of(handle, i);
        else if (datatype == MPI_DOUBLE)
            ((double *)buffer)[i] = (double)value_of(handle, i) * 1e-9;
        else
            ((unsigned long long *)buffer)[i] = value_of(handle, i);
}

static void take(struct handle *handle, const void *buffer)
{
    bool is_time = mur_meter_datatype(handle->meter) == MPI_DOUBLE;

    for (int i = 0; i < handle->meter->count; i++)
        set(handle, i,
            is_time ? (uint64_t)(((const double *)buffer)[i] * 1e9) : ((const unsigned long long *)buffer)[i]);
}

/* ---- what there is ---- */

int mur_mpi_t_pvar_get_num(int *num_pvar)
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(num_pvar, MPI_T_ERR_INVALID);
    *num_pvar = mur_meter_count;
    return mur_tool_done();
}

static void put(int *out, int value)
{
    if (out)
        *out = value;
}

int mur_mpi_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                            MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                            int *readonly, int *continuous, int *atomic)
{
    const struct mur_meter *meter;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(pvar_index >= 0 && pvar_index < mur_meter_count, MPI_T_ERR_INVALID_INDEX);
    meter = &mur_meters[pvar_index];
    MUR_TOOL_NEED(mur_tool_tell(meter->name, name, name_len) && mur_tool_tell(meter->description, desc, desc_len),
                  MPI_T_ERR_INVALID);
    if (datatype)
        *datatype = mur_meter_datatype(meter);
    if (enumtype)
        *enumtype = meter->enumeration ? mur_tool_enum_handle(meter->enumeration) : MPI_T_ENUM_NULL;
    put(verbosity, meter->verbosity);
    put(var_class, meter->pvar_class);
    put(bind, meter->bind);
    put(readonly, mur_meter_is_continuous(meter));
    put(continuous, mur_meter_is_continuous(meter));
    put(atomic, !mur_meter_is_continuous(meter));
    return mur_tool_done();
}

int mur_mpi_t_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    int rc = mur_tool_enter(), i = 0;

    if (rc)
        return rc;
    MUR_TOOL_NEED(name && pvar_index && var_class >= MPI_T_PVAR_CLASS_STATE && var_class <= MPI_T_PVAR_CLASS_GENERIC,
                  MPI_T_ERR_INVALID);
    while (i < mur_meter_count && (mur_meters[i].pvar_class != var_class || strcmp(mur_meters[i].name, name) != 0))
        i++;
    MUR_TOOL_NEED(i < mur_meter_count, MPI_T_ERR_INVALID_NAME);
    *pvar_index = i;
    return mur_tool_done();
}

/* ---- sessions and handles ---- */

static struct session *session_find(MPI_T_pvar_session session)
{
    return mur_object_find(session, MUR_KIND_TOOL_SESSION);
}

/* NULL where it is none, or not of this session. */
static struct handle *handle_find(const struct session *session, MPI_T_pvar_handle handle)
{
    struct handle *found = mur_object_find(handle, MUR_KIND_TOOL_METER);

    return found && found->session == session ? found : NULL;
}

static void handle_free(struct handle *handle)
{
    struct handle **link = &handle->session->handles;

    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    if (handle->comm)
        mur_comm_release(handle->comm);
    free(handle->collected);
    mur_pool_put(&handle_pool, handle);
}

static void session_free(struct session *session)
{
    while (session->handles)
        handle_free(session->handles);
    mur_pool_put(&session_pool, session);
}

void mur_tool_sessions_clear(void)
{
    struct session *session;

    while ((session = mur_pool_next(&session_pool, NULL)))
        session_free(session);
}

int mur_mpi_t_pvar_session_create(MPI_T_pvar_session *session)
{
    struct session *made;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(session, MPI_T_ERR_INVALID);
    made = mur_pool_get(&session_pool);
    MUR_TOOL_NEED(made, MPI_T_ERR_OUT_OF_SESSIONS);
    made->handles = NULL;
    *session = (MPI_T_pvar_session)(void *)made;
    return mur_tool_done();
}

int mur_mpi_t_pvar_session_free(MPI_T_pvar_session *session)
{
    struct session *found;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    MUR_TOOL_NEED(session, MPI_T_ERR_INVALID);
    found = session_find(*session);
    MUR_TOOL_NEED(found, MPI_T_ERR_INVALID_SESSION);
    session_free(found);
    *session = MPI_T_PVAR_SESSION_NULL;
    return mur_tool_done();
}

static struct handle *handle_create(struct session *session, const struct mur_meter *meter, struct mur_comm *comm)
{
    struct handle *handle = mur_pool_get(&handle_pool);
    uint64_t *values = calloc((size_t)meter->count * 2, sizeof *values);
    struct mur_object header;

    if (!handle || !values) {
        if (handle)
            mur_pool_put(&handle_pool, handle);
        free(values);
        return NULL;
    }
    header = handle->object;
    *handle = (struct handle){.object = header,
                              .next = session->handles,
                              .session = session,
                              .meter = meter,
                              .comm = comm,
                              .collected = values,
                              .start = values + meter->count};
    session->handles = handle;
    if (comm)
        mur_comm_retain(comm);
    if (mur_meter_is_peak(meter))
        values[0] = *level_of(handle);
    return handle;
}

int mur_mpi_t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
                                int *count)
{
    struct mur_comm *comm = NULL;
    struct session *owner;
    struct handle *made;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    owner = session_find(session);
    MUR_TOOL_NEED(owner, MPI_T_ERR_INVALID_SESSION);
    MUR_TOOL_NEED(pvar_index >= 0 && pvar_index < mur_meter_count, MPI_T_ERR_INVALID_INDEX);
    MUR_TOOL_NEED(handle && count, MPI_T_ERR_INVALID);
    if (mur_meters[pvar_index].bind == MPI_T_BIND_MPI_COMM) {
        MUR_TOOL_NEED(obj_handle, MPI_T_ERR_INVALID);
        comm = mur_comm_find(*(MPI_Comm *)obj_handle);
        MUR_TOOL_NEED(comm, MPI_T_ERR_INVALID);
    }
    made = handle_create(owner, &mur_meters[pvar_index], comm);
    MUR_TOOL_NEED(made, MPI_T_ERR_OUT_OF_HANDLES);
    *count = made->meter->count;
    *handle = (MPI_T_pvar_handle)(void *)made;
    return mur_tool_done();
}

int mur_mpi_t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    struct session *owner;
    struct handle *found;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    owner = session_find(session);
    MUR_TOOL_NEED(owner, MPI_T_ERR_INVALID_SESSION);
    MUR_TOOL_NEED(handle, MPI_T_ERR_INVALID);
    found = handle_find(owner, *handle);
    MUR_TOOL_NEED(found, MPI_T_ERR_INVALID_HANDLE);
    handle_free(found);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return mur_tool_done();
}

/* ---- what can be done with them ---- */

/* Does it to one handle, or, passing over those for which it is not meant, to all of a session. */
static int apply(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void (*act)(struct handle *handle),
                 int code_if_continuous)
{
    struct session *owner;
    struct handle *found;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    owner = session_find(session);
    MUR_TOOL_NEED(owner, MPI_T_ERR_INVALID_SESSION);
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        for (found = owner->handles; found; found = found->next)
            if (!mur_meter_is_continuous(found->meter))
                act(found);
        return mur_tool_done();
    }
    found = handle_find(owner, handle);
    MUR_TOOL_NEED(found, MPI_T_ERR_INVALID_HANDLE);
    MUR_TOOL_NEED(!mur_meter_is_continuous(found->meter), code_if_continuous);
    act(found);
    return mur_tool_done();
}

int mur_mpi_t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return apply(session, handle, start, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int mur_mpi_t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return apply(session, handle, stop, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int mur_mpi_t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return apply(session, handle, reset, MPI_T_ERR_PVAR_NO_WRITE);
}

/* The handle that a value goes to or comes from. On success the locks are held. */
static int enter_with(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buffer, struct handle **found_p)
{
    const struct session *owner;
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    owner = session_find(session);
    MUR_TOOL_NEED(owner, MPI_T_ERR_INVALID_SESSION);
    *found_p = handle_find(owner, handle);
    MUR_TOOL_NEED(*found_p, MPI_T_ERR_INVALID_HANDLE);
    MUR_TOOL_NEED(mur_is_memory(buffer), MPI_T_ERR_INVALID);
    return MPI_SUCCESS;
}

int mur_mpi_t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct handle *found;
    int rc = enter_with(session, handle, buf, &found);

    if (rc)
        return rc;
    give(found, buf);
    return mur_tool_done();
}

int mur_mpi_t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    struct handle *found;
    int rc = enter_with(session, handle, buf, &found);

    if (rc)
        return rc;
    MUR_TOOL_NEED(!mur_meter_is_continuous(found->meter), MPI_T_ERR_PVAR_NO_WRITE);
    take(found, buf);
    return mur_tool_done();
}

int mur_mpi_t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct handle *found;
    int rc = enter_with(session, handle, buf, &found);

    if (rc)
        return rc;
    MUR_TOOL_NEED(!mur_meter_is_continuous(found->meter), MPI_T_ERR_PVAR_NO_ATOMIC);
    give(found, buf);
    reset(found);
    return mur_tool_done();
}
