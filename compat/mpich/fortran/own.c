/* SPDX-License-Identifier: BSD-3-Clause */
/* What only MPICH's library for Fortran has: the places that stand for constants, MPI_SIZEOF, and procedures of the
 * modules. */
#include "fortran/fortran.h"
#include "fortran/gfortran.h"

struct mur_private_1 mpipriv1_;
struct mur_private_2 mpipriv2_;
struct mur_private_c mpiprivc_;
MPI_Fint mpifcmb5_, mpifcmb9_;
MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
MPI_Fint MPIR_F08_MPI_STATUS_IGNORE_OBJ[MPI_F_STATUS_SIZE], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[MPI_F_STATUS_SIZE];
MPI_Fint mur_f08_unweighted, mur_f08_weights_empty, mur_f08_errcodes_ignore;
char mur_f08_argv_null, mur_f08_argvs_null;

const struct mur_descriptor *mur_descriptor_of(struct mur_descriptor_room *room, const struct mur_gfortran_array *array)
{
    struct mur_descriptor *descriptor = &room->head;

    descriptor->base_addr = array->base_addr;
    descriptor->elem_len = array->elem_len;
    descriptor->version = array->version;
    descriptor->rank = array->rank;
    for (int i = 0; i < array->rank; i++)
        descriptor->dim[i] = (struct mur_dimension){
            .lower_bound = array->dim[i].lower_bound,
            .extent = array->dim[i].upper_bound - array->dim[i].lower_bound + 1,
            .sm = array->dim[i].stride * array->span,
        };
    return descriptor;
}

/* ---- MPI_SIZEOF: a procedure for each type, for scalars and for arrays */

static void size_of_character(const void *x, MPI_Fint *size, MPI_Fint *ierror, size_t length)
{
    (void)x;
    *size = (MPI_Fint)length;
    mur_give(ierror, MPI_SUCCESS);
}
MUR_MODULE_ALIAS(size_of_character, mpi_sizeofs, mpi_sizeof_ch)
MUR_MODULE_ALIAS(size_of_character, mpi_sizeofs, mpi_sizeof_chv)
MUR_MODULE_ALIAS(size_of_character, mpi_f08_types, mpi_sizeof_character)

#define MUR_SIZE_OF(bytes)                                                                                             \
    static void size_of_##bytes(const void *x, MPI_Fint *size, MPI_Fint *ierror)                                       \
    {                                                                                                                  \
        (void)x;                                                                                                       \
        *size = bytes;                                                                                                 \
        mur_give(ierror, MPI_SUCCESS);                                                                                 \
    }
MUR_SIZE_OF(1)
MUR_SIZE_OF(2)
MUR_SIZE_OF(4)
MUR_SIZE_OF(8)
MUR_SIZE_OF(16)
MUR_SIZE_OF(32)

#define MUR_SIZES(bytes, name)                                                                                         \
    MUR_MODULE_ALIAS(size_of_##bytes, mpi_sizeofs, mpi_sizeof_##name)                                                  \
    MUR_MODULE_ALIAS(size_of_##bytes, mpi_sizeofs, mpi_sizeof_##name##v)
MUR_SIZES(4, i)
MUR_SIZES(1, i1)
MUR_SIZES(2, i2)
MUR_SIZES(8, i8)
MUR_SIZES(4, l)
MUR_SIZES(4, r)
MUR_SIZES(8, d)
MUR_SIZES(8, cx)
MUR_MODULE_ALIAS(size_of_1, mpi_f08_types, mpi_sizeof_xint8)
MUR_MODULE_ALIAS(size_of_2, mpi_f08_types, mpi_sizeof_xint16)
MUR_MODULE_ALIAS(size_of_4, mpi_f08_types, mpi_sizeof_xint32)
MUR_MODULE_ALIAS(size_of_8, mpi_f08_types, mpi_sizeof_xint64)
MUR_MODULE_ALIAS(size_of_4, mpi_f08_types, mpi_sizeof_logical)
MUR_MODULE_ALIAS(size_of_4, mpi_f08_types, mpi_sizeof_xreal32)
MUR_MODULE_ALIAS(size_of_8, mpi_f08_types, mpi_sizeof_xreal64)
MUR_MODULE_ALIAS(size_of_16, mpi_f08_types, mpi_sizeof_xreal128)
MUR_MODULE_ALIAS(size_of_8, mpi_f08_types, mpi_sizeof_xcomplex32)
MUR_MODULE_ALIAS(size_of_16, mpi_f08_types, mpi_sizeof_xcomplex64)
MUR_MODULE_ALIAS(size_of_32, mpi_f08_types, mpi_sizeof_xcomplex128)

/* ---- Other procedures of module mpi_f08_types */

static void status_copied(const MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)
{
    for (int i = 0; i < MPI_F_STATUS_SIZE; i++)
        to[i] = from[i];
    mur_give(ierror, MPI_SUCCESS);
}
MUR_MODULE_ALIAS(status_copied, mpi_f08_types, mpi_status_f2f08)
MUR_MODULE_ALIAS(status_copied, mpi_f08_types, mpi_status_f082f)
