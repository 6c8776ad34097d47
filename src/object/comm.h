/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator: a context that separates its messages from all others, a group, and what hangs on it. */
#ifndef MUR_OBJECT_COMM_H
#define MUR_OBJECT_COMM_H

#include "base/pool.h"
#include "mpi.h"

struct mur_errhandler;
struct mur_group;
struct mur_send_buffer;
struct mur_topology;

/* Messages carry a context. Every communicator owns a few in a row: `context` for point-to-point messages of users,
 * those after it for the library's own (object/context.h), so that they can never match. */
struct mur_comm {
    struct mur_object object;
    uint32_t context;
    int rank; /* of this process */
    int size;
    const int *processes;         /* [size] the process of each rank; the group's array, kept here for the fast path */
    struct mur_group *group;      /* a reference of its own */
    uint32_t sequence;            /* collectives started so far: the tag of their messages */
    uint32_t persistent_sequence; /* persistent ones made so far: the same for theirs */
    struct mur_errhandler *errhandler;
    struct mur_topology *topology;       /* NULL: none. Owned */
    struct mur_send_buffer *send_buffer; /* attached for buffered sends, or NULL (pt2pt/buffered.h) */
    char name[MPI_MAX_OBJECT_NAME];
};

extern struct mur_comm mur_comm_world, mur_comm_self;

static inline struct mur_comm *mur_comm_find(MPI_Comm handle)
{
    return mur_object_find(handle, MUR_KIND_COMM);
}

static inline void mur_comm_retain(struct mur_comm *comm)
{
    comm->object.references++;
}

/* Drops a reference; the last one frees the communicator and its context ids. Operations in flight hold one each. */
void mur_comm_release_slow(struct mur_comm *comm);
static inline void mur_comm_release(struct mur_comm *comm)
{
    if (__builtin_expect(--comm->object.references == 0, 0))
        mur_comm_release_slow(comm);
}

/* Makes the two predefined communicators: the world of `size` processes 0..size-1 and the self communicator. */
int mur_comm_setup(int rank, int size);
void mur_comm_teardown(void);

/* A communicator over `group` (a reference is taken) with this pair of contexts; the errhandler is that of
 * `parent`. */
int mur_comm_create(struct mur_comm *parent, struct mur_group *group, uint32_t context, struct mur_comm **comm_p);

#endif
