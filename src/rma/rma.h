/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication (MPI-5.0 §12), the core below the MPI_Win functions.
 *
 *   create.c      making windows: the memory that the ranks of a node share, and who reaches whom by which way
 *   lock.c        passive target: locks, flushes
 *   epoch.c       active target: fences, post, start, complete, wait; and what is an error when
 *   access.c      put and get
 *   accumulate.c  the operations that compute
 *   attach.c      memory of dynamic windows
 *   assist.c      small operations by the target's core
 *   joint.c       large operations by both sides' cores, from and to memory that both see
 *   help.c        ... or that one of them does not
 *   element.c     data as a sequence of basic elements
 *   message.c     operations as messages: the side that asks
 *   serve.c       ... and the side that does it
 *   bulk.c        their large dense data, without copies
 *   look.c        describing what a rank waits for
 *
 * All of it runs with the engine's lock held. Places are bytes from the start of a rank's part of the window; in a
 * dynamic window, addresses. */
#ifndef MUR_RMA_RMA_H
#define MUR_RMA_RMA_H

#include "datatype/layout.h"
#include "datatype/reduce.h"
#include "engine/engine.h"
#include "object/comm.h"
#include "object/op.h"
#include "object/request.h"
#include "object/type.h"
#include "object/win.h"

struct mur_info;

/* What is waited for at a rank of a window, or, with MUR_RMA_ALL, at several. */
enum { MUR_RMA_ALL = -1 };
struct mur_rma_wait {
    enum mur_wait_kind kind;
    struct mur_win *win;
    int rank;
    int holder; /* of a lock, if it is known */
};
mur_describer mur_rma_describe;
void mur_rma_describe_holds(void);

/* Between two looks at it. */
static inline void mur_rma_rest(struct mur_waiter *waiter, enum mur_wait_kind kind, struct mur_win *win, int rank)
{
    if (mur_progress())
        mur_waiter_moved(waiter);
    else
        mur_waiter_idle(waiter, mur_rma_describe,
                        &(struct mur_rma_wait){.kind = kind, .win = win, .rank = rank, .holder = MUR_LOOK_NONE});
}

/* ---- create.c, attach.c ---- */

/* Collective over `comm`. *base_p is where this rank's memory is; given for MPI_WIN_FLAVOR_CREATE, else set. Where the
 * call has failed already with `refused` or `failed`, all get an error. */
int mur_rma_create(struct mur_comm *comm, int flavor, MPI_Aint size, MPI_Aint unit, const struct mur_info *info,
                   int refused, void **base_p, struct mur_win **win_p);
int mur_rma_free(struct mur_win *win, int failed);
void mur_rma_set_hints(struct mur_win *win, const struct mur_info *info);
int mur_rma_get_hints(const struct mur_win *win, struct mur_info *info);

int mur_rma_attach(struct mur_win *win, void *base, MPI_Aint size);
int mur_rma_detach(struct mur_win *win, const void *base);

/* Whether the memory is attached at the rank, as far as this process can see. */
bool mur_rma_is_attached(const struct mur_win *win, int rank, uint64_t start, uint64_t bytes);

/* ---- epoch.c, lock.c ---- */

enum {
    MUR_SYNC_FLUSH,
    MUR_SYNC_FLUSHED,
    MUR_SYNC_LOCK,
    MUR_SYNC_LOCK_SHARED,
    MUR_SYNC_GRANTED,
    MUR_SYNC_UNLOCK,
    MUR_SYNC_UNLOCK_SHARED,
    MUR_SYNC_POST,
    MUR_SYNC_COMPLETE,
    MUR_SYNC_HELP
};

int mur_rma_fence(struct mur_win *win, int assertion);
int mur_rma_post(struct mur_win *win, struct mur_group *group, int assertion);
int mur_rma_start(struct mur_win *win, struct mur_group *group, int assertion);
int mur_rma_complete(struct mur_win *win);
int mur_rma_wait(struct mur_win *win);
int mur_rma_test(struct mur_win *win, int *flag);

int mur_rma_lock(struct mur_win *win, int rank, bool is_exclusive, int assertion);
int mur_rma_unlock(struct mur_win *win, int rank);
/* Wakes the ranks of the node, some of which wait for a lock. */
void mur_rma_rouse(struct mur_win *win);

int mur_rma_lock_all(struct mur_win *win, int assertion);
int mur_rma_unlock_all(struct mur_win *win);

/* `rank` may be MUR_RMA_ALL. Local: the buffers here may be used again. */
int mur_rma_flush(struct mur_win *win, int rank, bool is_local);

/* Completes everything that has gone by message to a rank (MUR_RMA_ALL: to all), also there. */
int mur_rma_settle(struct mur_win *win, int rank);

/* MPI_SUCCESS where no access epoch is under way: another may begin. */
int mur_rma_check_idle(const struct mur_win *win);

/* What it takes to start an operation on a rank where target->is_open and win->is_open do not say yes already. */
int mur_rma_open(struct mur_win *win, int rank);

