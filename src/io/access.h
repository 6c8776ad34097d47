/* SPDX-License-Identifier: BSD-3-Clause */
/* One access to a file under way: so many bytes of the view's stream, from a position on, to or from memory.
 *
 *   begun      mur_access_begin describes it, and converts what is to be written to the file's data representation
 *   performed  by steps, each a bounded piece of work that does not wait: in a loop by a call that blocks, by progress
 *              otherwise. An independent access steps by itself (independent.c); a collective one through collective
 * buffers in memory that the ranks share (two_phase_shared.c), or as a schedule of messages (two_phase_messages.c)
 * ended mur_access_end converts what was read, and tells how much it was
 *
 * A collective access that cannot take part (access->error is set from the start) is performed all the same, without
 * data: so all ranks hear of the error and none waits. */
#ifndef MUR_IO_ACCESS_H
#define MUR_IO_ACCESS_H

#include "engine/engine.h"
#include "io/shared_state.h"
#include "io/file.h"
#include "io/independent.h"

/* The user's data, and its other form. */
struct mur_access_data {
    char *buffer;
    MPI_Count count;
    struct mur_type *type;
    char *converted; /* to the file's data representation, or NULL. Owned */
};

/* plan.c: what a collective access is, and this rank's part in it. */
struct mur_access_plan {
    struct mur_span all; /* of all ranks together */
    MPI_Offset origin;   /* of collective buffer 0 in the file */
    bool is_alone;       /* this rank needs no exchange */
    bool is_at_end;      /* of the file: there is nothing more to read */
};

/* two_phase_shared.c: the way through collective buffers in memory that the ranks share. */
struct mur_access_shared {
    int stage, next;
    uint64_t ticket, number;
    uint64_t cb, cbs; /* the next collective buffer; their number */
    uint64_t marked;  /* collective buffers of a sparse read that have been marked, */
    size_t ahead;     /* and bytes of the stream in them */
    bool is_exact, is_sparse;
    int failed_rank; /* who had the error of the access to the file */
};

struct mur_access {
    struct mur_task task; /* the first member */
    struct mur_file *file;
    bool is_write, is_collective;
    volatile uint8_t is_complete;
    MPI_Offset start;         /* in the view's stream */
    struct mur_cursor memory; /* the data as the file has it: the user's, or what was converted */
    size_t moved;             /* bytes of the stream */
    int error;                /* a code */
    int failed;               /* errno of an access to the file */
    struct mur_request *request;
    struct mur_access_data user;
    struct mur_independent alone;
    struct mur_access_plan plan;
    struct mur_access_shared shared;
    struct mur_exchange *exchange; /* two_phase_messages.c */
};

int mur_access_begin(struct mur_access *access, struct mur_file *file, bool is_write, bool is_collective,
                     MPI_Offset offset, void *buffer, MPI_Count count, struct mur_type *type);
int mur_access_end(struct mur_access *access, size_t *bytes);
void mur_access_setup(void);

/* The blocking form, begun; returns what mur_access_end does. */
int mur_access_run(struct mur_access *access, size_t *bytes);

/* The nonblocking form, of which begin and end are a part. `rc` is an error that keeps a collective from taking part.
 */
int mur_access_start(const struct mur_access *what, int rc, struct mur_request **request_p);

/* plan.c: what this rank wants of a collective access, and what becomes of it; access->plan.all is the sum. A rank that
 * is alone after the span has to perform its part by mur_independent_step before it asks for the plan. */
enum mur_plan { MUR_PLAN_NOTHING, MUR_PLAN_DIRECT, MUR_PLAN_CBS };
bool mur_access_is_alone(const struct mur_access *access);
struct mur_span mur_access_span(struct mur_access *access);
enum mur_plan mur_access_plan(struct mur_access *access, const struct mur_span *spans, int ranks);

/* One step of a collective one; true: complete. */
bool mur_two_phase_step(struct mur_access *access);

/* Performs a collective access by messages, or starts it: mur_access_complete is called in the end. */
void mur_two_phase_messages_run(struct mur_access *access);
void mur_two_phase_messages_start(struct mur_access *access);
int mur_exchange_provide(struct mur_file *file);
void mur_exchange_free(struct mur_exchange *exchange);
void mur_access_complete(struct mur_access *access);

static inline bool mur_access_is_ordered(const struct mur_access *access)
{
    return mur_view_is_ordered(access->file, access->start + (MPI_Offset)access->memory.bytes);
}

static inline size_t mur_access_rest(const struct mur_access *access)
{
    return access->memory.bytes - access->moved;
}

#endif
