/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: a collective operation as steps in rounds.
 *
 * An algorithm is a builder: it adds the steps that this rank has to do, and a fence between rounds. The steps of a
 * round run at once, started in the order in which they were added, so that the k-th send to a rank meets its k-th
 * receive; a round starts when the one before is complete. Messages that are ahead may last for several rounds, so that
 * data move while what has come is worked on. One executor runs schedules, blocking or as a task of the
 * engine. Messages use the communicator's second context, with the number of the collective as their tag, so several
 * can be under way.
 *
 * A persistent collective keeps its schedule and runs it again at each start. Its tag is its own from creation on,
 * which happens in the same order at all ranks; starts need not. */
#ifndef MUR_COLL_SCHEDULE_H
#define MUR_COLL_SCHEDULE_H

#include "engine/engine.h"
#include "object/comm.h"
#include "object/op.h"
#include "object/request.h"
#include "object/type.h"

enum mur_step_kind {
    MUR_STEP_FENCE,
    MUR_STEP_SEND,
    MUR_STEP_RECEIVE,
    MUR_STEP_COPY,
    MUR_STEP_REDUCE,
    MUR_STEP_CALL,
    MUR_STEP_AWAIT,
    MUR_STEP_HOLD,
};

struct mur_schedule;

/* A step that decides: it looks at what has come, and may add further steps. Returns an error code. */
typedef int mur_step_function(struct mur_schedule *schedule, void *argument);

struct mur_step;
typedef void mur_step_visitor(const struct mur_step *step);

/* What a message consists of, where only earlier steps of its schedule find out. */
enum { MUR_LATE_NONE = -1 };
struct mur_late {
    void *at;
    MPI_Count count; /* of elements; MUR_LATE_NONE: the step is left out */
};

struct mur_step {
    enum mur_step_kind kind;
    int rank; /* of the other side */
    const void *in;
    void *out;
    MPI_Count in_count, out_count;
    struct mur_type *in_type, *out_type; /* a reference each, where not NULL */
    struct mur_op *op;                   /* a reference */
    mur_step_function *call;             /* with `out` as its argument */
    const struct mur_late *late;         /* in place of buffer and count; may be NULL */
    bool is_up_to;                       /* of a receive: less may come, too */
    bool is_ahead;                       /* of a message: its round does not wait for it */
    int awaited;                         /* by MUR_STEP_AWAIT: the step that is ahead */
    int *outcome;                        /* gets the error of a message, which is none of the schedule's; or NULL */
    struct mur_comm *comm;               /* of a message, with its context and tag */
    uint32_t context;
    int tag;
    struct mur_request *request; /* while the step is under way */
};

struct mur_schedule_buffer {
    void *memory;
    size_t bytes;
};

enum { MUR_STEPS_INLINE = 24, MUR_BUFFERS_INLINE = 4 };

struct mur_schedule {
    struct mur_task task;
    struct mur_comm *owner;   /* the communicator it was started on; a reference */
    struct mur_comm *comm;    /* whose ranks the steps that are added mean: the owner, or a part of it for a while */
    struct mur_comm *carrier; /* of their messages: the same, unless it is a team's (coll/hierarchy/nodes.h), */
    const int *ranks;         /* whose rank i is ranks[i] of the carrier */
    uint32_t context;         /* of their messages */
    bool is_kept;             /* by a persistent operation's request */
    bool is_strict;           /* see mur_schedule_create_strict */
    int tag;
    struct mur_request *request; /* of a nonblocking or persistent operation; NULL for a blocking one */
    int error;                   /* the first, after which no more rounds are started */
    int flaw;                    /* the first of those after which they are */
    mur_step_visitor *visit;     /* gets each step instead of its being kept; NULL, but to count what does not fit */
    bool has_ahead;              /* some step is ahead */
    int count, capacity;
    int round, next; /* the steps of the round under way are [round, next) */
    struct mur_step *steps;
    int buffer_count, buffer_capacity;
    struct mur_schedule_buffer *buffers;
    struct mur_step inline_steps[MUR_STEPS_INLINE];
    struct mur_schedule_buffer inline_buffers[MUR_BUFFERS_INLINE];
};

/* An empty schedule for the next collective on the communicator. NULL: no memory. */
struct mur_schedule *mur_schedule_create(struct mur_comm *comm);

/* One of a collective operation of users. What this rank cannot do others would wait for: a lack of memory ends the
 * job, if there are others. A message that is longer or shorter than its receive tells that ranks disagree, which is an
 * error here; the rest is done all the same. Lack of memory for the schedule itself: see mur_collective_no_memory. */
struct mur_schedule *mur_schedule_create_strict(struct mur_comm *comm);

/* The same for a nonblocking one, whose number is one of theirs. */
struct mur_schedule *mur_schedule_create_nonblocking(struct mur_comm *comm);