/* Sends a frame about synchronisation; answers one. */
void mur_rma_tell(struct mur_win *win, int rank, int what, int flags);
void mur_rma_lock_asked(struct mur_win *win, int rank, bool is_exclusive);
void mur_rma_unlock_asked(struct mur_win *win, int rank, bool is_exclusive);

/* A rank has something to be done at the end of the epoch. */
int mur_rma_touch(struct mur_win *win, int rank);

/* ---- operations ---- */

/* The arguments of MPI_Put and all its like, checked by the entry points. What an operation has not is NULL. */
struct mur_rma_arguments {
    struct mur_win *win;
    int rank;
    MPI_Aint displacement;
    MPI_Count target_count;
    struct mur_type *target_type;
    const void *origin;
    MPI_Count origin_count;
    struct mur_type *origin_type;
    void *result;
    MPI_Count result_count;
    struct mur_type *result_type;
    struct mur_op *op;
    const void *compare;
    /* set by mur_rma_locate */
    uint64_t place; /* of the target type's address: displacement times unit */
};

/* Request: NULL for the forms without one. */
int mur_rma_put(struct mur_rma_arguments *arguments, struct mur_request **request_p);
int mur_rma_get(struct mur_rma_arguments *arguments, struct mur_request **request_p);
int mur_rma_accumulate(struct mur_rma_arguments *arguments, struct mur_request **request_p);
int mur_rma_get_accumulate(struct mur_rma_arguments *arguments, struct mur_request **request_p);
int mur_rma_fetch_and_op(struct mur_rma_arguments *arguments);
int mur_rma_compare_and_swap(struct mur_rma_arguments *arguments);

/* Checks the rank's epoch and that the memory lies in its part, and finds the place. */
int mur_rma_locate(struct mur_rma_arguments *arguments);

/* Reads or writes another rank's memory by copies: stretches here, and as many bytes at places there. An error where
 * the system does not find them. */
int mur_rma_copy(struct mur_win *win, int rank, bool is_write, const struct iovec *local, int local_count,
                 const struct iovec *places, int place_count);

/* ---- element.c ---- */

enum { MUR_RMA_ELEMENT_MAX = 64 }; /* bytes of the largest basic element, a pair of two numbers of 16 bytes */

/* What an accumulate computes with: one kind of basic element. */
struct mur_rma_leaf {
    struct mur_type *type;
    enum mur_reduction reduction;
    mur_reduce_function *kernel; /* NULL: replace, no-op, unnamed pairs */
    uint32_t bytes;              /* of one element, as the kernels see it: of a pair, with its gaps */
    bool is_pair;
    uint32_t value_bytes, index_offset, index_bytes; /* of a pair */
};

/* The leaf of a type, or an error where it has several. */
int mur_rma_leaf_find(struct mur_type *type, const char *name, struct mur_rma_leaf *leaf);

/* The same for an operation on it, which must be one for one-sided communication. */
int mur_rma_leaf_set_op(struct mur_rma_leaf *leaf, const struct mur_op *op);
void mur_rma_leaf_fill(struct mur_rma_leaf *leaf, struct mur_type *type, enum mur_reduction reduction);

/* A buffer as a run of elements. Plain ones are bytes, which the cursor finds; pairs are found one by one, since
 * their gaps belong to others. Positions count bytes of elements one behind the other, pairs with their gaps. */
struct mur_rma_stream {
    struct mur_cursor cursor;
    struct mur_type *type; /* a reference where `owns` */
    const struct mur_rma_leaf *leaf;
    MPI_Count *places; /* of pairs: [per_type] where the elements of one type lie; owned, NULL for plain ones */
    MPI_Count per_type;
    MPI_Count first; /* the one place of a lone pair */
    size_t position, bytes;
};

int mur_rma_stream_start(struct mur_rma_stream *stream, const void *buffer, MPI_Count count, struct mur_type *type,
                         const struct mur_rma_leaf *leaf);
void mur_rma_stream_end(struct mur_rma_stream *stream);
size_t mur_rma_stream_pack(struct mur_rma_stream *stream, void *out, size_t bytes);
size_t mur_rma_stream_unpack(struct mur_rma_stream *stream, const void *in, size_t bytes);
int mur_rma_stream_vectors(struct mur_rma_stream *stream, struct iovec *vectors, int max, size_t bytes);

/* Back to an earlier position. */
void mur_rma_stream_seek(struct mur_rma_stream *stream, size_t position);

/* ---- accumulate.c: what all ways come to ---- */

/* At elements that lie in these stretches of places of a rank: out gets what was there (unless NULL), then it is
 * combined with in. Atomic for each element. */
int mur_rma_apply(struct mur_win *win, int rank, const struct iovec *places, int place_count,
                  const struct mur_rma_leaf *leaf, const void *in, void *out);

/* The same for comparing: *out gets what was there, which becomes `in` if it is `compare`. */
int mur_rma_apply_swap(struct mur_win *win, int rank, uint64_t place, size_t bytes, const void *compare, const void *in,
                       void *out);

