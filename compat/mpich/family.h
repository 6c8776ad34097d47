/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of MPICH's handles and statuses.
 *
 * A handle is an int. Its two highest bits say what it is: 00 null, 01 predefined, 10 of a pool, 11 of a further block
 * of a pool. Predefined ones are in the tables that are made of constants.txt; some pairs have 10, too. All others are
 * ours, and have 11: the rest is the object's place in the arena of all objects (src/base/pool.h), so neither direction
 * needs a table or a call. Files are the exception: their handles are pointers. */
#ifndef MUR_COMPAT_FAMILY_H
#define MUR_COMPAT_FAMILY_H

#include "base/pool.h"
#include "mpi/door.h"

typedef int their_op, their_comm, their_group, their_win, their_session, their_message, their_info, their_errhandler,
    their_request, their_type;
typedef void *their_file;

struct their_status {
    int count_lo;
    int count_hi_and_cancelled; /* the lowest bit: cancelled */
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
};

#define MUR_FAMILY_NAME "MPICH"

/* What is no handle: neither a constant of ours nor an object's address. */
#define MUR_NO_HANDLE(handle) ((uintptr_t)(handle) | (uintptr_t)1 << 62)

#include "facts.h"

#define MUR_DYNAMIC 0xc0000000u

/* The address of the first object; 0 while no handle of one has been given to the program. */
extern uintptr_t mur_first_object;
__attribute__((cold)) void mur_find_first_object(void);

static inline void *object_in(uint32_t handle)
{
    uintptr_t first = __atomic_load_n(&mur_first_object, __ATOMIC_RELAXED);

    return (void *)(first + (uintptr_t)(handle & ~MUR_DYNAMIC) * MUR_OBJECT_ALIGNMENT);
}

static inline int object_out(const void *object)
{
    if (__builtin_expect(!__atomic_load_n(&mur_first_object, __ATOMIC_RELAXED), 0))
        mur_find_first_object();
    return (int)(MUR_DYNAMIC | (uint32_t)(((uintptr_t)object - mur_first_object) / MUR_OBJECT_ALIGNMENT));
}

#define MUR_HANDLE(Name, lower)                                                                                        \
    static inline MPI_##Name lower##_in(their_##lower handle)                                                          \
    {                                                                                                                  \
        return (uint32_t)handle >= MUR_DYNAMIC ? (MPI_##Name)object_in((uint32_t)handle)                               \
                                               : lower##_constant_in((uint32_t)handle);                                \
    }                                                                                                                  \
    static inline their_##lower lower##_out(MPI_##Name handle)                                                         \
    {                                                                                                                  \
        return (uintptr_t)handle >= MUR_PREDEFINED_LIMIT ? object_out(handle) : (int)lower##_constant_out(handle);     \
    }
MUR_HANDLE(Op, op)
MUR_HANDLE(Comm, comm)
MUR_HANDLE(Group, group)
MUR_HANDLE(Win, win)
MUR_HANDLE(Session, session)
MUR_HANDLE(Message, message)
MUR_HANDLE(Info, info)
MUR_HANDLE(Errhandler, errhandler)
MUR_HANDLE(Request, request)
MUR_HANDLE(Datatype, type)

static inline MPI_File file_in(their_file handle)
{
    return handle ? (MPI_File)handle : MPI_FILE_NULL;
}

static inline their_file file_out(MPI_File handle)
{
    return handle == MPI_FILE_NULL ? NULL : (their_file)handle;
}

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are 1. */
static inline bool is_ignored(const struct their_status *status)
{
    return (uintptr_t)status <= 1;
}

static inline void status_copy_out(struct their_status *theirs, const MPI_Status *ours)
{
    uint64_t bytes;

    memcpy(&bytes, ours->MPI_internal, sizeof bytes);
    theirs->count_lo = (int)bytes;
    theirs->count_hi_and_cancelled = (int)(bytes >> 32 << 1) | (ours->MPI_internal[2] != 0);
    theirs->MPI_SOURCE = rank_out(ours->MPI_SOURCE);
    theirs->MPI_TAG = tag_out(ours->MPI_TAG);
}

static inline void status_copy_in(MPI_Status *ours, const struct their_status *theirs)
{
    uint64_t bytes = (uint32_t)theirs->count_lo | (uint64_t)((uint32_t)theirs->count_hi_and_cancelled >> 1) << 32;

    memcpy(ours->MPI_internal, &bytes, sizeof bytes);
    ours->MPI_internal[2] = theirs->count_hi_and_cancelled & 1;
    ours->MPI_SOURCE = rank_in(theirs->MPI_SOURCE);
    ours->MPI_TAG = tag_in(theirs->MPI_TAG);
}

/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are variables of the library that hold these addresses. */
extern int mur_unweighted, mur_weights_empty;

static inline int *weights_in(const int *weights)
{
    if (weights == &mur_unweighted)
        return MPI_UNWEIGHTED;
    return weights == &mur_weights_empty ? MPI_WEIGHTS_EMPTY : (int *)weights;
}

/* MPI_T_PVAR_ALL_HANDLES is a variable of the library, which has our value. */
#define pvar_handle_in(handle) (handle)

/* Types of communicators that are not MPI's: none. */
#define split_level(split_type) ((void)(split_type), (const char *)NULL)

#endif
