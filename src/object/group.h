/* SPDX-License-Identifier: BSD-3-Clause */
/* A group: an ordered set of processes. Immutable once made; shared by reference. */
#ifndef MUR_OBJECT_GROUP_H
#define MUR_OBJECT_GROUP_H

#include "base/pool.h"
#include "mpi.h"

struct mur_session;

/* A process is an index into this process's table of peers (engine/engine.h); the processes of one
 * MPI_COMM_WORLD are 0..size-1, in the order of their ranks; those of other jobs come behind (engine/foreign.h). */
struct mur_group {
    struct mur_object object;
    int size;
    int rank;          /* of this process, or MPI_UNDEFINED */
    bool is_ascending; /* the processes are in the order of their numbers, so they can be searched as they are */
    bool has_foreign;  /* some are of other jobs */
    int *processes;    /* [size], owned */
    struct mur_session *session; /* that it came from, a reference; or NULL */
    int *by_process; /* [size] the ranks in the order of their processes; made at first need, owned; or NULL */
};

extern struct mur_group mur_group_empty;

static inline struct mur_group *mur_group_find(MPI_Group handle)
{
    return mur_object_find(handle, MUR_KIND_GROUP);
}

static inline void mur_group_retain(struct mur_group *group)
{
    group->object.references++;
}

/* Makes MPI_GROUP_EMPTY known. */
int mur_group_setup(void);

/* Drops a reference; the last one frees the group. MPI_GROUP_EMPTY is never freed. */
void mur_group_release(struct mur_group *group);

/* A group of these processes (the array is copied). A size of 0 gives the empty group itself. */
int mur_group_create(const int *processes, int size, struct mur_group **group_p);

/* The rank of a process in the group, or MPI_UNDEFINED. */
int mur_group_rank_of(struct mur_group *group, int process);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int mur_group_compare(struct mur_group *a, struct mur_group *b);

#endif
