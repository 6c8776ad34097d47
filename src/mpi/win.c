/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows (MPI-5.0 §12.2): making and freeing them, names, groups, hints, and the memory that ranks share. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "mpi/bodies.h"
#include "object/attribute.h"
#include "object/group.h"
#include "object/info.h"
#include "rma/rma.h"

static int create(int refused, struct mur_comm *comm, int flavor, MPI_Aint size, MPI_Count unit,
                  const struct mur_info *info, void **base, MPI_Win *win)
{
    struct mur_win *made;
    int rc = mur_rma_create(comm, flavor, size, (MPI_Aint)unit, info, refused, base, &made);

    if (!rc)
        *win = mur_object_handle(made);
    return rc;
}

int mur_mpi_win_create(int refused, void *base, MPI_Aint size, MPI_Count disp_unit, struct mur_info *info,
                       struct mur_comm *comm, MPI_Win *win)
{
    return create(refused, comm, MPI_WIN_FLAVOR_CREATE, size, disp_unit, info, &base, win);
}

static int allocate(int refused, int flavor, MPI_Aint size, MPI_Count unit, const struct mur_info *info,
                    struct mur_comm *comm, void *baseptr, MPI_Win *win)
{
    void *base = NULL;
    int rc = create(refused, comm, flavor, size, unit, info, &base, win);

    if (!rc)
        memcpy(baseptr, &base, sizeof base);
    return rc;
}

int mur_mpi_win_allocate(int refused, MPI_Aint size, MPI_Count disp_unit, struct mur_info *info, struct mur_comm *comm,
                         void *baseptr, MPI_Win *win)
{
    return allocate(refused, MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win);
}

int mur_mpi_win_allocate_shared(int refused, MPI_Aint size, MPI_Count disp_unit, struct mur_info *info,
                                struct mur_comm *comm, void *baseptr, MPI_Win *win)
{
    return allocate(refused, MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win);
}

int mur_mpi_win_create_dynamic(int refused, struct mur_info *info, struct mur_comm *comm, MPI_Win *win)
{
    void *base = MPI_BOTTOM;

    return create(refused, comm, MPI_WIN_FLAVOR_DYNAMIC, 0, 1, info, &base, win);
}

int mur_mpi_win_attach(struct mur_win *win, void *base, MPI_Aint size)
{
    return mur_rma_attach(win, base, size);
}

int mur_mpi_win_detach(struct mur_win *win, const void *base)
{
    return mur_rma_detach(win, base);
}

int mur_mpi_win_free(MPI_Win *win)
{
    struct mur_win *found = mur_win_find(*win);
    int rc;

    if (!found)
        return mur_error(MPI_ERR_WIN, *win == MPI_WIN_NULL ? "win is MPI_WIN_NULL, which cannot be freed"
                                                           : "win is no live window; has it been freed already?");
    if ((rc = mur_rma_check_idle(found)))
        return rc;
    if (found->is_exposed)
        return mur_error(MPI_ERR_RMA_SYNC, "the exposure epoch of MPI_Win_post has not ended");
    if ((rc = mur_rma_free(found, mur_attributes_delete(&found->attributes, found))))
        return rc;
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_win_get_group(struct mur_win *win, MPI_Group *group)
{
    mur_group_retain(win->comm->group);
    *group = mur_object_handle(win->comm->group);
    return MPI_SUCCESS;
}

int mur_mpi_win_set_info(struct mur_win *win, struct mur_info *info)
{
    mur_rma_set_hints(win, info);
    return MPI_SUCCESS;
}

int mur_mpi_win_get_info(struct mur_win *win, MPI_Info *info_used)
{
    struct mur_info *info;
    int rc = mur_info_create(&info);

    if (rc)
        return rc;
    rc = mur_rma_get_hints(win, info);
    if (rc)
        mur_info_free(info);
    else
        *info_used = mur_object_handle(info);
    return rc;
}

int mur_mpi_win_set_name(struct mur_win *win, const char *win_name)
{
    snprintf(win->name, sizeof win->name, "%s", win_name);
    return MPI_SUCCESS;
}

int mur_mpi_win_get_name(struct mur_win *win, char *win_name, int *resultlen)
{
    const char *name = win ? win->name : "MPI_WIN_NULL"; /* §7.8: since MPI-4.1 */

    strcpy(win_name, name);
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

/* MPI_PROC_NULL asks for the first rank that has any memory. Memory that this process does not share has no size. */
int mur_mpi_win_shared_query(struct mur_win *win, int rank, MPI_Aint *size, MPI_Count *disp_unit, void *baseptr)
{
    const struct mur_win_target *target;
    void *base = NULL;

    if (win->is_dynamic)
        return mur_error(MPI_ERR_RMA_FLAVOR, "win was made by MPI_Win_create_dynamic: it has no memory to ask for");
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= win->size))
        return mur_error(MPI_ERR_RANK, "rank is %d, but must be a rank of the window (0 to %d) or MPI_PROC_NULL", rank,
                         win->size - 1);
    if (rank == MPI_PROC_NULL)
        for (rank = 0; rank < win->size - 1 && !(win->targets[rank].memory && win->targets[rank].size); rank++)
            ;
    target = &win->targets[rank];
    *size = target->memory ? target->size : 0;
    *disp_unit = (MPI_Count)target->unit;
    if (*size)
        base = target->memory;
    memcpy(baseptr, &base, sizeof base);
    return MPI_SUCCESS;
}