/* ---- message.c, serve.c ---- */

enum mur_rma_kind { MUR_RMA_PUT, MUR_RMA_GET, MUR_RMA_ACCUMULATE, MUR_RMA_GET_ACCUMULATE, MUR_RMA_SWAP };

/* An operation's piece: a header, then runs of target memory, then data if it brings some. */
struct mur_rma_access {
    uint64_t id;    /* the operation at the side that asks; 0: no answer is wanted */
    uint32_t bytes; /* of data that is brought, or asked for */
    uint16_t runs;
    uint8_t kind;      /* enum mur_rma_kind */
    uint8_t reduction; /* enum mur_reduction */
    uint16_t value;    /* basic type of the elements, or of a pair's value, */
    uint16_t index;    /* and of its index, where the pair has no name; else 0 */
    uint32_t is_apart; /* 1: the data of the one run come, or shall come, in a bulk frame of their own (bulk.c) */
};

/* Stretches of equal size at equal distances. */
struct mur_rma_run {
    uint64_t place;
    uint32_t bytes, count;
    int64_t stride;
};

/* What comes back, before the data. */
struct mur_rma_answer {
    uint64_t id;
    uint32_t bytes;    /* that were asked for; after an error they do not follow */
    int32_t error;     /* class */
    uint32_t is_apart; /* 1: they come in a bulk frame of their own */
    uint32_t unused;
};

int mur_rma_send(enum mur_rma_kind kind, struct mur_rma_arguments *arguments, const struct mur_rma_leaf *leaf,
                 struct mur_request **request_p);

/* All that was started to the rank is on its way there, in order. */
bool mur_rma_is_on_its_way(const struct mur_win *win, int rank);

/* Everything that was started to the rank has left, its buffers included, and what was asked for has come. */
bool mur_rma_has_left(const struct mur_win *win, int rank);
void mur_rma_queue_free(struct mur_rma_queue *queue);

/* Whether the place is in this rank's part. */
bool mur_rma_is_inside(const struct mur_win *win, uint64_t place, uint64_t bytes);

/* So much of the result of an operation that waits for an answer is where it belongs. */
void mur_rma_answered(struct mur_peer *peer, uint64_t id, uint32_t bytes);

/* ---- bulk.c ---- */

enum mur_rma_direction { MUR_BULK_DATA, MUR_BULK_ANSWER };

/* Whether so much dense data goes apart. */
bool mur_rma_is_bulk(const struct mur_peer *peer, size_t bytes);

/* The next data of that rank, in that direction, belong at `place` (NULL: nowhere); of an answer, `id` names the
 * operation. False: others have been announced and not come. */
bool mur_rma_bulk_expect(struct mur_win *win, int rank, enum mur_rma_direction direction, char *place, uint32_t bytes,
                         uint64_t id);

/* Sends data that an access has announced; it must stay until sent(argument). False: no room now. */
bool mur_rma_bulk_send(const struct mur_win *win, struct mur_peer *peer, const void *data, uint32_t bytes,
                       mur_sent_function *sent, void *argument);

/* Sends, now or when there is room, data of the window that an answer has announced. */
void mur_rma_bulk_answer(const struct mur_win *win, struct mur_peer *peer, const char *data, uint32_t bytes);
void mur_rma_bulk_setup(void);

/* One stretch of this rank's memory, at places that are looked at first; `in` and `out` are NULL where the operation
 * has no such data, `in` of a swap is what is compared and what is stored. False: the stretch is not part of the
 * window. */
bool mur_rma_perform(struct mur_win *win, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf, uint64_t place,
                     size_t bytes, const unsigned char *in, unsigned char *out);

/* ---- assist.c ---- */

struct mur_transport;

/* This process's mailbox, for others of its node: a token; 0: there is no memory for it. */
uint64_t mur_rma_mailbox_open(void);

/* Lets the target perform an operation on dense data of at most MUR_MAILBOX_DATA bytes, now. False: nothing has
 * happened.
 */
bool mur_rma_assist(const struct mur_rma_arguments *arguments, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                    size_t bytes, int *rc);

/* ---- joint.c ---- */

/* Performs an operation on dense data, with the target if that comes to it in time. False: not now; nothing has
 * happened. */
bool mur_rma_joint(const struct mur_rma_arguments *arguments, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                   size_t bytes, int *rc);

/* The origin's way with a piece of an operation on dense data. */
int mur_rma_do_piece(const struct mur_rma_arguments *arguments, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                     uint64_t offset, size_t bytes);

/* ---- help.c ---- */

/* Performs an operation on dense data together with the target. False: not now; nothing has happened. */
bool mur_rma_share(const struct mur_rma_arguments *arguments, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                   size_t bytes, int *rc);
/* False: the token names no request for help of this peer's to this process. */
bool mur_rma_help_asked(struct mur_peer *peer, uint32_t context, uint64_t token);

int mur_rma_setup(void);
void mur_rma_serve_setup(void);

#endif
