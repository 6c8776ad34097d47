/* SPDX-License-Identifier: BSD-3-Clause */
/* One access to a file under way: so many bytes of the view's stream, from a position on, to or from memory.
 *
 *   begun      mur_access_begin describes it, and converts what is to be written to the file's data representation
 *   performed  by steps, each a bounded piece of work that does not wait: in a loop by a call that blocks, by progress
 *              otherwise. An independent access steps by itself (access.c); a collective one through panes in memory
 *              that the ranks share (two_phase.c), or as a schedule of messages (messages.c)
 *   ended      mur_access_end converts what was read, and tells how much it was
 *
 * A collective access that cannot take part (access->error is set from the start) is performed all the same, without
 * data: so all ranks hear of the error and none waits. */
#ifndef MUR_IO_ACCESS_H
#define MUR_IO_ACCESS_H

#include "engine/engine.h"
#include "io/area.h"
#include "io/file.h"
#include "io/uring.h"

struct mur_access {
    struct mur_task task; /* the first member */
    struct mur_file *file;
    bool is_write, is_collective;
    MPI_Offset start;         /* in the view's stream */
    struct mur_cursor memory; /* the data as the file has it: the user's, or what was converted */
    size_t moved;             /* bytes of the stream */
    int error;                /* a code */
    char *staging;            /* owned */
    size_t staging_bytes;
    struct {
        struct mur_uring_op op;
        char *memory;
        size_t bytes; /* 0: there is none */
    } background;     /* the piece that the kernel is moving */
    struct mur_request *request;
    volatile uint8_t is_complete;
    /* the user's data, and its other form */
    char *buffer;
    MPI_Count count;
    struct mur_type *type;
    char *converted; /* owned */
    /* two_phase.c */
    int stage, next;
    uint64_t ticket, number;
    struct mur_span all;  /* of all ranks together */
    uint64_t pane, panes; /* the next one, of so many */
    uint64_t marked;      /* panes of a sparse read that have been marked, */
    size_t ahead;         /* and bytes of the stream in them */
    MPI_Offset origin;    /* of pane 0 in the file */
    bool is_exact, is_sparse;
    bool is_alone;                 /* needs no exchange, see plan.c */
    bool is_at_end;                /* of the file: there is nothing more to read */
    int failed;                    /* errno of an access to the file, */
    int failed_rank;               /* and who had it */
    struct mur_exchange *exchange; /* messages.c */
};

int mur_access_begin(struct mur_access *access, struct mur_file *file, bool is_write, bool is_collective,
                     MPI_Offset offset, void *buffer, MPI_Count count, struct mur_type *type);
int mur_access_end(struct mur_access *access, size_t *bytes);

/* The blocking form, begun; returns what mur_access_end does. */
int mur_access_run(struct mur_access *access, size_t *bytes);

/* The nonblocking form, of which begin and end are a part. `rc` is an error that keeps a collective from taking part.
 */
int mur_access_start(const struct mur_access *what, int rc, struct mur_request **request_p);

/* One step of an access by this rank alone; true: it is complete, or has failed. */
bool mur_access_step(struct mur_access *access);

/* plan.c: what this rank wants of a collective access, and what becomes of it; access->all is the sum. A rank that is
 * alone after the span has to perform its part by mur_access_step before it asks for the plan. */
enum mur_plan { MUR_PLAN_NOTHING, MUR_PLAN_DIRECT, MUR_PLAN_PANES };
bool mur_access_is_alone(const struct mur_access *access);
struct mur_span mur_access_span(struct mur_access *access);
enum mur_plan mur_access_plan(struct mur_access *access, const struct mur_span *spans, int ranks);

/* One step of a collective one; true: complete. */
bool mur_two_phase_step(struct mur_access *access);

/* Performs a collective access by messages, or starts it: mur_access_complete is called in the end. */
void mur_messages_run(struct mur_access *access);
void mur_messages_start(struct mur_access *access);
int mur_exchange_provide(struct mur_file *file);
void mur_exchange_free(struct mur_exchange *exchange);
void mur_access_complete(struct mur_access *access);

/* Locks bytes of the file against other openings of it, and against other threads that use this one; length 0: to the
 * end. Not for two ranges at a time. Fails like a system call. */
int mur_file_lock(struct mur_file *file, bool is_exclusive, MPI_Offset offset, MPI_Offset length);
void mur_file_unlock(struct mur_file *file, MPI_Offset offset, MPI_Offset length);

/* Whether what lies between stretches may be written back as it was read. The ranks of a host have the gate for that;
 * others only locks, which then every write must take, and which some mounts keep to the host (NFS with nolock, Lustre
 * with localflock): so they sieve where the user asks for it (romio_ds_write). */
bool mur_file_may_sieve_writes(const struct mur_file *file);

/* Whether every write of the file has to lock what it writes: for others' sieves, or as the driver wants it. */
bool mur_file_must_lock(const struct mur_file *file);

/* Around reading and writing back, behind the gate. Where the gate suffices a file system may refuse the lock, which is
 * for sieves of others: *is_locked tells. Fails like a system call. */
int mur_sieve_lock(struct mur_file *file, MPI_Offset offset, size_t bytes, bool *is_locked);

/* Several writes between `first` and `end`: what has to be locked is locked once for all of them. Begin and each one
 * fail like system calls; end keeps errno. */
int mur_writes_begin(struct mur_file *file, MPI_Offset first, MPI_Offset end, bool *is_locked);
ssize_t mur_writes_one(struct mur_file *file, const char *memory, struct mur_view_segment segment, bool is_locked);
void mur_writes_end(struct mur_file *file, MPI_Offset first, MPI_Offset end, bool is_locked);

/* Reads or writes a stretch of the file, announced to others who sieve. Returns bytes, or -1 with errno. */
ssize_t mur_file_transfer(struct mur_file *file, char *memory, struct mur_view_segment segment, bool is_write);

static inline bool mur_access_is_ordered(const struct mur_access *access)
{
    return mur_view_is_ordered(access->file, access->start + (MPI_Offset)access->memory.bytes);
}

static inline size_t mur_access_rest(const struct mur_access *access)
{
    return access->memory.bytes - access->moved;
}

#endif
