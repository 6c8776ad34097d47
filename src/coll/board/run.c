/* SPDX-License-Identifier: BSD-3-Clause */
/* Running collectives on the board: one after the other on each, blocking or as a task of the engine; and the choice
 * of the algorithm. */
#include "coll/board/run.h"

#include <stdlib.h>

#include "base/copy.h"
#include "base/counters.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/settings.h"
#include "coll/choose.h"
#include "datatype/layout.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "object/request.h"

enum {
    CHAIN_MOST = 128 << 10, /* bytes of a reduce; more are better added by all ranks at the same time */
    ADD_MOST = 64,          /* ranks of which each may add up what all others have, in scans */
};

void mur_board_pack(const void *buffer, MPI_Count count, struct mur_type *type, void *out)
{
    struct mur_cursor cursor;

    if (type->is_dense) {
        mur_copy(out, buffer, (size_t)(count * type->size));
        return;
    }
    mur_cursor_start(&cursor, buffer, count, type);
    mur_cursor_pack(&cursor, out, cursor.bytes);
}

void mur_board_unpack(const void *in, void *buffer, MPI_Count count, struct mur_type *type)
{
    struct mur_cursor cursor;

    if (type->is_dense) {
        mur_copy(buffer, in, (size_t)(count * type->size));
        return;
    }
    mur_cursor_start(&cursor, buffer, count, type);
    mur_cursor_unpack(&cursor, in, cursor.bytes);
}

void mur_board_write_typed(struct mur_board *board, const void *buffer, MPI_Count count, struct mur_type *type,
                           void *out)
{
    if (type->is_dense)
        mur_board_write(board, out, buffer, (size_t)(count * type->size));
    else
        mur_board_pack(buffer, count, type, out);
}

void mur_board_write_part(struct mur_board *board, const char *buffer, MPI_Count count, struct mur_type *type,
                          size_t at, size_t bytes, void *out)
{
    struct mur_cursor cursor;

    if (type->is_dense) {
        mur_board_write(board, out, buffer + at, bytes);
        return;
    }
    mur_cursor_start(&cursor, buffer, count, type);
    mur_cursor_seek(&cursor, at);
    mur_cursor_pack(&cursor, out, bytes);
}

typedef bool advance_function(struct mur_board_op *op);

static bool is_crowded(const struct mur_comm *comm)
{
    return comm->size > mur_settings.coll_flat;
}

/* What ranks have to tell each other is so many bytes of each. */
static advance_function *choose_small(const struct mur_comm *comm, size_t bytes)
{
    if (bytes <= MUR_BOARD_FEW)
        return is_crowded(comm) ? mur_board_tree_lines : mur_board_lines;
    if (bytes <= MUR_BOARD_SLOT)
        return is_crowded(comm) ? mur_board_tree_slots : mur_board_slots;
    return NULL;
}

/* Of gapless types only; all ranks give the same type and operation. */
static bool is_plain_reduction(const struct mur_collective *c)
{
    return c->from.type->is_dense && (!c->op->object.predefined || c->from.type->object.predefined);
}

/* Where ranks share cores, the ranks of a chain wait for each other once in several reduces. */
static bool is_for_chain(const struct mur_board *board, size_t bytes, size_t element)
{
    return bytes <= CHAIN_MOST && board->half > board->warm && mur_board_chain_fits(board, element);
}

static advance_function *choose_reduction(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t bytes = mur_blocks_bytes(&c->from), element = (size_t)c->from.type->size;
    advance_function *large = comm->size == 2 ? mur_board_reduce_pair : mur_board_reduce_ring, *small;

    if (!is_plain_reduction(c) || (c->kind == MUR_REDUCE_SCATTER && c->to.is_irregular))
        return NULL;
    small = choose_small(comm, c->kind == MUR_REDUCE_SCATTER ? bytes * (size_t)comm->size : bytes);
    if (small && is_crowded(comm) && comm->size > ADD_MOST && c->kind != MUR_REDUCE && c->kind != MUR_ALLREDUCE)
        return NULL;
    if (small)
        return small;
    if (mur_board_parts_stride(element) * (size_t)comm->size > comm->board->half)
        return NULL; /* an element of all ranks must fit */
    if (c->kind == MUR_SCAN || c->kind == MUR_EXSCAN)
        return mur_board_chain_fits(comm->board, element) ? mur_board_chain : NULL;
    if (!c->op->is_commutative)
        return c->kind == MUR_REDUCE_SCATTER ? NULL : mur_board_reduce_parts;
    if (c->kind == MUR_REDUCE_SCATTER || comm->size == 2)
        return large;
    if (c->kind == MUR_REDUCE && is_for_chain(comm->board, bytes, element))
        return mur_board_chain;
    return mur_board_parts_stride(bytes) * (size_t)comm->size <= comm->board->half ? mur_board_reduce_parts : large;
}

static size_t all_bytes(const struct mur_blocks *blocks, int ranks)
{
    return (size_t)(mur_blocks_count(blocks, ranks) * blocks->type->size);
}

