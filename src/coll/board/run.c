/* SPDX-License-Identifier: BSD-3-Clause */
/* Running collectives on the board: one after the other on each, blocking or as a task of the engine. */
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
#include "node/node.h"
#include "object/look.h"
#include "object/request.h"

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
static void describe(struct mur_board_op *op, const struct mur_algorithm *algorithm, const struct mur_collective *c,
                     struct mur_comm *comm, struct mur_board *board)
{
    op->algorithm = algorithm;
    op->c = *c;
    op->comm = comm;
    op->board = board;
    op->request = NULL;
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
    op->advance = op->algorithm->advance;
    mur_algorithm_uses[op->algorithm - mur_algorithms]++;
    if (__builtin_expect(mur_settings.coll_verbose, 0))
        if (op->comm->rank == 0)
            mur_choose_tell(&op->c, op->comm, op->algorithm->name, "ranks of one node");
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

/* Whom it lacks: those who have not begun it. If all have, it waits for what is under way. */
static void describe_op(const void *what)
{
    const struct mur_board_op *op = what;
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_COLLECTIVE, op->comm);

    if (!op->request)
        wait->number = op->comm->collectives;
    for (int rank = 0; rank < op->board->size; rank++)
        if (!mur_board_has_begun(op, rank))
            mur_rest_miss(wait, op->board->processes[rank]);
}

int mur_board_run(const struct mur_algorithm *algorithm, const struct mur_collective *c, struct mur_comm *comm)
{
    struct mur_board_op op;
    int polls = mur_wait_polls();

    describe(&op, algorithm, c, comm, comm->board);
    begin(&op);
    for (int i = 0; !go_on(&op); i++) {
        if (i < polls) {
            mur_cpu_relax();
            if (i % 16 == 15)
                mur_progress();
            continue;
        }
        op.task.run = run_blocking;
        mur_engine_task_add(&op.task);
        mur_wait_for(&op.is_complete, describe_op, &op);
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

int mur_board_start(const struct mur_algorithm *algorithm, const struct mur_collective *c, struct mur_comm *comm,
                    MPI_Request *request)
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
    describe(op, algorithm, c, comm, board);
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
    mur_engine_task_add(&op->task);
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

bool mur_board_describe(const struct mur_request *request)
{
    for (const struct mur_task *task = mur_engine.tasks; task; task = task->next)
        if ((task->run == run_nonblocking || task->run == run_kept) &&
            ((const struct mur_board_op *)(const void *)task)->request == request) {
            describe_op(task);
            return true;
        }
    return false;
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
        mur_engine_task_add(&op->task);
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
    return mur_board_run(mur_choose_best_on_board(&tell, comm), &tell, comm);
}

int mur_board_keep(const struct mur_algorithm *algorithm, const struct mur_collective *c, struct mur_comm *comm,
                   MPI_Request *request)
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
    board = mur_board_open(mur_node_shared(token), comm->rank, comm->size, comm->processes);
    bytes = sizeof *op + mur_hold_measure(c, comm, &held);
    made = board ? mur_request_create_composite(&persistent, comm, NULL, bytes, true) : NULL;
    if (!made) {
        mur_board_close(board);
        return mur_collective_no_memory(comm);
    }
    op = made->extra;
    describe(op, algorithm, c, comm, board);
    op->held = held;
    hold(op);
    op->request = made;
    op->task.run = run_kept;
    made->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    *request = (MPI_Request)made;
    return MPI_SUCCESS;
}
