/* SPDX-License-Identifier: BSD-3-Clause */
/* What the families' Fortran has in common. The libraries for Fortran are made of the files of src/fortran/, compiled
 * with a generated mpi.h that has the family's types and constants, and with the family's fortran/special.h, which has
 * this as its second half: so a Fortran procedure calls the C function of the family's own library (door.h). */
#ifndef MUR_COMPAT_DOOR_FORTRAN_H
#define MUR_COMPAT_DOOR_FORTRAN_H

/* ---- Special addresses. Programs may have copies of these objects in their own memory, so each is an object for
 * itself, of the size that programs know, found through the global offset table. */

static inline void *mur_buffer(const void *address)
{
    if (mur_is_bottom(address))
        return MPI_BOTTOM;
    return mur_is_in_place(address) ? MPI_IN_PLACE : (void *)address;
}

/* A detached buffer is always the program's: these families have no automatic ones. */
static inline void *mur_buffer_out(void *address)
{
    return address;
}

static inline MPI_Status *mur_status(MPI_Fint *status)
{
    return mur_is_status_ignore(status) ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

/* ---- Handles */

#define MUR_FORTRAN_HANDLE(Name, Stem, lower)                                                                          \
    static inline MPI_##Name mur_##lower##_in(MPI_Fint number)                                                         \
    {                                                                                                                  \
        return PMPI_##Stem##_fromint(number);                                                                          \
    }                                                                                                                  \
    static inline MPI_Fint mur_##lower##_out(MPI_##Name handle)                                                        \
    {                                                                                                                  \
        return PMPI_##Stem##_toint(handle);                                                                            \
    }
MUR_FORTRAN_HANDLE(Comm, Comm, comm)
MUR_FORTRAN_HANDLE(Datatype, Type, datatype)
MUR_FORTRAN_HANDLE(Errhandler, Errhandler, errhandler)
MUR_FORTRAN_HANDLE(File, File, file)
MUR_FORTRAN_HANDLE(Group, Group, group)
MUR_FORTRAN_HANDLE(Info, Info, info)
MUR_FORTRAN_HANDLE(Message, Message, message)
MUR_FORTRAN_HANDLE(Op, Op, op)
MUR_FORTRAN_HANDLE(Request, Request, request)
MUR_FORTRAN_HANDLE(Session, Session, session)
MUR_FORTRAN_HANDLE(Win, Win, win)

static inline bool mur_is_comm(MPI_Comm comm)
{
    return comm != MPI_COMM_NULL;
}

/* ---- Names of procedures of modules, as gfortran makes them */

#define MUR_MODULE_ALIAS(target, module, name)                                                                         \
    extern __typeof__(target) module##_##name __asm__("__" #module "_MOD_" #name) __attribute__((alias(#target)));
#define MUR_MODULE_NAME(target, lower) MUR_MODULE_ALIAS(target, mpi_f08_callbacks, mpi_##lower)

extern void mur_module_conversion_null(void) __asm__("__mpi_f08_callbacks_MOD_mpi_conversion_fn_null");
#define mur_is_module_null(function) ((function) == mur_module_conversion_null)

#endif
