/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI-3 removed from Fortran, and what both families have under other names. Addresses are default INTEGERs in
 * these procedures. */
#include <stdlib.h>

#include "fortran/fortran.h"
#include "fortran/section.h"

/* The C forms, which the family's mpi.h declares no more. */
int PMPI_Type_struct(int count, int lengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype);

void pmpi_address_(const void *location, MPI_Fint *address, MPI_Fint *ierror)
{
    MPI_Aint value;
    int code = PMPI_Get_address(mur_buffer(location), &value);

    if (!code)
        *address = (MPI_Fint)value;
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_address_, address, ADDRESS)

/* Lower bound and extent of a datatype. */
static int bounds(MPI_Fint datatype, MPI_Aint *lower, MPI_Aint *extent)
{
    return PMPI_Type_get_extent(mur_datatype_in(datatype), lower, extent);
}

#define MUR_BOUND(lower_name, UPPER, result)                                                                           \
    void pmpi_type_##lower_name##_(const MPI_Fint *datatype, MPI_Fint *value, MPI_Fint *ierror)                        \
    {                                                                                                                  \
        MPI_Aint lower, extent;                                                                                        \
        int code = bounds(*datatype, &lower, &extent);                                                                 \
                                                                                                                       \
        if (!code)                                                                                                     \
            *value = (MPI_Fint)(result);                                                                               \
        mur_give(ierror, code);                                                                                        \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_type_##lower_name##_, type_##lower_name, TYPE_##UPPER)
MUR_BOUND(extent, EXTENT, extent)
MUR_BOUND(lb, LB, lower)
MUR_BOUND(ub, UB, lower + extent)

void pmpi_type_hvector_(const MPI_Fint *count, const MPI_Fint *length, const MPI_Fint *stride, const MPI_Fint *oldtype,
                        MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Datatype made;
    int code = PMPI_Type_create_hvector(*count, *length, *stride, mur_datatype_in(*oldtype), &made);

    if (!code)
        *newtype = mur_datatype_out(made);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_type_hvector_, type_hvector, TYPE_HVECTOR)

/* Displacements as C has them, in allocated memory; NULL: no memory. */
static MPI_Aint *displacements_in(const MPI_Fint *displacements, int count)
{
    MPI_Aint *all = malloc((size_t)(count > 0 ? count : 1) * sizeof *all);

    for (int i = 0; all && i < count; i++)
        all[i] = displacements[i];
    return all;
}

void pmpi_type_hindexed_(const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Fint *displacements,
                         const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint *all = displacements_in(displacements, *count);
    MPI_Datatype made;
    int code =
        all ? PMPI_Type_create_hindexed(*count, lengths, all, mur_datatype_in(*oldtype), &made) : mur_no_memory();

    if (!code)
        *newtype = mur_datatype_out(made);
    free(all);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_type_hindexed_, type_hindexed, TYPE_HINDEXED)

void pmpi_type_struct_(const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Fint *displacements,
                       const MPI_Fint *oldtypes, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint *all = displacements_in(displacements, *count);
    struct mur_list list;
    MPI_Datatype made, *types = mur_datatypes_in(&list, oldtypes, *count);
    int code = all && types ? PMPI_Type_struct(*count, (int *)lengths, all, types, &made) : mur_no_memory();

    if (!code)
        *newtype = mur_datatype_out(made);
    free(all);
    mur_list_free(&list);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_type_struct_, type_struct, TYPE_STRUCT)

/* ---- Error handlers */

typedef void handler(MPI_Fint *comm, MPI_Fint *code, ...);
void pmpi_comm_create_errhandler_(handler *function, MPI_Fint *errhandler, MPI_Fint *ierror);
void pmpi_comm_get_errhandler_(const MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror);
void pmpi_comm_set_errhandler_(const MPI_Fint *comm, const MPI_Fint *errhandler, MPI_Fint *ierror);

void pmpi_errhandler_create_(handler *function, MPI_Fint *errhandler, MPI_Fint *ierror)
{
    pmpi_comm_create_errhandler_(function, errhandler, ierror);
}
MUR_OTHER_NAMES(pmpi_errhandler_create_, errhandler_create, ERRHANDLER_CREATE)

void pmpi_errhandler_get_(const MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
    pmpi_comm_get_errhandler_(comm, errhandler, ierror);
}
MUR_OTHER_NAMES(pmpi_errhandler_get_, errhandler_get, ERRHANDLER_GET)

void pmpi_errhandler_set_(const MPI_Fint *comm, const MPI_Fint *errhandler, MPI_Fint *ierror)
{
    pmpi_comm_set_errhandler_(comm, errhandler, ierror);
}
MUR_OTHER_NAMES(pmpi_errhandler_set_, errhandler_set, ERRHANDLER_SET)

/* ---- The same procedures of mpi_f08 under the names that the families have */

#define MUR_SYNC_REG(lower, UPPER)                                                                                     \
    void pmpi_##lower##_(void *buf)                                                                                    \
    {                                                                                                                  \
        (void)buf;                                                                                                     \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_, lower, UPPER)
MUR_SYNC_REG(f_sync_reg_f08ts, F_SYNC_REG_F08TS)
MUR_SYNC_REG(f_sync_reg_f08, F_SYNC_REG_F08)
