/* SPDX-License-Identifier: BSD-3-Clause */
/* A window: memory of each rank of a communicator that the others may reach (MPI-5.0 §12).
 *
 * How this process reaches a rank's memory is its way, chosen once:
 *   loads      the memory is its own, or mapped: loads and stores
 *   copies     a rank of the node whose memory the system lets this process copy from and to
 *   messages   any other: the rank does it for us, in progress
 * The rank's locks are words in shared memory wherever there is some, whichever way the data goes. */
#ifndef MUR_OBJECT_WIN_H
#define MUR_OBJECT_WIN_H

#include <stdatomic.h>

#include "base/pool.h"
#include "mpi.h"

struct mur_attribute;
struct mur_comm;
struct mur_errhandler;
struct mur_rma_bulk;
struct mur_rma_mailbox;
struct mur_rma_queue;

enum { MUR_WIN_STRIPES = 16, MUR_WIN_STRIPE_SHIFT = 16 };

#define MUR_WIN_LINE __attribute__((aligned(64)))

/* Memory attached to a dynamic window. */
struct mur_win_region {
    uint64_t start, bytes;
};

/* The locks of one rank's part of a window, in memory that all ranks of its node see (rma/control.h). */
struct mur_win_control {
    _Atomic uint32_t lock MUR_WIN_LINE; /* of MPI_Win_lock: the number of shared ones, or MUR_WIN_EXCLUSIVE */
    _Atomic uint32_t waiting;           /* ranks that wait for it, */
    _Atomic uint32_t wanting;           /* and those of them that want it for themselves */
    /* Accumulates on the memory from n << STRIPE_SHIFT on hold stripe n modulo STRIPES: 1 while it is held. */
    struct {
        _Atomic uint32_t word;
    } MUR_WIN_LINE stripes[MUR_WIN_STRIPES];
    /* of dynamic windows; the version is odd while they change */
    _Atomic uint64_t version MUR_WIN_LINE;
    _Atomic uint32_t region_count;
    _Atomic uint32_t has_more; /* regions than there is room for */
    struct mur_win_region regions[];
};

enum { MUR_WIN_REGIONS = 1024 };

enum mur_win_way { MUR_WAY_LOADS, MUR_WAY_COPIES, MUR_WAY_MESSAGES };

/* The lock that this process holds of a rank; NOCHECK ones are held in name only. */
enum mur_win_held { MUR_HELD_NONE, MUR_HELD_SHARED, MUR_HELD_EXCLUSIVE, MUR_HELD_NOCHECK };

/* One rank's part, as seen from this process. */
struct mur_win_target {
    char *memory;     /* where this process finds it; NULL where it does not */
    uint64_t address; /* where its own process finds it */
    MPI_Aint size;
    MPI_Aint unit;   /* bytes that displacements count */
    bool is_open;    /* operations may be started now: locked, or of the group of MPI_Win_start */
    uint8_t way;     /* enum mur_win_way */
    uint8_t held;    /* enum mur_win_held */
    bool is_posted;  /* it has told that its exposure epoch has begun, for an access epoch to come */
    bool is_taken;   /* its lock is held, or being taken */
    bool is_granted; /* it has answered a lock request */
    bool is_dirty;   /* operations have gone by message that nobody has confirmed */
    bool is_touched; /* locked or dirty: in the window's list */
    uint8_t fault;   /* class of the first error of an operation that the rank has sent here, to be told at its flush */
    uint8_t reported;                /* the same as the rank has told us */
    uint32_t flushes;                /* asked for and not answered yet */
    struct mur_win_control *control; /* NULL: its locks are reached by message */
    uint64_t kept;                   /* token of the region that `memory` lies in, if it is of the rank's own; or 0 */
    struct mur_rma_mailbox *mailbox; /* for what it may do for us while it waits; or NULL */
    uint16_t lonely;                 /* large operations that it might have taken part in, and has not */
    uint16_t skips;                  /* operations that try none, since the latest try found nobody there */
    bool is_woken;                   /* after that try */
    struct mur_rma_queue *queue;     /* of operations by message; NULL before the first. Owned */
    struct mur_rma_bulk *bulk;       /* what the rank has announced to send; NULL before the first time. Owned */
};

enum mur_win_access {
    MUR_ACCESS_NONE,
    MUR_ACCESS_FENCE, /* MPI_Win_fence has been called; nothing may have been started yet */
    MUR_ACCESS_START,
    MUR_ACCESS_LOCK, /* of some ranks */
    MUR_ACCESS_LOCK_ALL,
};

struct mur_win {
    struct mur_object object;
    /* what the fast paths look at */
    bool is_open;     /* to operations on any rank: between two fences */
    uint8_t access;   /* enum mur_win_access */
    bool has_started; /* an operation since the latest fence */
    bool is_dynamic;
    uint32_t unlocks; /* to make progress now and then when no lock is held */
    int rank, size;
    struct mur_win_target *targets; /* [size], owned */
    struct mur_comm *comm;          /* of its own */
    struct mur_errhandler *errhandler;
    struct mur_attribute *attributes;
    int flavor; /* MPI_WIN_FLAVOR_... */
    int model;
    void *base;     /* of this rank's own part, for attributes, */
    int unit;       /* and its unit */
    uint32_t hints; /* bits of enum mur_win_hint */
    char granularity[24];
    int locks;         /* ranks that MPI_Win_lock has locked */
    int assertion;     /* of MPI_Win_lock_all */
    bool is_messaging; /* some operation may go by message */
    bool is_exposed;   /* by MPI_Win_post */
    int awaited;       /* processes whose MPI_Win_complete ends the exposure, */
    int completed;     /* and how many calls have come */
    int *ranks;        /* [started] those that MPI_Win_start has named; owned */
    int started;
    int *touched; /* [touched_count] ranks locked under MPI_Win_lock_all, or sent operations by message; owned */
    int touched_count;
    int *near; /* [near_count] processes of the node, to be woken; owned */
    int near_count;
    /* memory that the ranks of the node share */
    void *segment;
    size_t segment_bytes;
    uint64_t token;                  /* 0: memory of this process alone */
    bool is_leader;                  /* this process gives it back */
    struct mur_win_region *attached; /* [attached_count] regions of a dynamic window, by address; owned */
    int attached_count;
    struct mur_win *next; /* in the table by context */
    char name[MPI_MAX_OBJECT_NAME];
};

enum mur_win_hint {
    MUR_WIN_NO_LOCKS = 1,
    MUR_WIN_UNORDERED = 2, /* accumulate_ordering=none */
    MUR_WIN_SAME_OP = 4,   /* accumulate_ops=same_op */
    MUR_WIN_SAME_SIZE = 8,
    MUR_WIN_SAME_UNIT = 16,
    MUR_WIN_NONCONTIGUOUS = 32,
};

static inline struct mur_win *mur_win_find(MPI_Win handle)
{
    return mur_object_find(handle, MUR_KIND_WIN);
}

/* A window over the ranks of `comm`, whose reference it takes over; its targets are all zero. Errors are fatal. */
int mur_win_create(struct mur_comm *comm, int flavor, struct mur_win **win_p);

/* Frees it with its communicator. What hangs on its targets has been freed. */
void mur_win_destroy(struct mur_win *win);

/* The next of those there are, in no order; NULL: the first, or none. */
struct mur_win *mur_win_next(const struct mur_win *previous);

/* The window whose communicator has this context; NULL: none. */
struct mur_win *mur_win_of_context(uint32_t context);

#endif