/* Blocks that are of one size, too large for slots, and so many bytes in all. */
static advance_function *choose_blocks(const struct mur_comm *comm, size_t bytes)
{
    if (comm->board->channels)
        return mur_board_cells;
    return bytes <= MUR_BOARD_HALF_MAX ? mur_board_share : NULL;
}

/* What only the ends of each pair know. */
static advance_function *choose_irregular(const struct mur_collective *c, const struct mur_comm *comm)
{
    bool is_known = c->kind == MUR_GATHER || c->kind == MUR_SCATTER || c->kind == MUR_ALLTOALL;

    return is_known && comm->board->channels ? mur_board_cells : NULL;
}

static advance_function *choose(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t ranks = (size_t)comm->size, bytes;
    advance_function *small;

    if (!comm->board || !mur_settings.coll_board)
        return NULL;
    if (c->is_irregular)
        return choose_irregular(c, comm);
    switch (c->kind) {
    case MUR_BARRIER:
        return choose_small(comm, 0);
    case MUR_BCAST:
        bytes = mur_blocks_bytes(&c->to);
        if ((small = choose_small(comm, bytes)))
            return small;
        return ranks == 2 ? mur_board_cells : mur_board_stream;
    case MUR_ALLGATHER:
        if (!c->to.is_irregular && (small = choose_small(comm, mur_block_bytes(c))))
            return small;
        bytes = c->to.is_irregular ? all_bytes(&c->to, comm->size) : ranks * mur_block_bytes(c);
        if (ranks == 2)
            return mur_board_cells;
        if (bytes > MUR_BOARD_HALF_MAX)
            return ranks <= MUR_BOARD_HALF_MAX / 64 ? mur_board_share_slices : NULL;
        return c->to.is_irregular ? mur_board_share_irregular : mur_board_share;
    case MUR_GATHER:
        bytes = mur_block_bytes(c);
        return (small = choose_small(comm, bytes)) ? small : choose_blocks(comm, ranks * bytes);
    case MUR_SCATTER:
        bytes = ranks * mur_blocks_bytes(c->to.buffer == MPI_IN_PLACE ? &c->from : &c->to);
        return (small = choose_small(comm, bytes)) ? small : choose_blocks(comm, bytes);
    case MUR_ALLTOALL:
        bytes = ranks * mur_block_bytes(c);
        return (small = choose_small(comm, bytes)) ? small : choose_blocks(comm, ranks * bytes);
    case MUR_REDUCE:
    case MUR_ALLREDUCE:
    case MUR_REDUCE_SCATTER:
    case MUR_SCAN:
    case MUR_EXSCAN:
        return choose_reduction(c, comm);
    default:
        return NULL;
    }
}

static const char *name_of(advance_function *advance)
{
    return advance == mur_board_lines                                           ? "board, lines"
           : advance == mur_board_slots                                         ? "board, slots"
           : advance == mur_board_tree_lines || advance == mur_board_tree_slots ? "board, tree"
           : advance == mur_board_share || advance == mur_board_share_irregular ? "board, blocks"
           : advance == mur_board_share_slices                                  ? "board, slices"
           : advance == mur_board_stream                                        ? "board, pieces"
           : advance == mur_board_chain                                         ? "board, chain"
           : advance == mur_board_reduce_parts                                  ? "board, parts"
           : advance == mur_board_reduce_ring                                   ? "board, ring"
           : advance == mur_board_reduce_pair                                   ? "board, pair"
                                                                                : "board, cells";
}

bool mur_board_takes(const struct mur_collective *c, const struct mur_comm *comm)
{
    return choose(c, comm) != NULL;
}

/* Goes on if it is this operation's turn; true when it is complete. */
static bool go_on(struct mur_board_op *op)
{
    bool is_over;

    if (op->board->current != op->ticket || op->is_running)
        return false;
    op->is_running = true; /* users' functions run without the engine's lock, and other threads come by meanwhile */
    is_over = op->advance(op);
    op->is_running = false;
    op->board->current += is_over;
    if (is_over) {
        mur_engine_notify(); /* another thread's may rest until it is its turn */
        mur_board_look_back(op);
    }
    return is_over;
}

/* What an operation is, and what is new each time that it starts. */
static void describe(struct mur_board_op *op, const struct mur_collective *c, struct mur_comm *comm,
                     struct mur_board *board)
{
    op->c = *c;
    op->comm = comm;
    op->board = board;
    op->task.link = NULL;
    op->is_held = false;
}

/* Of one that outlives its call: the arrays lie right behind it. */
static void hold(struct mur_board_op *op)
{
    mur_hold_arrays(&op->c, &op->held, op + 1);
    mur_hold_retain(&op->c, &op->held);
    op->is_held = true;
}

static void begin(struct mur_board_op *op)
{
    mur_counters.board_collectives++;
    op->ticket = op->board->started++;
    op->advance = choose(&op->c, op->comm);
    if (__builtin_expect(mur_settings.coll_verbose, 0))
        if (op->comm->rank == 0)
            mur_choice_tell(&op->c, op->comm, name_of(op->advance), "ranks of one node");
    op->is_complete = 0;
    op->stage = op->step = op->next = 0;
    op->position = 0;
    op->error = MPI_SUCCESS;
    op->is_running = false;
    op->call = mur_board_call(op);
    mur_board_announce(op);
    if (__builtin_expect(mur_board_is_broken(op->board), 0))
        op->advance = mur_board_refuse;
}

