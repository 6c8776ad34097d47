/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of windows, and the table in which messages find them. */
#include "object/win.h"

#include <stdlib.h>

#include "base/error.h"
#include "object/comm.h"
#include "object/context.h"
#include "object/errhandler.h"
#include "object/group.h"

enum { BUCKETS = 64 };

static struct mur_pool win_pool = MUR_POOL(MUR_KIND_WIN, struct mur_win, "windows");
static struct mur_win *buckets[BUCKETS];

static struct mur_win **bucket_of(uint32_t context)
{
    return &buckets[context / MUR_CONTEXT_STRIDE % BUCKETS];
}

struct mur_win *mur_win_of_context(uint32_t context)
{
    struct mur_win *win = *bucket_of(context);

    while (win && win->comm->context != context)
        win = win->next;
    return win;
}

struct mur_win *mur_win_next(const struct mur_win *previous)
{
    return mur_pool_next(&win_pool, previous);
}

int mur_win_create(struct mur_comm *comm, int flavor, struct mur_win **win_p)
{
    struct mur_win *win = mur_pool_get(&win_pool), **bucket = bucket_of(comm->context);

    if (!win)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a window");
    *win = (struct mur_win){.object = win->object,
                            .rank = comm->rank,
                            .size = comm->size,
                            .comm = comm,
                            .flavor = flavor,
                            .is_dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC,
                            .model = MPI_WIN_UNIFIED,
                            .errhandler = &mur_errors_are_fatal,
                            .granularity = "0",
                            .next = *bucket};
    win->targets = calloc((size_t)comm->size, sizeof *win->targets);
    win->near = malloc((size_t)comm->size * sizeof *win->near);
    if (!win->targets || !win->near) {
        free(win->targets);
        free(win->near);
        mur_pool_put(&win_pool, win);
        return mur_error(MPI_ERR_NO_MEM, "no memory for a window of %d ranks", comm->size);
    }
    comm->win = win;
    *bucket = win;
    *win_p = win;
    return MPI_SUCCESS;
}

void mur_win_destroy(struct mur_win *win)
{
    struct mur_win **link = bucket_of(win->comm->context);

    while (*link != win)
        link = &(*link)->next;
    *link = win->next;
    free(win->targets);
    free(win->near);
    free(win->touched);
    free(win->ranks);
    free(win->attached);
    mur_errhandler_release(win->errhandler);
    win->comm->win = NULL; /* requests may hold the communicator for longer */
    mur_comm_release(win->comm);
    mur_pool_put(&win_pool, win);
}
