/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of error handlers. References: one for each handle that a user holds, one for each object that a handler
 * is attached to. */
#include "object/errhandler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"

static struct mur_pool errhandler_pool = MUR_POOL(MUR_KIND_ERRHANDLER, struct mur_errhandler, "error handlers");

#define PREDEFINED(constant_, action_)                                                                                 \
    {                                                                                                                  \
        .object = {.kind = MUR_KIND_ERRHANDLER, .references = 1, .predefined = (constant_)}, .action = (action_)       \
    }

struct mur_errhandler mur_errors_are_fatal = PREDEFINED((uintptr_t)MPI_ERRORS_ARE_FATAL, MUR_ERRORS_ARE_FATAL);
struct mur_errhandler mur_errors_abort = PREDEFINED((uintptr_t)MPI_ERRORS_ABORT, MUR_ERRORS_ABORT);
struct mur_errhandler mur_errors_return = PREDEFINED((uintptr_t)MPI_ERRORS_RETURN, MUR_ERRORS_RETURN);

static struct mur_errhandler *initial = &mur_errors_are_fatal;

/* mpiexec has checked the name (MPI-5.0 §11.8.4 has the list). */
static void read_initial(void)
{
    const char *name = getenv(MUR_ENV_ERRHANDLER);

    if (name && !strcmp(name, "mpi_errors_return"))
        initial = &mur_errors_return;
    else if (name && !strcmp(name, "mpi_errors_abort"))
        initial = &mur_errors_abort;
}

struct mur_errhandler **mur_errhandler_initial(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_initial);
    return &initial;
}

/* Sessions take handlers before anything has been initialised. */
__attribute__((constructor)) static void setup(void)
{
    struct mur_errhandler *predefined[] = {&mur_errors_are_fatal, &mur_errors_abort, &mur_errors_return};

    for (int i = 0; i < 3; i++)
        mur_predefined[predefined[i]->object.predefined] = &predefined[i]->object;
}

/* Handlers of sessions come and go before MPI runs, in any threads, where the engine's lock is not in use yet. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

struct mur_errhandler *mur_errhandler_create(uint32_t serves)
{
    struct mur_errhandler *handler;

    pthread_mutex_lock(&guard);
    handler = mur_pool_get(&errhandler_pool);
    pthread_mutex_unlock(&guard);
    if (handler) {
        handler->action = MUR_ERRORS_CALL;
        handler->serves = serves;
        handler->handles = 1;
        handler->state = NULL;
    }
    return handler;
}

void mur_errhandler_release(struct mur_errhandler *handler)
{
    /* The last to let go acquires what all others, which release here, did with it. */
    if (handler->object.predefined || __atomic_sub_fetch(&handler->object.references, 1, __ATOMIC_ACQ_REL))
        return;
    free(handler->state);
    pthread_mutex_lock(&guard);
    mur_pool_put(&errhandler_pool, handler);
    pthread_mutex_unlock(&guard);
}

void mur_errhandler_attach(struct mur_errhandler **slot_p, struct mur_errhandler *handler)
{
    struct mur_errhandler *old = *slot_p;

    mur_errhandler_retain(handler);
    *slot_p = handler;
    mur_errhandler_release(old);
}
