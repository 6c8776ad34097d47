/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles as integers (MPI-5.0 §20.4.3), for bindings of other languages. A predefined handle is its constant of the
 * ABI. Any other is an object in the arena of all pools (base/pool.h), and its number is its place there: no table is
 * needed, numbers are unique, and stay the same as long as the object lives. */
#include "base/pool.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"

static int number_of(const void *handle)
{
    uintptr_t address = (uintptr_t)handle;

    if (address < MUR_PREDEFINED_LIMIT)
        return (int)address;
    return MUR_PREDEFINED_LIMIT + (int)((address - mur_arena.base) / MUR_OBJECT_ALIGNMENT);
}

/* The null handle for numbers that neither a constant of this kind nor a living object of it has. */
static void *handle_of(int number, uint32_t kind, enum mur_show constants, void *null)
{
    void *handle;

    if (number < MUR_PREDEFINED_LIMIT)
        return mur_constant_name(constants, number) ? (void *)(uintptr_t)number : null;
    handle = (void *)(mur_arena.base + (uintptr_t)(number - MUR_PREDEFINED_LIMIT) * MUR_OBJECT_ALIGNMENT);
    return mur_arena.base && mur_object_find(handle, kind) ? handle : null;
}

int mur_mpi_comm_toint(MPI_Comm comm)
{
    return number_of(comm);
}

MPI_Comm mur_mpi_comm_fromint(int comm)
{
    return handle_of(comm, MUR_KIND_COMM, MUR_SHOW_COMM, MPI_COMM_NULL);
}

int mur_mpi_errhandler_toint(MPI_Errhandler errhandler)
{
    return number_of(errhandler);
}

MPI_Errhandler mur_mpi_errhandler_fromint(int errhandler)
{
    return handle_of(errhandler, MUR_KIND_ERRHANDLER, MUR_SHOW_ERRHANDLER, MPI_ERRHANDLER_NULL);
}

int mur_mpi_file_toint(MPI_File file)
{
    return number_of(file);
}

MPI_File mur_mpi_file_fromint(int file)
{
    return handle_of(file, MUR_KIND_FILE, MUR_SHOW_FILE, MPI_FILE_NULL);
}

int mur_mpi_group_toint(MPI_Group group)
{
    return number_of(group);
}

MPI_Group mur_mpi_group_fromint(int group)
{
    return handle_of(group, MUR_KIND_GROUP, MUR_SHOW_GROUP, MPI_GROUP_NULL);
}

int mur_mpi_info_toint(MPI_Info info)
{
    return number_of(info);
}

MPI_Info mur_mpi_info_fromint(int info)
{
    return handle_of(info, MUR_KIND_INFO, MUR_SHOW_INFO, MPI_INFO_NULL);
}

int mur_mpi_message_toint(MPI_Message message)
{
    return number_of(message);
}

MPI_Message mur_mpi_message_fromint(int message)
{
    return handle_of(message, MUR_KIND_MESSAGE, MUR_SHOW_MESSAGE, MPI_MESSAGE_NULL);
}

int mur_mpi_op_toint(MPI_Op op)
{
    return number_of(op);
}

MPI_Op mur_mpi_op_fromint(int op)
{
    return handle_of(op, MUR_KIND_OP, MUR_SHOW_OP, MPI_OP_NULL);
}

int mur_mpi_request_toint(MPI_Request request)
{
    return number_of(request);
}

MPI_Request mur_mpi_request_fromint(int request)
{
    return handle_of(request, MUR_KIND_REQUEST, MUR_SHOW_REQUEST, MPI_REQUEST_NULL);
}

int mur_mpi_session_toint(MPI_Session session)
{
    return number_of(session);
}

MPI_Session mur_mpi_session_fromint(int session)
{
    return handle_of(session, MUR_KIND_SESSION, MUR_SHOW_SESSION, MPI_SESSION_NULL);
}

int mur_mpi_type_toint(MPI_Datatype datatype)
{
    return number_of(datatype);
}

MPI_Datatype mur_mpi_type_fromint(int datatype)
{
    return handle_of(datatype, MUR_KIND_TYPE, MUR_SHOW_TYPE, MPI_DATATYPE_NULL);
}

int mur_mpi_win_toint(MPI_Win win)
{
    return number_of(win);
}

MPI_Win mur_mpi_win_fromint(int win)
{
    return handle_of(win, MUR_KIND_WIN, MUR_SHOW_WIN, MPI_WIN_NULL);
}
