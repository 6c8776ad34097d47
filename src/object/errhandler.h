/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers: what happens when a call fails. Three are predefined; users make others for one kind of object. */
#ifndef MUR_OBJECT_ERRHANDLER_H
#define MUR_OBJECT_ERRHANDLER_H

#include "base/pool.h"
#include "mpi.h"
#include "object/stateful.h"

enum mur_errhandler_action {
    MUR_ERRORS_ARE_FATAL, /* end the job */
    MUR_ERRORS_ABORT,     /* end the job, which the processes of the object are part of */
    MUR_ERRORS_RETURN,    /* the call returns the code */
    MUR_ERRORS_CALL,      /* call the user's function, then return the code */
};

struct mur_errhandler {
    struct mur_object object;
    enum mur_errhandler_action action;
    int handles;     /* that users hold and will free; those of predefined handlers do not count */
    uint32_t serves; /* the kind of object (enum mur_kind) it may be attached to; 0: any */
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_File_errhandler_function *file;
        MPI_Session_errhandler_function *session;
        MPI_Win_errhandler_function *win;
        mur_stateful_errhandler_function *stateful;
    } function;
    void *state; /* memory of malloc, which belongs to the handler; NULL: the function is none with a state */
};

extern struct mur_errhandler mur_errors_are_fatal, mur_errors_abort, mur_errors_return;

/* Where the initial error handler is kept: that of errors where MPI_COMM_SELF is not there, before init and after
 * finalize, and what the predefined communicators start with (MPI-5.0 §9.3). */
struct mur_errhandler **mur_errhandler_initial(void);

static inline struct mur_errhandler *mur_errhandler_find(MPI_Errhandler handle)
{
    return mur_object_find(handle, MUR_KIND_ERRHANDLER);
}

static inline void mur_errhandler_retain(struct mur_errhandler *handler)
{
    if (!handler->object.predefined)
        __atomic_add_fetch(&handler->object.references, 1, __ATOMIC_RELAXED);
}

/* Drops a reference; the last one frees the handler. Predefined ones are never freed. */
void mur_errhandler_release(struct mur_errhandler *handler);

/* A handler that calls a user's function, with one handle. The caller sets `function`. NULL: no memory. */
struct mur_errhandler *mur_errhandler_create(uint32_t serves);

/* Attaches `handler` in the place of *slot_p; the reference moves with it. */
void mur_errhandler_attach(struct mur_errhandler **slot_p, struct mur_errhandler *handler);

#endif
