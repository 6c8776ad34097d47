/* SPDX-License-Identifier: BSD-3-Clause */
/* How Open MPI's Fortran has special addresses, and what it names otherwise. All three interfaces pass addresses of
 * buffers, and share the objects. */
#ifndef MUR_FORTRAN_SPECIAL_H
#define MUR_FORTRAN_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_ARGVS_NULL      ((char ***)0)
#define MPI_UNWEIGHTED      ((int *)2)
#define MPI_WEIGHTS_EMPTY   ((int *)3)

extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
extern MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE], mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

static inline bool mur_is_bottom(const void *address)
{
    return address == &mpi_fortran_bottom_;
}

static inline bool mur_is_in_place(const void *address)
{
    return address == &mpi_fortran_in_place_;
}

static inline bool mur_is_status_ignore(const MPI_Fint *status)
{
    return status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_;
}

/* Whether arguments of a spawned command, or the room for error codes, are MPI's constant for none. */
static inline bool mur_is_special(const void *address)
{
    return address == &mpi_fortran_errcodes_ignore_ || address == &mpi_fortran_argv_null_ ||
           address == &mpi_fortran_argvs_null_;
}

static inline int *mur_weights(const MPI_Fint *weights)
{
    if (weights == &mpi_fortran_unweighted_)
        return MPI_UNWEIGHTED;
    return weights == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY : (int *)weights;
}

#include "door_fortran.h"

#define mur_keyval_in(keyval) (keyval)

#define MUR_MORE_NAMES(target, lower)

/* Open MPI's mpi_f08 has no large counts. */
#define MUR_LARGE_NAMES(target, lower, UPPER)

#define MUR_COMPARISONS(lower, UPPER)                                                                                  \
    MUR_MODULE_ALIAS(are_equal, mpi_f08_types, ompi_##lower##_op_eq)                                                   \
    MUR_MODULE_ALIAS(do_differ, mpi_f08_types, ompi_##lower##_op_ne)

#endif
