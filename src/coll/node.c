/* SPDX-License-Identifier: BSD-3-Clause */
/* Running collectives on the board: one after the other on each, blocking or as a task of the engine; and the choice
 * of the algorithm. */
#include "coll/node.h"

#include <stdlib.h>

#include "base/copy.h"
#include "base/error.h"
#include "datatype/layout.h"
#include "engine/engine.h"
#include "object/request.h"

void mur_node_pack(const void *buffer, MPI_Count count, struct mur_type *type, void *out)
{
    struct mur_cursor cursor;

    if (type->is_dense) {
        mur_copy(out, buffer, (size_t)(count * type->size));
        return;
    }
    mur_cursor_start(&cursor, buffer, count, type);
    mur_cursor_pack(&cursor, out, cursor.bytes);
}

void mur_node_unpack(const void *in, void *buffer, MPI_Count count, struct mur_type *type)
{
    struct mur_cursor cursor;

    if (type->is_dense) {
        mur_copy(buffer, in, (size_t)(count * type->size));
        return;
    }
    mur_cursor_start(&cursor, buffer, count, type);
    mur_cursor_unpack(&cursor, in, cursor.bytes);
}

typedef bool advance_function(struct mur_node_op *op);

/* Reductions of predefined operations on gapless types only: those are the same at all ranks. */
static bool is_plain_reduction(const struct mur_collective *c)
{
    return c->op->object.predefined && c->from.type->is_dense && c->from.type->object.predefined;
}

/* For few ranks system calls that copy from buffer to buffer are cheaper than a second copy. */
enum { PULL_RANKS = 2, PULL_BYTES = 32 << 10, BLOCK_PULL_BYTES = 8 << 10 };

static bool pulls(const struct mur_comm *comm, size_t bytes)
{
    return comm->size <= PULL_RANKS && bytes >= PULL_BYTES;
}

static advance_function *choose_reduction(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t bytes = mur_blocks_bytes(&c->from), all = bytes * (size_t)comm->size;

    if (!is_plain_reduction(c))
        return NULL;
    if (c->kind == MUR_REDUCE_SCATTER) {
        if (c->to.is_irregular)
            return NULL;
        if (all <= MUR_BOARD_SLOT)
            return mur_node_slots;
        return pulls(comm, all) ? mur_node_pull : mur_node_reduce_ring;
    }
    if (bytes <= MUR_BOARD_SLOT)
        return mur_node_slots;
    if (c->kind != MUR_ALLREDUCE && c->kind != MUR_REDUCE)
        return NULL;
    if (c->kind == MUR_ALLREDUCE && pulls(comm, bytes))
        return mur_node_pull;
    return mur_node_parts_stride(bytes) * (size_t)comm->size <= comm->board->half ? mur_node_reduce_parts
                                                                                  : mur_node_reduce_ring;
}

static advance_function *choose(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t ranks = (size_t)comm->size, bytes;

    if (!comm->board || c->is_irregular)
        return NULL;
    switch (c->kind) {
    case MUR_BARRIER:
        return mur_node_slots;
    case MUR_BCAST:
        bytes = mur_blocks_bytes(&c->to);
        if (bytes <= MUR_BOARD_SLOT)
            return mur_node_slots;
        return ranks > 2 ? mur_node_stream : NULL; /* for two, copying from both ends is faster */
    case MUR_GATHER:
        bytes = mur_block_bytes(c);
        return bytes <= MUR_BOARD_SLOT ? mur_node_slots : ranks * bytes <= comm->board->half ? mur_node_share : NULL;
    case MUR_ALLGATHER:
        if (c->to.is_irregular)
            return NULL;
        bytes = mur_block_bytes(c);
        if (ranks <= PULL_RANKS && bytes >= BLOCK_PULL_BYTES && ranks * bytes <= comm->board->half)
            return mur_node_pull_blocks;
        return bytes <= MUR_BOARD_SLOT ? mur_node_slots : ranks * bytes <= comm->board->half ? mur_node_share : NULL;
    case MUR_SCATTER:
        bytes = ranks * mur_blocks_bytes(c->to.buffer == MPI_IN_PLACE ? &c->from : &c->to);
        return bytes <= MUR_BOARD_SLOT ? mur_node_slots : bytes <= comm->board->half ? mur_node_share : NULL;
    case MUR_ALLTOALL:
        bytes = ranks * mur_block_bytes(c);
        if (ranks <= PULL_RANKS && bytes >= ranks * BLOCK_PULL_BYTES && ranks * bytes <= comm->board->half)
            return mur_node_pull_blocks;
        return bytes <= MUR_BOARD_SLOT ? mur_node_slots : ranks * bytes <= comm->board->half ? mur_node_share : NULL;
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

bool mur_node_takes(const struct mur_collective *c, const struct mur_comm *comm)
{
    return choose(c, comm) != NULL;
}

/* Goes on if it is this operation's turn; true when it is complete. */
static bool go_on(struct mur_node_op *op)
{
    if (op->board->current != op->ticket || !op->advance(op))
        return false;
    op->board->current++;
    return true;
}

static void begin(struct mur_node_op *op, const struct mur_collective *c, struct mur_comm *comm)
{
    op->c = *c;
    op->comm = comm;
    op->board = comm->board;
    op->ticket = comm->board->started++;
    op->advance = choose(c, comm);
    op->is_complete = 0;
    op->stage = op->step = op->next = 0;
    op->position = 0;
    op->task.link = NULL;
}

static bool run_blocking(struct mur_task *task, bool *is_over)
{
    struct mur_node_op *op = (struct mur_node_op *)task; /* its first member */

    if (!go_on(op))
        return false;
    *is_over = true;
    op->is_complete = 1;
    return true;
}

int mur_node_run(const struct mur_collective *c, struct mur_comm *comm)
{
    struct mur_node_op op;
    int polls = mur_wait_polls();

    begin(&op, c, comm);
    for (int i = 0; !go_on(&op); i++) {
        if (i < polls) {
            mur_wait_relax();
            if (i % 16 == 15)
                mur_progress();
            continue;
        }
        op.task.run = run_blocking;
        mur_task_add(&op.task);
        mur_wait_for(&op.is_complete);
        break;
    }
    return MPI_SUCCESS;
}

static void release(struct mur_node_op *op)
{
    if (op->c.from.type)
        mur_type_release(op->c.from.type);
    if (op->c.to.type)
        mur_type_release(op->c.to.type);
    free(op);
}

static bool run_nonblocking(struct mur_task *task, bool *is_over)
{
    struct mur_node_op *op = (struct mur_node_op *)task;
    struct mur_request *request = op->request;

    if (!go_on(op))
        return false;
    *is_over = true;
    release(op);
    mur_request_complete(request);
    return true;
}

int mur_node_start(const struct mur_collective *c, struct mur_comm *comm, MPI_Request *request)
{
    struct mur_node_op *op = malloc(sizeof *op);
    struct mur_request *started = op ? mur_request_create(MUR_COLLECTIVE, comm, NULL) : NULL;
    bool is_over = false;

    if (!started) {
        free(op);
        return mur_error(MPI_ERR_NO_MEM, "no memory for a collective operation");
    }
    begin(op, c, comm);
    if (c->from.type)
        mur_type_retain(c->from.type);
    if (c->to.type)
        mur_type_retain(c->to.type);
    started->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    op->request = started;
    op->task.run = run_nonblocking;
    *request = (MPI_Request)started;
    run_nonblocking(&op->task, &is_over);
    if (!is_over)
        mur_task_add(&op->task);
    return MPI_SUCCESS;
}
