/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator: a context that separates its messages from all others, a group, and what hangs on it. */
#ifndef MUR_OBJECT_COMM_H
#define MUR_OBJECT_COMM_H

#include "base/pool.h"
#include "mpi.h"

struct mur_attribute;
struct mur_board;
struct mur_errhandler;
struct mur_group;
struct mur_nodes;
struct mur_send_buffer;
struct mur_session;
struct mur_topology;
struct mur_win;

/* Messages carry a context. Every communicator owns a few in a row: `context` for point-to-point messages of users,
 * those after it for the library's own (object/context.h), so that they can never match. */
struct mur_comm {
    struct mur_object object;
    uint32_t context;
    int rank; /* of this process, in its own group */
    int size; /* ranks that messages go to and come from: the group's, or the remote group's of an intercommunicator */
    const int *processes;     /* [size] the process of each of them; the group's array, kept here for the fast path */
    struct mur_group *group;  /* that this process belongs to; a reference of its own */
    struct mur_group *remote; /* the other group of an intercommunicator, a reference; else NULL */
    struct mur_comm *local;   /* of an intercommunicator: a communicator of the own group that collectives use; owned */
    uint32_t hints;           /* that the user has asserted: bits of enum mur_comm_hint */
    uint32_t sequence;        /* collectives started so far: the tag of their messages */
    uint64_t collectives;     /* that users have started here, for tools */
    uint32_t nonblocking_sequence; /* nonblocking ones, and */
    uint32_t persistent_sequence;  /* persistent ones made so far: the same for theirs */
    struct mur_errhandler *errhandler;
    bool has_own_errhandler; /* the program has set it; else it is the initial or the parent's one */
    /* whose messages it carries, and whose error handler is its own then; or NULL */
    void *file; /* struct mur_file */
    struct mur_win *win;
    struct mur_session *session; /* that its group came from, a reference; or NULL */
    struct mur_board
        *board; /* of its collectives, where all ranks share a node (coll/board/board.h); else NULL. Owned */
    const struct mur_nodes
        *nodes;               /* where its ranks are (coll/hierarchy/nodes.h), once collectives have asked. Owned */
    unsigned char *overrides; /* for its collectives' algorithms (coll/override.c), or NULL. Owned */
    bool has_lost; /* a process of it, or of the groups whose collectives it serves, is lost (pt2pt/lost.h) */
    struct mur_topology *topology;       /* NULL: none. Owned */
    struct mur_send_buffer *send_buffer; /* attached for buffered sends, or NULL (pt2pt/buffered.h) */
    struct mur_attribute *attributes;    /* (object/attribute.h) */
    char name[MPI_MAX_OBJECT_NAME];
};

/* What MPI_Comm_set_info may assert (MPI-5.0 §7.4.4). They permit, and oblige to nothing. */
enum mur_comm_hint {
    MUR_HINT_NO_ANY_TAG = 1,
    MUR_HINT_NO_ANY_SOURCE = 2,
    MUR_HINT_EXACT_LENGTH = 4,
    MUR_HINT_ALLOW_OVERTAKING = 8,
    MUR_HINT_STRICT_START_ORDER = 16,
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

/* Frees what a communicator's collectives keep of their board; set by those (coll/collective.c). */
extern void (*mur_comm_close_board)(struct mur_board *board);

/* Makes the two predefined communicators: the world of `size` processes 0..size-1 and the self communicator. */
int mur_comm_setup(int rank, int size);

/* Makes their handles known, and unknown again: only the world model has them. */
void mur_comm_publish(void);
void mur_comm_unpublish(void);

/* A communicator over `group`, or between `group` and `remote` unless that is NULL (references are taken). It has no
 * contexts yet; the errhandler is that of `parent`. */
int mur_comm_create(struct mur_comm *parent, struct mur_group *group, struct mur_group *remote,
                    struct mur_comm **comm_p);

/* The next of those there are, in no order; NULL: the first, or none. Not the predefined ones. */
struct mur_comm *mur_comm_next(const struct mur_comm *previous);

/* Of both groups, where there are two. */
int mur_comm_ranks(const struct mur_comm *comm);

/* How many context ids it needs, and giving it these. */
static inline int mur_comm_contexts_needed(const struct mur_comm *comm)
{
    return comm->remote ? 2 : 1;
}
void mur_comm_set_contexts(struct mur_comm *comm, const uint32_t *contexts);

#endif
