/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of objects (MPI-5.0 §9.3). */
#include "mpi/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/lock.h"
#include "io/file.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "object/comm.h"
#include "object/errhandler.h"
#include "object/session.h"
#include "object/win.h"

static struct mur_errhandler *file_null_errhandler = &mur_errors_return;

struct mur_errhandler **mur_file_errhandler(MPI_File file)
{
    struct mur_file *object;

    if (!file || file == MPI_FILE_NULL)
        return &file_null_errhandler;
    object = mur_object_find(file, MUR_KIND_FILE);
    return object ? &object->errhandler : NULL;
}

static struct mur_errhandler **slot_of_file(struct mur_file *file)
{
    return file ? &file->errhandler : &file_null_errhandler;
}

/* NULL: no memory. */
static struct mur_errhandler *create(uint32_t serves, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = mur_errhandler_create(serves);

    if (handler)
        *errhandler = mur_object_handle(handler);
    return handler;
}

static int set(struct mur_errhandler **slot_p, struct mur_errhandler *handler, uint32_t kind, const char *noun)
{
    if (handler->serves && handler->serves != kind)
        return mur_error(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than a %s", noun);
    mur_errhandler_attach(slot_p, handler);
    return MPI_SUCCESS;
}

/* The handle counts as a reference of its own, which MPI_Errhandler_free drops. */
static int get(struct mur_errhandler *handler, MPI_Errhandler *errhandler)
{
    mur_errhandler_retain(handler);
    handler->handles++;
    *errhandler = mur_object_handle(handler);
    return MPI_SUCCESS;
}

/* For those who hold the engine's lock. The user's function may free the handler, or set another. */
static int call(uint32_t kind, void *handle, struct mur_errhandler *handler, int code)
{
    mur_errhandler_retain(handler);
    mur_engine_unlock();
    mur_errhandler_raise(kind, handle, handler, code);
    mur_engine_lock();
    mur_errhandler_release(handler);
    return MPI_SUCCESS;
}

int mur_mpi_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = create(MUR_KIND_COMM, errhandler);

    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.comm = comm_errhandler_fn;
    return MPI_SUCCESS;
}

/* The handler of MPI_COMM_SELF is also the initial one (MPI-5.0 §9.3). */
int mur_mpi_comm_set_errhandler(struct mur_comm *comm, struct mur_errhandler *errhandler)
{
    int rc = set(&comm->errhandler, errhandler, MUR_KIND_COMM, "communicator");

    if (!rc)
        comm->has_own_errhandler = true;
    if (!rc && comm == &mur_comm_self)
        mur_errhandler_attach(mur_errhandler_initial(), errhandler);
    return rc;
}

int mur_mpi_comm_get_errhandler(struct mur_comm *comm, MPI_Errhandler *errhandler)
{
    return get(comm->errhandler, errhandler);
}

int mur_mpi_comm_call_errhandler(struct mur_comm *comm, int errorcode)
{
    return call(MUR_KIND_COMM, mur_object_handle(comm), comm->errhandler, errorcode);
}

int mur_mpi_file_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = create(MUR_KIND_FILE, errhandler);

    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.file = file_errhandler_fn;
    return MPI_SUCCESS;
}

int mur_mpi_file_set_errhandler(struct mur_file *file, struct mur_errhandler *errhandler)
{
    return set(slot_of_file(file), errhandler, MUR_KIND_FILE, "file");
}

int mur_mpi_file_get_errhandler(struct mur_file *file, MPI_Errhandler *errhandler)
{
    return get(*slot_of_file(file), errhandler);
}

int mur_mpi_file_call_errhandler(struct mur_file *fh, int errorcode)
{
    void *handle = fh ? mur_object_handle(fh) : MPI_FILE_NULL;

    return call(MUR_KIND_FILE, handle, *slot_of_file(fh), errorcode);
}

static int free_handle(MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = mur_errhandler_find(*errhandler);

    if (!handler)
        return mur_error(MPI_ERR_ERRHANDLER, "*errhandler is not a live error handler: freed, or never one");
    if (!handler->object.predefined && handler->handles == 0)
        return mur_error(MPI_ERR_ERRHANDLER, "*errhandler has been freed already; only objects still have it");
    if (!handler->object.predefined)
        handler->handles--;
    mur_errhandler_release(handler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

/* Legal at any time, so the entry point does not take the lock. */
int mur_mpi_errhandler_free(MPI_Errhandler *errhandler)
{
    int rc;

    mur_engine_lock_any_time();
    rc = free_handle(errhandler);
    mur_engine_unlock_any_time();
    return rc;
}

int mur_mpi_session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                      MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler;

    mur_engine_lock_any_time(); /* legal at any time, so the entry point does not take it */
    handler = create(MUR_KIND_SESSION, errhandler);
    mur_engine_unlock_any_time();
    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.session = session_errhandler_fn;
    return MPI_SUCCESS;
}

int mur_mpi_session_set_errhandler(struct mur_session *session, struct mur_errhandler *errhandler)
{
    return set(&session->errhandler, errhandler, MUR_KIND_SESSION, "session");
}

int mur_mpi_session_get_errhandler(struct mur_session *session, MPI_Errhandler *errhandler)
{
    return get(session->errhandler, errhandler);
}

int mur_mpi_session_call_errhandler(struct mur_session *session, int errorcode)
{
    mur_errhandler_raise(MUR_KIND_SESSION, mur_object_handle(session), session->errhandler, errorcode);
    return MPI_SUCCESS;
}

int mur_mpi_win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct mur_errhandler *handler = create(MUR_KIND_WIN, errhandler);

    if (!handler)
        return mur_error(MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->function.win = win_errhandler_fn;
    return MPI_SUCCESS;
}

int mur_mpi_win_set_errhandler(struct mur_win *win, struct mur_errhandler *errhandler)
{
    return set(&win->errhandler, errhandler, MUR_KIND_WIN, "window");
}

int mur_mpi_win_get_errhandler(struct mur_win *win, MPI_Errhandler *errhandler)
{
    return get(win->errhandler, errhandler);
}

int mur_mpi_win_call_errhandler(struct mur_win *win, int errorcode)
{
    return call(MUR_KIND_WIN, mur_object_handle(win), win->errhandler, errorcode);
}
