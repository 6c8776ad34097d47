/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of Open MPI's handles and statuses.
 *
 * A handle is a pointer. Predefined ones are the addresses of objects that the library exports (constants.txt); where
 * they lie is known when the program has been loaded, since a program may have copies of them in its own memory, which
 * are then the objects for all. So a table finds our constant by the address. All others are handles of ours, which are
 * addresses within the arena of all objects (src/base/pool.h), and pass as they are. */
#ifndef MUR_COMPAT_FAMILY_H
#define MUR_COMPAT_FAMILY_H

#include "base/pool.h"
#include "mpi/door.h"

typedef void *their_op, *their_comm, *their_group, *their_win, *their_file, *their_session, *their_message, *their_info,
    *their_errhandler, *their_request, *their_type;

struct their_status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int cancelled;
    size_t bytes;
};

#define MUR_FAMILY_NAME "Open MPI"

#include "facts.h"

/* Where the objects lie; no address is among them while no handle of one has been given to the program. */
extern uintptr_t mur_first_object;
extern size_t mur_objects_bytes;
__attribute__((cold)) void mur_find_objects(void);

/* The predefined handles by their addresses, filled when the library is loaded. A place is free where the address is 0;
 * what does not find its place free goes to the next. */
enum { MUR_PLACE_BITS = 9, MUR_PLACES = 1 << MUR_PLACE_BITS };
extern struct mur_place {
    uintptr_t theirs, ours;
} mur_places[MUR_PLACES];

static inline unsigned place_of(uintptr_t address)
{
    return (unsigned)((uint64_t)(address >> 5) * 0x9e3779b97f4a7c15u >> (64 - MUR_PLACE_BITS));
}

/* What is no handle becomes neither a constant of ours nor an object's address. */
static inline void *constant_in(uintptr_t handle)
{
    unsigned place = place_of(handle);

    while (__builtin_expect(mur_places[place].theirs != handle, 0)) {
        if (!mur_places[place].theirs)
            return (void *)(handle | (uintptr_t)1 << 62);
        place = (place + 1) % MUR_PLACES;
    }
    return (void *)mur_places[place].ours;
}

static inline void *handle_in(const void *handle)
{
    if ((uintptr_t)handle - __atomic_load_n(&mur_first_object, __ATOMIC_RELAXED) < mur_objects_bytes)
        return (void *)(uintptr_t)handle;
    return constant_in((uintptr_t)handle);
}

static inline void *handle_out(const void *handle)
{
    if ((uintptr_t)handle < MUR_PREDEFINED_LIMIT)
        return (uintptr_t)handle < 0x300 ? mur_symbol_out[(uintptr_t)handle] : NULL;
    if (__builtin_expect(!mur_objects_bytes, 0))
        mur_find_objects();
    return (void *)(uintptr_t)handle;
}

#define MUR_HANDLE(Name, lower)                                                                                        \
    static inline MPI_##Name lower##_in(const void *handle)                                                            \
    {                                                                                                                  \
        return (MPI_##Name)handle_in(handle);                                                                          \
    }                                                                                                                  \
    static inline void *lower##_out(MPI_##Name handle)                                                                 \
    {                                                                                                                  \
        return handle_out(handle);                                                                                     \
    }
MUR_HANDLE(Op, op)
MUR_HANDLE(Comm, comm)
MUR_HANDLE(Group, group)
MUR_HANDLE(Win, win)
MUR_HANDLE(File, file)
MUR_HANDLE(Session, session)
MUR_HANDLE(Message, message)
MUR_HANDLE(Info, info)
MUR_HANDLE(Errhandler, errhandler)
MUR_HANDLE(Request, request)
MUR_HANDLE(Datatype, type)

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are 0. */
static inline bool is_ignored(const struct their_status *status)
{
    return !status;
}

static inline void status_copy_out(struct their_status *theirs, const MPI_Status *ours)
{
    theirs->MPI_SOURCE = rank_out(ours->MPI_SOURCE);
    theirs->MPI_TAG = tag_out(ours->MPI_TAG);
    theirs->cancelled = ours->MPI_internal[2];
    memcpy(&theirs->bytes, ours->MPI_internal, sizeof theirs->bytes);
}

static inline void status_copy_in(MPI_Status *ours, const struct their_status *theirs)
{
    ours->MPI_SOURCE = rank_in(theirs->MPI_SOURCE);
    ours->MPI_TAG = tag_in(theirs->MPI_TAG);
    ours->MPI_internal[2] = theirs->cancelled;
    memcpy(ours->MPI_internal, &theirs->bytes, sizeof theirs->bytes);
}

static inline int *weights_in(const int *weights)
{
    if ((uintptr_t)weights == 2)
        return MPI_UNWEIGHTED;
    return (uintptr_t)weights == 3 ? MPI_WEIGHTS_EMPTY : (int *)(uintptr_t)weights;
}

#define pvar_handle_in(handle) ((handle) == (void *)-1 ? MPI_T_PVAR_ALL_HANDLES : (handle))

/* Types of communicators that are not MPI's, OMPI_COMM_TYPE_...: the level of the machine, as the standard's hint names
 * it; NULL for all others. */
const char *split_level(int split_type);

#endif
