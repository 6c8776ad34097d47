/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks that entry points make, one for each kind of argument (api/kinds.py). Each returns MPI_SUCCESS or the
 * code of the error it found. What a check costs on the good path is inline here; the texts are in check.c. */
#ifndef MUR_MPI_CHECK_H
#define MUR_MPI_CHECK_H

#include "base/counts.h"
#include "base/pool.h"
#include "boot/process.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "mpi.h"
#include "object/buffer.h"
#include "object/comm.h"
#include "object/group.h"
#include "object/type.h"

/* The value of a call that is made with the engine's lock held; `number` says which (mur_call_names). */
#define MUR_LOCKED(number, call)                                                                                       \
    ({                                                                                                                 \
        mur_engine_enter(number);                                                                                      \
        int locked_code = (call);                                                                                      \
        mur_engine_leave(number);                                                                                      \
        locked_code;                                                                                                   \
    })

/* Counts a call on a window or a file. */
static inline int mur_called(int code)
{
    mur_engine_called(MUR_CALL_LONG);
    return code;
}

#define MUR_FAULT int __attribute__((cold, noinline))

MUR_FAULT mur_fault_phase(void);
MUR_FAULT mur_fault_handle(const char *name, const void *handle, uint32_t kind);
MUR_FAULT mur_fault_type(const char *name, const void *handle);
MUR_FAULT mur_fault_count(const char *name, MPI_Count count);
MUR_FAULT mur_fault_length(const char *name, int length);
MUR_FAULT mur_fault_peer(const char *name, int rank, const struct mur_comm *comm);
MUR_FAULT mur_fault_source(const char *name, int rank, const struct mur_comm *comm);
MUR_FAULT mur_fault_root(const char *name, int rank, const struct mur_comm *comm);
MUR_FAULT mur_fault_tag(const char *name, int tag);
MUR_FAULT mur_fault_anytag(const char *name, int tag);
MUR_FAULT mur_fault_null(const char *name);
MUR_FAULT mur_fault_address(const char *name, const void *address);

/* Reads the whole array: part of calls that read it anyway. */
int mur_check_counts(const char *name, struct mur_counts counts, MPI_Count length);

/* The types of blocks with these counts; an empty block's type may be anything. */
int mur_check_types(const char *name, const MPI_Datatype types[], struct mur_counts counts, MPI_Count length);

/* The types of both sides of an alltoallw. */
static inline int mur_check_w_types(const void *sendbuf, struct mur_counts sendcounts, const MPI_Datatype sendtypes[],
                                    struct mur_counts recvcounts, const MPI_Datatype recvtypes[],
                                    const struct mur_comm *comm)
{
    int rc = mur_check_types("recvtypes", recvtypes, recvcounts, comm->size);

    return rc || sendbuf == MPI_IN_PLACE ? rc : mur_check_types("sendtypes", sendtypes, sendcounts, comm->size);
}

static inline int mur_check_running(void)
{
    return __builtin_expect(mur_process.instances != 0, 1) ? MPI_SUCCESS : mur_fault_phase();
}

/* *object_p is NULL after an error; a null handle is one. */
static inline int mur_check_handle(const char *name, const void *handle, uint32_t kind, void **object_p)
{
    *object_p = mur_object_find(handle, kind);
    return __builtin_expect(*object_p != NULL, 1) ? MPI_SUCCESS : mur_fault_handle(name, handle, kind);
}

/* The same where the null handle of the kind (MPI_COMM_NULL, ...) is allowed, too: the object is then NULL. */
static inline int mur_check_handle_or_null(const char *name, const void *handle, const void *null, uint32_t kind,
                                           void **object_p)
{
    *object_p = NULL;
    return handle == null ? MPI_SUCCESS : mur_check_handle(name, handle, kind, object_p);
}

