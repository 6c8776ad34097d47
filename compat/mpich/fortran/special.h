/* SPDX-License-Identifier: BSD-3-Clause */
/* How MPICH's Fortran has special addresses, and what it names otherwise. */
#ifndef MUR_FORTRAN_SPECIAL_H
#define MUR_FORTRAN_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

#define MPI_STATUS_IGNORE   ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_ARGVS_NULL      ((char ***)0)
extern int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;

/* The common blocks of mpif.h and module mpi. */
extern struct mur_private_1 {
    MPI_Fint bottom, in_place, status_ignore[MPI_F_STATUS_SIZE];
} mpipriv1_;
extern struct mur_private_2 {
    MPI_Fint statuses_ignore[MPI_F_STATUS_SIZE], errcodes_ignore;
} mpipriv2_;
extern struct mur_private_c {
    char argvs_null, argv_null;
} mpiprivc_;
extern MPI_Fint mpifcmb5_, mpifcmb9_; /* MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */

/* Those of mpi_f08. */
extern MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
extern MPI_Fint MPIR_F08_MPI_STATUS_IGNORE_OBJ[MPI_F_STATUS_SIZE], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[MPI_F_STATUS_SIZE];
#define MUR_F08(name) __asm__("__mpi_f08_link_constants_MOD_mpi_" #name)
extern MPI_Fint mur_f08_unweighted MUR_F08(unweighted), mur_f08_weights_empty MUR_F08(weights_empty);
extern MPI_Fint mur_f08_errcodes_ignore MUR_F08(errcodes_ignore);
extern char mur_f08_argv_null MUR_F08(argv_null), mur_f08_argvs_null MUR_F08(argvs_null);

static inline bool mur_is_bottom(const void *address)
{
    return address == &mpipriv1_.bottom || address == &MPIR_F08_MPI_BOTTOM;
}

static inline bool mur_is_in_place(const void *address)
{
    return address == &mpipriv1_.in_place || address == &MPIR_F08_MPI_IN_PLACE;
}

static inline bool mur_is_status_ignore(const MPI_Fint *status)
{
    return status == mpipriv1_.status_ignore || status == mpipriv2_.statuses_ignore ||
           status == MPIR_F08_MPI_STATUS_IGNORE_OBJ || status == MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}

/* Whether arguments of a spawned command, or the room for error codes, are MPI's constant for none. */
static inline bool mur_is_special(const void *address)
{
    return address == &mpipriv2_.errcodes_ignore || address == &mpiprivc_.argv_null ||
           address == &mpiprivc_.argvs_null || address == &mur_f08_errcodes_ignore || address == &mur_f08_argv_null ||
           address == &mur_f08_argvs_null;
}

static inline int *mur_weights(const MPI_Fint *weights)
{
    if (weights == &mpifcmb5_ || weights == &mur_f08_unweighted)
        return MPI_UNWEIGHTED;
    return weights == &mpifcmb9_ || weights == &mur_f08_weights_empty ? MPI_WEIGHTS_EMPTY : (int *)weights;
}

#include "door_fortran.h"

/* Keys of predefined attributes are one more than in C, where they are even. */
static inline int mur_keyval_in(int keyval)
{
    return (keyval & ~0x0200001e) == 0x64400000 || (keyval & ~0x1e) == 0x66000000 ? keyval - 1 : keyval;
}

/* The names of PMPI_ procedures in mpi_f08. */
#define MUR_MORE_NAMES(target, lower) MUR_STRONG(pmpir_##lower##_, target)

#define MUR_LARGE_NAMES(target, lower, UPPER) MUR_ALL_NAMES(target, lower##_f08_large, UPPER##_F08_LARGE)

#define MUR_COMPARISONS(lower, UPPER)                                                                                  \
    MUR_MODULE_ALIAS(are_equal, mpi_f08_types, mpi_##lower##_eq)                                                       \
    MUR_MODULE_ALIAS(are_equal, mpi_f08_types, mpi_##lower##_f08_eq_f)                                                 \
    MUR_MODULE_ALIAS(are_equal, mpi_f08_types, mpi_##lower##_f_eq_f08)                                                 \
    MUR_MODULE_ALIAS(do_differ, mpi_f08_types, mpi_##lower##_neq)                                                      \
    MUR_MODULE_ALIAS(do_differ, mpi_f08_types, mpi_##lower##_f08_neq_f)                                                \
    MUR_MODULE_ALIAS(do_differ, mpi_f08_types, mpi_##lower##_f_neq_f08)

/* ---- Choice buffers of mpi_f08. The procedures are gfortran's own, not bind(C), so a buffer comes as gfortran itself
 * describes arrays: strides count spans. */
struct mur_gfortran_array {
    void *base_addr;
    size_t offset;
    size_t elem_len;
    int version;
    int8_t rank, type;
    int16_t attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower_bound, upper_bound;
    } dim[];
};

/* Whether it is seen at once that the elements lie side by side: of scalars and of arrays of one dimension. */
static inline bool mur_is_plain_array(const struct mur_gfortran_array *array)
{
    return array->rank == 0 || (array->rank == 1 && array->dim[0].stride * array->span == (ptrdiff_t)array->elem_len);
}

#endif