static bool run_blocking(struct mur_task *task, bool *is_over)
{
    struct mur_board_op *op = (struct mur_board_op *)task; /* its first member */

    if (!go_on(op) && !mur_board_waits_in_vain(op))
        return false;
    *is_over = true;
    op->is_complete = 1;
    return true;
}

int mur_board_run(const struct mur_collective *c, struct mur_comm *comm)
{
    struct mur_board_op op;
    int polls = mur_wait_polls();

    describe(&op, c, comm, comm->board);
    begin(&op);
    for (int i = 0; !go_on(&op); i++) {
        if (i < polls) {
            mur_cpu_relax();
            if (i % 16 == 15)
                mur_progress();
            continue;
        }
        op.task.run = run_blocking;
        mur_task_add(&op.task);
        mur_wait_for(&op.is_complete);
        break;
    }
    return op.error;
}

static bool run_nonblocking(struct mur_task *task, bool *is_over)
{
    struct mur_board_op *op = (struct mur_board_op *)task;
    struct mur_request *request = op->request;

    if (!go_on(op) && !mur_board_waits_in_vain(op))
        return false;
    *is_over = true;
    request->result.error = op->error;
    if (op->is_held)
        mur_hold_release(&op->c, &op->held);
    free(op);
    mur_request_complete(request);
    return true;
}

int mur_board_start(const struct mur_collective *c, struct mur_comm *comm, MPI_Request *request)
{
    struct mur_held held;
    struct mur_board *board = mur_board_second(comm->board);
    struct mur_board_op *op = board ? malloc(sizeof *op + mur_hold_measure(c, comm, &held)) : NULL;
    struct mur_request *started = op ? mur_request_create(MUR_COLLECTIVE, comm, NULL) : NULL;
    bool is_over = false;

    if (!started) {
        free(op);
        return mur_collective_no_memory(comm);
    }
    describe(op, c, comm, board);
    op->held = held;
    begin(op);
    started->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    op->request = started;
    op->task.run = run_nonblocking;
    *request = (MPI_Request)started;
    run_nonblocking(&op->task, &is_over);
    if (is_over)
        return MPI_SUCCESS;
    hold(op);
    mur_task_add(&op->task);
    return MPI_SUCCESS;
}

/* ---- persistent operations ---- */

static bool run_kept(struct mur_task *task, bool *is_over)
{
    struct mur_board_op *op = (struct mur_board_op *)task;

    if (!go_on(op) && !mur_board_waits_in_vain(op))
        return false;
    *is_over = true;
    op->request->result.error = op->error;
    mur_request_complete(op->request);
    return true;
}

static int start_kept(struct mur_request *request)
{
    struct mur_board_op *op = request->extra;
    int looks = mur_wait_polls() ? 4 : 0;
    bool is_over = false;

    begin(op);
    run_kept(&op->task, &is_over);
    for (int i = 0; i < looks && !is_over; i++) { /* what small data need on cores of their own */
        mur_cpu_relax();
        run_kept(&op->task, &is_over);
    }
    if (!is_over)
        mur_task_add(&op->task);
    return MPI_SUCCESS;
}

static void free_kept(struct mur_request *request)
{
    struct mur_board_op *op = request->extra;

    mur_hold_release(&op->c, &op->held);
    mur_board_close(op->board);
}

static const struct mur_request_kind persistent = {
    .name = "a persistent collective operation", .start = start_kept, .destroy = free_kept, .is_collective = true};

/* Rank 0 provides the board and tells the others; 0: there is none. */
static int share_board(struct mur_comm *comm, uint64_t *token)
{
    const struct mur_collective tell = {.kind = MUR_BCAST,
                                        .to = mur_blocks_regular(token, 1, mur_type_find(MPI_UINT64_T))};

    *token = 0;
    if (comm->rank == 0)
        mur_board_allocate(comm->size, comm->board, token);
    return mur_board_run(&tell, comm);
}

int mur_board_keep(const struct mur_collective *c, struct mur_comm *comm, MPI_Request *request)
{
    struct mur_request *made;
    struct mur_board *board;
    struct mur_board_op *op;
    struct mur_held held;
    uint64_t token;
    size_t bytes;
    int rc = share_board(comm, &token);

    if (rc || !token)
        return rc;
    board = mur_board_open(mur_engine.transport->shared(token), comm->rank, comm->size, comm->processes);
    bytes = sizeof *op + mur_hold_measure(c, comm, &held);
    made = board ? mur_request_create_composite(&persistent, comm, NULL, bytes, true) : NULL;
    if (!made) {
        mur_board_close(board);
        return mur_collective_no_memory(comm);
    }
    op = made->extra;
    describe(op, c, comm, board);
    op->held = held;
    hold(op);
    op->request = made;
    op->task.run = run_kept;
    made->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    *request = (MPI_Request)made;
    return MPI_SUCCESS;
}
