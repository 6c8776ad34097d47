/* SPDX-License-Identifier: BSD-3-Clause */
/* A session: one use of MPI among several in a process (MPI-5.0 §11.3). */
#ifndef MUR_OBJECT_SESSION_H
#define MUR_OBJECT_SESSION_H

#include "base/pool.h"
#include "mpi.h"

struct mur_errhandler;
struct mur_send_buffer;

/* Groups and communicators that come from a session hold a reference each. */
struct mur_session {
    struct mur_object object;
    struct mur_errhandler *errhandler;
    struct mur_send_buffer *send_buffer; /* attached for buffered sends, or NULL (pt2pt/buffered.h) */
    int thread_level;                    /* granted */
};

static inline struct mur_session *mur_session_find(MPI_Session handle)
{
    return mur_object_find(handle, MUR_KIND_SESSION);
}

/* NULL: no memory. */
struct mur_session *mur_session_create(struct mur_errhandler *errhandler, int thread_level);

/* NULL is no session. */
void mur_session_release(struct mur_session *session);
static inline void mur_session_retain(struct mur_session *session)
{
    if (session)
        session->object.references++;
}

#endif