#define MUR_CHECK_HANDLE(name_, struct_, abi_, NAME_)                                                                  \
    static inline int mur_check_##name_(const char *name, abi_ handle, struct struct_ **object_p)                      \
    {                                                                                                                  \
        void *object;                                                                                                  \
        int code = mur_check_handle(name, handle, MUR_KIND_##NAME_, &object);                                          \
        *object_p = object;                                                                                            \
        return code;                                                                                                   \
    }                                                                                                                  \
    static inline int mur_check_##name_##_or_null(const char *name, abi_ handle, struct struct_ **object_p)            \
    {                                                                                                                  \
        void *object;                                                                                                  \
        int code = mur_check_handle_or_null(name, handle, MUR_NULL_##NAME_, MUR_KIND_##NAME_, &object);                \
        *object_p = object;                                                                                            \
        return code;                                                                                                   \
    }

#define MUR_NULL_COMM       MPI_COMM_NULL
#define MUR_NULL_GROUP      MPI_GROUP_NULL
#define MUR_NULL_OP         MPI_OP_NULL
#define MUR_NULL_INFO       MPI_INFO_NULL
#define MUR_NULL_ERRHANDLER MPI_ERRHANDLER_NULL
#define MUR_NULL_FILE       MPI_FILE_NULL
#define MUR_NULL_WIN        MPI_WIN_NULL
#define MUR_NULL_SESSION    MPI_SESSION_NULL
#define MUR_NULL_TYPE       MPI_DATATYPE_NULL

struct mur_op;
struct mur_info;
struct mur_file;
struct mur_win;
struct mur_session;

MUR_CHECK_HANDLE(comm, mur_comm, MPI_Comm, COMM)
MUR_CHECK_HANDLE(group, mur_group, MPI_Group, GROUP)
MUR_CHECK_HANDLE(op, mur_op, MPI_Op, OP)
MUR_CHECK_HANDLE(info, mur_info, MPI_Info, INFO)
MUR_CHECK_HANDLE(errhandler, mur_errhandler, MPI_Errhandler, ERRHANDLER)
MUR_CHECK_HANDLE(file, mur_file, MPI_File, FILE)
MUR_CHECK_HANDLE(win, mur_win, MPI_Win, WIN)
MUR_CHECK_HANDLE(session, mur_session, MPI_Session, SESSION)
MUR_CHECK_HANDLE(anytype, mur_type, MPI_Datatype, TYPE)
#undef MUR_CHECK_HANDLE

static inline int mur_check_type(const char *name, MPI_Datatype handle, struct mur_type **object_p)
{
    *object_p = mur_type_find(handle);
    return __builtin_expect(*object_p && (*object_p)->is_supported, 1) ? MPI_SUCCESS : mur_fault_type(name, handle);
}

static inline int mur_check_committed(const char *name, MPI_Datatype handle, struct mur_type **object_p)
{
    *object_p = mur_type_find(handle);
    return __builtin_expect(*object_p && (*object_p)->is_supported && (*object_p)->is_committed, 1)
               ? MPI_SUCCESS
               : mur_fault_type(name, handle);
}

static inline int mur_check_count(const char *name, MPI_Count count)
{
    return __builtin_expect(count >= 0, 1) ? MPI_SUCCESS : mur_fault_count(name, count);
}

static inline int mur_check_length(const char *name, int length)
{
    return __builtin_expect(length >= 0, 1) ? MPI_SUCCESS : mur_fault_length(name, length);
}

static inline int mur_check_peer(const char *name, int rank, const struct mur_comm *comm)
{
    return __builtin_expect((unsigned)rank < (unsigned)comm->size || rank == MPI_PROC_NULL, 1)
               ? MPI_SUCCESS
               : mur_fault_peer(name, rank, comm);
}

static inline int mur_check_source(const char *name, int rank, const struct mur_comm *comm)
{
    if (__builtin_expect((unsigned)rank < (unsigned)comm->size, 1) || rank == MPI_ANY_SOURCE || rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    return mur_fault_source(name, rank, comm);
}

static inline int mur_check_root(const char *name, int rank, const struct mur_comm *comm)
{
    if (__builtin_expect((unsigned)rank < (unsigned)comm->size, 1))
        return MPI_SUCCESS;
    if (comm->remote && (rank == MPI_ROOT || rank == MPI_PROC_NULL))
        return MPI_SUCCESS;
    return mur_fault_root(name, rank, comm);
}

/* Who is who in an operation with a root. Between two groups, the root passes MPI_ROOT, the others of its group
 * MPI_PROC_NULL, and the other group the root's rank (MPI-5.0 §6.2.3). */
static inline bool mur_is_root(const struct mur_comm *comm, int root)
{
    return __builtin_expect(comm->remote != NULL, 0) ? root == MPI_ROOT : comm->rank == root;
}

/* On the other side of the root: gives to it or gets from it. The root itself, too, in one group. */
static inline bool mur_is_leaf(const struct mur_comm *comm, int root)
{
    return __builtin_expect(!comm->remote, 1) || root >= 0;
}

static inline bool mur_is_involved(const struct mur_comm *comm, int root)
{
    return __builtin_expect(!comm->remote, 1) || root != MPI_PROC_NULL;
}

static inline int mur_check_tag(const char *name, int tag)
{
    return __builtin_expect(tag >= 0, 1) ? MPI_SUCCESS : mur_fault_tag(name, tag);
}

static inline int mur_check_anytag(const char *name, int tag)
{
    return __builtin_expect(tag >= 0 || tag == MPI_ANY_TAG, 1) ? MPI_SUCCESS : mur_fault_anytag(name, tag);
}

static inline int mur_check_pointer(const char *name, const void *pointer)
{
    return mur_is_memory(pointer) ? MPI_SUCCESS : mur_fault_address(name, pointer);
}

/* An array without elements may be NULL. */
static inline int mur_check_array(const char *name, const void *array, MPI_Count length)
{
    return __builtin_expect(mur_is_memory(array) || length <= 0, 1) ? MPI_SUCCESS : mur_fault_address(name, array);
}

/* A value for an int that may be too small for it (MPI-5.0 §2.5.8). */
static inline int mur_narrow(MPI_Count value)
{
    return value == (int)value ? (int)value : MPI_UNDEFINED;
}

/* The same, for calls that must not go on with such a value. */
MUR_FAULT mur_fault_too_large(const char *name, MPI_Count value);
static inline int mur_check_narrow(const char *name, MPI_Count value)
{
    return __builtin_expect(value == (int)value, 1) ? MPI_SUCCESS : mur_fault_too_large(name, value);
}

#endif
