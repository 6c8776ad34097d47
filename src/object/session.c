/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of sessions. A finalized one is no longer found by its handle, but kept while others refer to it. */
#include "object/session.h"

#include "object/errhandler.h"

static struct mur_pool sessions = MUR_POOL(MUR_KIND_SESSION, struct mur_session, "sessions");

struct mur_session *mur_session_create(struct mur_errhandler *errhandler, int thread_level)
{
    struct mur_session *session = mur_pool_get(&sessions);

    if (!session)
        return NULL;
    session->errhandler = errhandler;
    mur_errhandler_retain(errhandler);
    session->send_buffer = NULL;
    session->thread_level = thread_level;
    return session;
}

void mur_session_release(struct mur_session *session)
{
    if (!session || --session->object.references > 0)
        return;
    mur_errhandler_release(session->errhandler);
    mur_pool_put(&sessions, session);
}