/* Ends the job, or, in a communicator of one rank, returns the error. */
int mur_collective_no_memory(const struct mur_comm *comm);

/* The same if the error is a lack of memory, and there are others; else it is returned. */
int mur_collective_result(int rc, int ranks);

/* One that takes no number: its steps must be moved to a context and tag of their own before they have messages. */
struct mur_schedule *mur_schedule_create_apart(struct mur_comm *comm);

/* Adding steps. Failures (no memory) are kept in schedule->error and reported when the schedule is run. A send to or
 * a receive from this rank itself is a message like any other. */
void mur_schedule_send(struct mur_schedule *schedule, const void *buffer, MPI_Count count, struct mur_type *type,
                       int rank);
void mur_schedule_receive(struct mur_schedule *schedule, void *buffer, MPI_Count count, struct mur_type *type,
                          int rank);
/* Whatever `late` says when the step starts; it must live as long as the schedule. */
void mur_schedule_send_late(struct mur_schedule *schedule, const struct mur_late *late, struct mur_type *type,
                            int rank);
void mur_schedule_receive_late(struct mur_schedule *schedule, const struct mur_late *late, struct mur_type *type,
                               int rank);

/* Messages that are ahead: the rounds that follow do not wait for them, unless one has a step that does so, and only
 * the schedule's end waits for all. They return what mur_schedule_await takes. */
int mur_schedule_send_ahead(struct mur_schedule *schedule, const void *buffer, MPI_Count count, struct mur_type *type,
                            int rank);
int mur_schedule_receive_ahead(struct mur_schedule *schedule, void *buffer, MPI_Count count, struct mur_type *type,
                               int rank);
void mur_schedule_await(struct mur_schedule *schedule, int ahead);

/* The message that was added last does not end the schedule if it fails: *outcome gets its error instead, and is left
 * alone otherwise. It must live as long as the schedule. */
void mur_schedule_tolerate(struct mur_schedule *schedule, int *outcome);

/* So many bytes, or fewer. */
void mur_schedule_receive_up_to(struct mur_schedule *schedule, void *buffer, MPI_Count bytes, int rank);

void mur_schedule_copy(struct mur_schedule *schedule, const void *in, MPI_Count in_count, struct mur_type *in_type,
                       void *out, MPI_Count out_count, struct mur_type *out_type);
/* inout = in op inout */
void mur_schedule_reduce(struct mur_schedule *schedule, struct mur_op *op, const void *in, void *inout, MPI_Count count,
                         struct mur_type *type);
void mur_schedule_fence(struct mur_schedule *schedule);

/* Does nothing but keep a reference to the type as long as the schedule lives. */
void mur_schedule_hold(struct mur_schedule *schedule, struct mur_type *type);

/* Keeps the first error; the schedule does not run then. */
void mur_schedule_fail(struct mur_schedule *schedule, int code);
void mur_schedule_no_memory(struct mur_schedule *schedule);

/* The same for an error that its steps find; the remaining steps are still done. */
void mur_schedule_mar(struct mur_schedule *schedule, int code);

void mur_schedule_call(struct mur_schedule *schedule, mur_step_function *call, void *argument);

/* The steps added from now on are among the ranks of this communicator; their messages have this context and tag.
 * The communicator lives as long as the schedule's own. */
void mur_schedule_move(struct mur_schedule *schedule, struct mur_comm *comm, uint32_t context, int tag);

/* Among the ranks of this side of the intercommunicator that owns the schedule, and back. */
void mur_schedule_move_to_local(struct mur_schedule *schedule);
void mur_schedule_move_back(struct mur_schedule *schedule);

/* Memory that lives as long as the schedule. For `count` elements of a type: an address to be used like a user's
 * buffer, whatever the type's lower bound. NULL with schedule->error set when there is none. */
void *mur_schedule_memory(struct mur_schedule *schedule, size_t bytes);
void *mur_schedule_elements(struct mur_schedule *schedule, MPI_Count count, const struct mur_type *type);

/* Frees one that was not run. */
void mur_schedule_drop(struct mur_schedule *schedule);

/* What becomes of a schedule. Each takes a NULL as that there was no memory for one.
 *
 * Runs it to the end and frees it; returns the first error. */
int mur_schedule_run(struct mur_schedule *schedule);

/* Starts it; it frees itself when it is complete. */
int mur_schedule_start(struct mur_schedule *schedule, MPI_Request *request);

/* Describes what the request of one that was started waits for (engine/rest.h); false: it is of something else. */
bool mur_schedule_describe(const struct mur_request *request);

/* Makes an inactive request that runs it at each start. */
int mur_schedule_keep(struct mur_schedule *schedule, MPI_Request *request);

#endif
