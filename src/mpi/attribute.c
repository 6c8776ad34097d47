/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators, datatypes and windows (MPI-5.0 §7.7), the predefined ones of communicators (§9.1.2) and
 * windows, and the deprecated names. */
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "boot/foreign.h"
#include "boot/job.h"
#include "boot/process.h"
#include "mpi/bodies.h"
#include "mpi/errors.h"
#include "object/attribute.h"
#include "object/comm.h"
#include "object/type.h"
#include "object/win.h"

/* Integers, to which the attributes' values point. */
static int tag_ub = INT_MAX, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, wtime_is_global, universe_size, appnum,
           last_used_code;

/* The ranks that can be there at all, where mpiexec was told that by -usize, or another's launcher tells; else those of
 * the job. */
static int find_universe_size(void)
{
    const char *told = getenv(MUR_ENV_UNIVERSE);
    int size = told ? atoi(told) : mur_foreign_universe();

    return size > mur_process.size ? size : mur_process.size;
}

/* False: not a predefined key of communicators. Universe size and application number are known under a launcher only,
 * and the latest error code is the world's. */
static bool get_predefined(const struct mur_comm *comm, int keyval, int **value)
{
    bool has_launcher = mur_process.appnum >= 0;

    *value = NULL;
    switch (keyval) {
    case MPI_TAG_UB:
        *value = &tag_ub;
        return true;
    case MPI_HOST:
        *value = &host;
        return true;
    case MPI_IO:
        *value = &io;
        return true;
    case MPI_WTIME_IS_GLOBAL:
        wtime_is_global = mur_process.size == mur_process.local_size; /* one host, one clock */
        *value = &wtime_is_global;
        return true;
    case MPI_UNIVERSE_SIZE:
        universe_size = find_universe_size();
        *value = has_launcher ? &universe_size : NULL;
        return true;
    case MPI_APPNUM:
        appnum = mur_process.appnum;
        *value = has_launcher ? &appnum : NULL;
        return true;
    case MPI_LASTUSEDCODE:
        last_used_code = mur_errors_last_used();
        *value = comm == &mur_comm_world ? &last_used_code : NULL;
        return true;
    default:
        return false;
    }
}

int mur_mpi_comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval,
                               void *extra_state)
{
    return mur_attribute_keyval_create(MUR_KIND_COMM, (union mur_copy_function){.comm = copy},
                                       (union mur_delete_function){.comm = delete}, extra_state, keyval);
}

int mur_mpi_comm_free_keyval(int *keyval)
{
    return mur_attribute_keyval_free(MUR_KIND_COMM, keyval);
}

int mur_mpi_comm_set_attr(struct mur_comm *comm, int keyval, void *value)
{
    return mur_attribute_set(&comm->attributes, comm, keyval, value);
}

int mur_mpi_comm_get_attr(struct mur_comm *comm, int keyval, void *value, int *flag)
{
    int *number;

    if (get_predefined(comm, keyval, &number)) {
        *flag = number != NULL;
        if (number)
            *(void **)value = number;
        return MPI_SUCCESS;
    }
    return mur_attribute_get(&comm->attributes, comm, keyval, value, flag);
}

int mur_mpi_comm_delete_attr(struct mur_comm *comm, int keyval)
{
    return mur_attribute_delete(&comm->attributes, comm, keyval);
}

int mur_mpi_type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, int *keyval,
                               void *extra_state)
{
    return mur_attribute_keyval_create(MUR_KIND_TYPE, (union mur_copy_function){.type = copy},
                                       (union mur_delete_function){.type = delete}, extra_state, keyval);
}

int mur_mpi_type_free_keyval(int *keyval)
{
    return mur_attribute_keyval_free(MUR_KIND_TYPE, keyval);
}

int mur_mpi_type_set_attr(struct mur_type *datatype, int keyval, void *value)
{
    return mur_attribute_set(&datatype->attributes, datatype, keyval, value);
}

int mur_mpi_type_get_attr(struct mur_type *datatype, int keyval, void *value, int *flag)
{
    return mur_attribute_get(&datatype->attributes, datatype, keyval, value, flag);
}

int mur_mpi_type_delete_attr(struct mur_type *datatype, int keyval)
{
    return mur_attribute_delete(&datatype->attributes, datatype, keyval);
}

int mur_mpi_win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete, int *keyval,
                              void *extra_state)
{
    return mur_attribute_keyval_create(MUR_KIND_WIN, (union mur_copy_function){.win = copy},
                                       (union mur_delete_function){.win = delete}, extra_state, keyval);
}

int mur_mpi_win_free_keyval(int *keyval)
{
    return mur_attribute_keyval_free(MUR_KIND_WIN, keyval);
}

/* The predefined ones (§12.2.6); false: the key is none of them. */
static bool get_predefined_of_window(struct mur_win *win, int keyval, void **value)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        *value = win->base; /* the address itself */
        return true;
    case MPI_WIN_SIZE:
        *value = &win->targets[win->rank].size;
        return true;
    case MPI_WIN_DISP_UNIT:
        *value = &win->unit;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *value = &win->flavor;
        return true;
    case MPI_WIN_MODEL:
        *value = &win->model;
        return true;
    default:
        return false;
    }
}

int mur_mpi_win_set_attr(struct mur_win *win, int keyval, void *value)
{
    return mur_attribute_set(&win->attributes, win, keyval, value);
}

int mur_mpi_win_get_attr(struct mur_win *win, int keyval, void *value, int *flag)
{
    if (!get_predefined_of_window(win, keyval, value))
        return mur_attribute_get(&win->attributes, win, keyval, value, flag);
    *flag = 1;
    return MPI_SUCCESS;
}

int mur_mpi_win_delete_attr(struct mur_win *win, int keyval)
{
    return mur_attribute_delete(&win->attributes, win, keyval);
}

/* The deprecated names (§16.1) share keys with those of communicators. */

int mur_mpi_keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *keyval, void *extra_state)
{
    return mur_mpi_comm_create_keyval(copy, delete, keyval, extra_state);
}

int mur_mpi_keyval_free(int *keyval)
{
    return mur_mpi_comm_free_keyval(keyval);
}

int mur_mpi_attr_put(struct mur_comm *comm, int keyval, void *value)
{
    return mur_mpi_comm_set_attr(comm, keyval, value);
}

int mur_mpi_attr_get(struct mur_comm *comm, int keyval, void *value, int *flag)
{
    return mur_mpi_comm_get_attr(comm, keyval, value, flag);
}

int mur_mpi_attr_delete(struct mur_comm *comm, int keyval)
{
    return mur_mpi_comm_delete_attr(comm, keyval);
}
