/* SPDX-License-Identifier: BSD-3-Clause */
/* A request: an operation that was started and can be waited for. */
#ifndef MUR_OBJECT_REQUEST_H
#define MUR_OBJECT_REQUEST_H

#include "base/pool.h"
#include "engine/engine.h"
#include "match/match.h"
#include "mpi.h"

struct mur_comm;
struct mur_cursor;
struct mur_request;
struct mur_transfer;
struct mur_type;

/* The result of an operation, before it becomes an MPI_Status. */
struct mur_result {
    int source;
    int tag;
    int error; /* MPI_SUCCESS or a code */
    bool is_cancelled;
    MPI_Count bytes; /* received */
};

enum mur_operation { MUR_SEND, MUR_RECEIVE, MUR_COLLECTIVE, MUR_FINISHED, MUR_COMPOSITE };

/* How requests that consist of others behave: persistent and partitioned ones, combined sends and receives, those that
 * users complete themselves. What is NULL is not possible, or not needed. */
struct mur_request_kind {
    const char *name;                                              /* for messages: "a partitioned send" */
    int (*start)(struct mur_request *request);                     /* MPI_Start */
    int (*query)(struct mur_request *request, MPI_Status *status); /* fills the status; else `result` is it */
    int (*cancel)(struct mur_request *request);
    /* Called once when a complete one is finished or freed, or a freed one completes; its error is that of the call. */
    int (*conclude)(struct mur_request *request);
    void (*destroy)(struct mur_request *request);       /* frees what `extra` holds on to */
    bool (*lingers)(const struct mur_request *request); /* freed while inactive, it stays until completed internally */
    bool is_kept_while_active;                          /* must not be freed before it is waited for, */
    bool is_collective;                                 /* nor, where checks are strict, one of these */
};

/* One cache line for what matching and waiting touch, two more for what every request has, then the rest. */
struct mur_request {
    struct mur_object object;
    struct mur_match_node match; /* of a receive that is posted */
    uint8_t is_complete;         /* set once, by progress; everything in `result` is final then */
    uint8_t operation;           /* enum mur_operation */
    bool is_detached;            /* MPI_Request_free was called: the code that completes it frees it */
    bool is_dense;               /* data is one run of bytes at `buffer` */
    bool is_posted;              /* of a receive: `match` is in the table of posted receives */
    bool is_persistent;          /* completing makes it inactive */
    bool is_active;              /* false: like a null request, to be started again */
    char *buffer;
    size_t bytes;          /* to send, or room to receive */
    MPI_Count count;       /* elements at `buffer` */
    struct mur_type *type; /* a reference */
    struct mur_comm *comm; /* a reference; the communicator whose error handler applies */
    struct mur_peer *peer; /* NULL while not known */
    /* A request that is part of another calls on_complete when it is complete, and is then freed. */
    void (*on_complete)(struct mur_request *part);
    const struct mur_request_kind *kind; /* of a request that has parts */
    struct mur_result result;
    struct mur_cursor *cursor;        /* of piecewise transfers; owned */
    struct mur_transfer *transfer;    /* of a large message that both sides copy */
    struct mur_task task;             /* of large messages */
    struct mur_backlog_entry backlog; /* of a send that found no room */
    uint64_t peer_request;            /* the other side's request, as it named it; of a send 0 until it is matched */
    uint64_t transfer_token;
    uint64_t cancel;           /* of a send: the number of the CANCEL that is not answered; else 0 (pt2pt/cancel.c) */
    uint64_t accepted;         /* when a large message that is timed was matched, in nanoseconds; else 0 */
    int way;                   /* and how it comes */
    size_t moved;              /* bytes of a piecewise transfer that have passed */
    int pieces;                /* sent and not acknowledged yet */
    struct mur_frame frame;    /* of a queued send */
    struct mur_request *owner; /* whose part it is */
    void *extra;               /* of a request that has parts; owned */
    int parts;                 /* not complete yet */
};
_Static_assert(offsetof(struct mur_request, backlog) == 192, "what every request has is three lines");

extern struct mur_pool mur_request_pool;

/* The one request that all operations return which were complete at once and have no result to tell. */
extern struct mur_request *mur_request_finished;

int mur_request_setup(void);

static inline struct mur_request *mur_request_find(MPI_Request handle)
{
    return mur_object_find(handle, MUR_KIND_REQUEST);
}

static inline struct mur_request *mur_request_of_task(struct mur_task *task)
{
    return (struct mur_request *)(void *)((char *)task - offsetof(struct mur_request, task));
}

/* A request for an operation on `comm`, with references to it and to the type (which may be NULL). */
struct mur_request *mur_request_create(int operation, struct mur_comm *comm, struct mur_type *type);

/* A request with parts; `extra_bytes` zeroed bytes for `extra`. Inactive if it is persistent. */
struct mur_request *mur_request_create_composite(const struct mur_request_kind *kind, struct mur_comm *comm,
                                                 struct mur_type *type, size_t extra_bytes, bool is_persistent);

/* Makes a started request part of another: on_complete(part) is called once, now or later; part->owner is the other. */
void mur_request_join(struct mur_request *part, struct mur_request *owner,
                      void (*on_complete)(struct mur_request *part));

/* MPI_Request_free, MPI_Cancel. */
int mur_request_free(struct mur_request *request);

/* Nobody will wait for it: it goes its way, and then it is gone. */
void mur_request_detach(struct mur_request *request);
int mur_request_cancel(struct mur_request *request);

/* Makes progress until no operation on the communicator is under way. */
void mur_request_drain(const struct mur_comm *comm);

/* Writes the status of a complete request without finishing it. */
int mur_request_query(struct mur_request *request, MPI_Status *status);

/* Marks it complete; frees it where nobody will wait for it any more. */
void mur_request_complete(struct mur_request *request);

/* After completion: hands out the result, frees the request (makes a persistent one inactive), and returns the
 * operation's error. `status` may be
 * MPI_STATUS_IGNORE. */
int mur_request_finish(struct mur_request *request, MPI_Status *status);

/* What a null or inactive request yields (MPI-5.0 §3.7.3). */
void mur_status_set_empty(MPI_Status *status);

/* MPI_Status is eight ints (MPI-5.0 §20): three public, five reserved; ours hold the byte count and the flag. */
static inline void mur_status_set(MPI_Status *status, const struct mur_result *result)
{
    if (!status)
        return;
    status->MPI_SOURCE = result->source;
    status->MPI_TAG = result->tag;
    __builtin_memcpy(&status->MPI_internal[0], &result->bytes, sizeof result->bytes);
    status->MPI_internal[2] = result->is_cancelled;
}

static inline MPI_Count mur_status_bytes(const MPI_Status *status)
{
    MPI_Count bytes;

    __builtin_memcpy(&bytes, &status->MPI_internal[0], sizeof bytes);
    return bytes;
}

#endif
