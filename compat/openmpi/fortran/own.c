/* SPDX-License-Identifier: BSD-3-Clause */
/* What only Open MPI's libraries for Fortran have: the places that stand for constants, and MPI_SIZEOF. */
#include "fortran/fortran.h"

MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE], mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

/* ---- MPI_SIZEOF: a procedure for each type and rank */

#define MUR_SIZE_OF(type, bytes)                                                                                       \
    static void size_of_##type(const void *x, MPI_Fint *size, MPI_Fint *ierror)                                        \
    {                                                                                                                  \
        (void)x;                                                                                                       \
        *size = bytes;                                                                                                 \
        mur_give(ierror, MPI_SUCCESS);                                                                                 \
    }                                                                                                                  \
    MUR_SIZE_NAMES(type, scalar)                                                                                       \
    MUR_SIZE_NAMES(type, r1)                                                                                           \
    MUR_SIZE_NAMES(type, r2)                                                                                           \
    MUR_SIZE_NAMES(type, r3)                                                                                           \
    MUR_SIZE_NAMES(type, r4)                                                                                           \
    MUR_SIZE_NAMES(type, r5)                                                                                           \
    MUR_SIZE_NAMES(type, r6)                                                                                           \
    MUR_SIZE_NAMES(type, r7)                                                                                           \
    MUR_SIZE_NAMES(type, r8)                                                                                           \
    MUR_SIZE_NAMES(type, r9)                                                                                           \
    MUR_SIZE_NAMES(type, r10)                                                                                          \
    MUR_SIZE_NAMES(type, r11)                                                                                          \
    MUR_SIZE_NAMES(type, r12)                                                                                          \
    MUR_SIZE_NAMES(type, r13)                                                                                          \
    MUR_SIZE_NAMES(type, r14)                                                                                          \
    MUR_SIZE_NAMES(type, r15)
#define MUR_SIZE_NAMES(type, rank)                                                                                     \
    MUR_WEAK(mpi_sizeof_##type##_##rank##_, size_of_##type)                                                            \
    MUR_STRONG(pmpi_sizeof_##type##_##rank##_, size_of_##type)
MUR_SIZE_OF(character, 1)
MUR_SIZE_OF(logical, 4)
MUR_SIZE_OF(int8, 1)
MUR_SIZE_OF(int16, 2)
MUR_SIZE_OF(int32, 4)
MUR_SIZE_OF(int64, 8)
MUR_SIZE_OF(real32, 4)
MUR_SIZE_OF(real64, 8)
MUR_SIZE_OF(real128, 16)
MUR_SIZE_OF(complex32, 8)
MUR_SIZE_OF(complex64, 16)
MUR_SIZE_OF(complex128, 32)
