/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that makes progress while the program computes: it sleeps until a frame arrives, and handles it. Off unless
 * MUR_PROGRESS_THREAD asks for it, since every call then takes the engine's lock, and messages must wake a sleeper. */
#include "engine/background.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/settings.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "mpi.h"

static pthread_t thread;
static bool is_running, is_stopping; /* the engine's lock guards them */

static void *run(void *unused)
{
    (void)unused;
    mur_engine_lock();
    while (!is_stopping)
        if (mur_progress())
            mur_engine_breathe();
        else
            mur_engine_rest(UINT64_MAX);
    mur_engine_unlock();
    return NULL;
}

bool mur_background_is_here(void)
{
    return is_running && pthread_equal(thread, pthread_self());
}

int mur_background_start(void)
{
    if (!mur_settings.progress_thread)
        return MPI_SUCCESS;
    mur_engine_share();
    is_stopping = false;
    if (pthread_create(&thread, NULL, run, NULL))
        return mur_error(MPI_ERR_OTHER, "cannot make the thread that MUR_PROGRESS_THREAD asks for");
    is_running = true;
    return MPI_SUCCESS;
}

void mur_background_stop(void)
{
    if (!is_running)
        return;
    is_stopping = true;
    is_running = false;
    mur_engine_notify();
    mur_engine_unlock();
    pthread_join(thread, NULL);
    mur_engine_lock();
}
