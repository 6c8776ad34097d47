/* SPDX-License-Identifier: BSD-3-Clause */
/* How the standard ABI's Fortran has special addresses and handles. Part of fortran.h; the libraries for Fortran of
 * other MPIs have a file of this name each (compat/mpich/fortran, compat/openmpi/fortran). */
#ifndef MUR_FORTRAN_SPECIAL_H
#define MUR_FORTRAN_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"

/* ---- Special addresses: constants that are places in memory (MPI-5.0 §2.5.4). All three interfaces declare this one
 * block by its binding label, in the order of SPECIAL in api/fortran.py. The linker may place it in the program, so it
 * is found through the global offset table. */
struct mur_special {
    MPI_Fint bottom, in_place, buffer_automatic, errcodes_ignore, unweighted, weights_empty;
    MPI_Fint status_ignore[MPI_F_STATUS_SIZE], statuses_ignore[MPI_F_STATUS_SIZE];
    char argv_null, argvs_null;
};
extern struct mur_special mur_fortran_special_block __asm__("mur_fortran_special");

static inline bool mur_is_special(const void *address)
{
    return (uintptr_t)address - (uintptr_t)&mur_fortran_special_block < sizeof mur_fortran_special_block;
}

/* A choice buffer in C. */
static inline void *mur_buffer(const void *address)
{
    if (MUR_LIKELY(!mur_is_special(address)))
        return (void *)address;
    if (address == &mur_fortran_special_block.bottom)
        return MPI_BOTTOM;
    if (address == &mur_fortran_special_block.in_place)
        return MPI_IN_PLACE;
    if (address == &mur_fortran_special_block.buffer_automatic)
        return MPI_BUFFER_AUTOMATIC;
    return (void *)address;
}

static inline void *mur_buffer_out(void *address)
{
    return address == MPI_BUFFER_AUTOMATIC ? (void *)&mur_fortran_special_block.buffer_automatic : address;
}

static inline bool mur_is_in_place(const void *address)
{
    return address == &mur_fortran_special_block.in_place;
}

static inline MPI_Status *mur_status(MPI_Fint *status)
{
    return mur_is_special(status) ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

static inline int *mur_weights(const MPI_Fint *weights)
{
    if (weights == &mur_fortran_special_block.unweighted)
        return MPI_UNWEIGHTED;
    if (weights == &mur_fortran_special_block.weights_empty)
        return MPI_WEIGHTS_EMPTY;
    return (int *)weights;
}

/* ---- Handles. The numbers of the ABI's predefined handles are their constants. A number that stands for nothing
 * becomes an address that is no object, so that C's message shows it. */
enum { MUR_FORTRAN_CONSTANTS = 4096 };

/* Of several numbers combined with "or": whether all are those of predefined handles. */
static inline bool mur_are_constants(MPI_Fint numbers)
{
    return (uint32_t)numbers < MUR_FORTRAN_CONSTANTS;
}

#define MUR_FORTRAN_HANDLE(Name, Stem, lower, null)                                                                    \
    static inline MPI_##Name mur_##lower##_in(MPI_Fint number)                                                         \
    {                                                                                                                  \
        MPI_##Name handle;                                                                                             \
                                                                                                                       \
        if ((uint32_t)number < MUR_FORTRAN_CONSTANTS)                                                                  \
            return (MPI_##Name)(intptr_t)number;                                                                       \
        handle = PMPI_##Stem##_fromint(number);                                                                        \
        return handle == null ? (MPI_##Name)(intptr_t)number : handle;                                                 \
    }                                                                                                                  \
    static inline MPI_Fint mur_##lower##_out(MPI_##Name handle)                                                        \
    {                                                                                                                  \
        return (uintptr_t)handle < MUR_FORTRAN_CONSTANTS ? (MPI_Fint)(intptr_t)handle : PMPI_##Stem##_toint(handle);   \
    }
MUR_FORTRAN_HANDLE(Comm, Comm, comm, MPI_COMM_NULL)
MUR_FORTRAN_HANDLE(Datatype, Type, datatype, MPI_DATATYPE_NULL)
MUR_FORTRAN_HANDLE(Errhandler, Errhandler, errhandler, MPI_ERRHANDLER_NULL)
MUR_FORTRAN_HANDLE(File, File, file, MPI_FILE_NULL)
MUR_FORTRAN_HANDLE(Group, Group, group, MPI_GROUP_NULL)
MUR_FORTRAN_HANDLE(Info, Info, info, MPI_INFO_NULL)
MUR_FORTRAN_HANDLE(Message, Message, message, MPI_MESSAGE_NULL)
MUR_FORTRAN_HANDLE(Op, Op, op, MPI_OP_NULL)
MUR_FORTRAN_HANDLE(Request, Request, request, MPI_REQUEST_NULL)
MUR_FORTRAN_HANDLE(Session, Session, session, MPI_SESSION_NULL)
MUR_FORTRAN_HANDLE(Win, Win, win, MPI_WIN_NULL)

/* Whether it can be asked about without calling its error handler. */
static inline bool mur_is_comm(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
           ((uintptr_t)comm >= MUR_FORTRAN_CONSTANTS && (intptr_t)comm != (int32_t)(intptr_t)comm);
}

/* ---- What other ABIs do otherwise: keys of attributes have other numbers in Fortran than in C, procedures of
 * modules other names. */
#define mur_keyval_in(keyval) (keyval)
#define MUR_MODULE_NAME(target, lower)
#define MUR_MORE_NAMES(target, lower)
#define mur_is_module_null(function) false

/* Names of the large-count form in mpi_f08. */
#define MUR_LARGE_NAMES(target, lower, UPPER) MUR_OTHER_NAMES(target, lower##_c_f08, UPPER##_C_F08)

/* Names of the comparisons of handles. */
#define MUR_COMPARISONS(lower, UPPER)                                                                                  \
    MUR_FOUR_NAMES(are_equal, mur_##lower##_equal, MUR_##UPPER##_EQUAL)                                                \
    MUR_FOUR_NAMES(do_differ, mur_##lower##_differ, MUR_##UPPER##_DIFFER)

#endif
