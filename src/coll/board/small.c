/* SPDX-License-Identifier: BSD-3-Clause */
/* Small collectives: every rank posts what it has in its line or slot, looks at those that it needs, and is done. One
 * step, whatever the number of ranks, so that a core which ranks share changes hands once (among many ranks:
 * tree.c). Reductions go through the ranks in their order at every rank: all get the same bits. */
#include "coll/board/run.h"

#include "base/copy.h"
#include "datatype/layout.h"

unsigned char *mur_board_data(const struct mur_board_op *op, int rank)
{
    if (op->depth == MUR_BOARD_DEPTH)
        return mur_board_line(op->board, rank, op->number)->data;
    return mur_board_slot(op->board, rank, op->number);
}

void mur_board_write_own(struct mur_board_op *op)
{
    const struct mur_collective *c = &op->c;
    const struct mur_blocks *from = &c->from, *to = &c->to;
    unsigned char *out = mur_board_data(op, op->board->rank);
    bool is_root = op->board->rank == c->root, is_in_place = from->buffer == MPI_IN_PLACE;

    switch (c->kind) {
    case MUR_BCAST:
        if (is_root)
            mur_board_pack(to->buffer, to->count, to->type, out);
        break;
    case MUR_GATHER:
        if (!is_root)
            mur_board_pack(from->buffer, from->count, from->type, out);
        break;
    case MUR_SCATTER:
        if (is_root)
            mur_board_pack(from->buffer, from->count * op->board->size, from->type, out);
        break;
    case MUR_ALLGATHER:
        if (is_in_place)
            mur_board_pack(mur_block(to, op->board->rank), to->count, to->type, out);
        else
            mur_board_pack(from->buffer, from->count, from->type, out);
        break;
    case MUR_ALLTOALL:
        from = is_in_place ? to : from;
        mur_board_pack(from->buffer, from->count * op->board->size, from->type, out);
        break;
    case MUR_REDUCE_SCATTER:
        mur_copy(out, is_in_place ? to->buffer : from->buffer, mur_blocks_bytes(to) * (size_t)op->board->size);
        break;
    case MUR_REDUCE:
    case MUR_ALLREDUCE:
    case MUR_SCAN:
    case MUR_EXSCAN:
        mur_copy(out, is_in_place ? to->buffer : from->buffer, mur_blocks_bytes(from));
        break;
    default:
        break;
    }
}

static bool ranks_below_posted(struct mur_board_op *op)
{
    for (; op->next < op->board->rank; op->next++)
        if (!mur_board_has_posted(op->board, op->next, op->number))
            return false;
    return true;
}

/* Whether those have posted whose data this rank needs. */
static bool is_there(struct mur_board_op *op)
{
    bool is_root = op->board->rank == op->c.root;

    switch (op->c.kind) {
    case MUR_BCAST:
    case MUR_SCATTER:
        return is_root || mur_board_has_posted(op->board, op->c.root, op->number);
    case MUR_GATHER:
    case MUR_REDUCE:
        return !is_root || mur_board_all_posted(op->board, op->number, &op->next);
    case MUR_SCAN:
    case MUR_EXSCAN:
        return ranks_below_posted(op);
    default:
        return mur_board_all_posted(op->board, op->number, &op->next);
    }
}

/* Those whose data this rank needs must mean the same by it. */
static void compare(struct mur_board_op *op)
{
    int rank = op->board->rank, last = op->board->size - 1;

    switch (op->c.kind) {
    case MUR_BCAST:
    case MUR_SCATTER:
        mur_board_compare(op, op->c.root, op->c.root);
        break;
    case MUR_GATHER:
    case MUR_REDUCE:
        if (rank == op->c.root)
            mur_board_compare(op, 0, last);
        break;
    case MUR_SCAN:
    case MUR_EXSCAN:
        mur_board_compare(op, 0, rank);
        break;
    default:
        mur_board_compare(op, 0, last);
    }
}

/* Reduces `count` elements from `skip` bytes on of the slots of the ranks 0 to last. */
static void reduce_slots(struct mur_board_op *op, int last, size_t skip, MPI_Count count, char *out)
{
    struct mur_type *type = op->c.from.type;

    if (last < 0)
        return;
    mur_copy(out, mur_board_data(op, last) + skip, (size_t)(count * type->size));
    for (int rank = last - 1; rank >= 0; rank--)
        mur_op_apply(op->c.op, mur_board_data(op, rank) + skip, out, count, type);
}

static void read_blocks(struct mur_board_op *op, size_t skip, bool with_own)
{
    const struct mur_blocks *to = &op->c.to;

    for (int rank = 0; rank < op->board->size; rank++)
        if (with_own || rank != op->board->rank)
            mur_board_unpack(mur_board_data(op, rank) + skip, mur_block(to, rank), to->count, to->type);
}

/* The block that a rank has for itself, from buffer to buffer. */
static void keep_own(struct mur_board_op *op, const void *in, const struct mur_blocks *from, void *out)
{
    mur_layout_copy_typed(in, from->count, from->type, out, op->c.to.count, op->c.to.type);
}

void mur_board_read(struct mur_board_op *op)
{
    const struct mur_collective *c = &op->c;
    const struct mur_blocks *from = &c->from, *to = &c->to;
    int rank = op->board->rank;
    bool is_root = rank == c->root;

    switch (c->kind) {
    case MUR_BCAST:
        if (!is_root)
            mur_board_unpack(mur_board_data(op, c->root), to->buffer, to->count, to->type);
        break;
    case MUR_GATHER:
        if (is_root) {
            read_blocks(op, 0, false);
            if (from->buffer != MPI_IN_PLACE)
                keep_own(op, from->buffer, from, mur_block(to, rank));
        }
        break;
    case MUR_SCATTER:
        if (!is_root)
            mur_board_unpack(mur_board_data(op, c->root) + (size_t)rank * mur_blocks_bytes(to), to->buffer, to->count,
                             to->type);
        else if (to->buffer != MPI_IN_PLACE)
            keep_own(op, mur_block(from, rank), from, to->buffer);
        break;
    case MUR_ALLGATHER:
        read_blocks(op, 0, from->buffer != MPI_IN_PLACE);
        break;
    case MUR_ALLTOALL:
        read_blocks(op, (size_t)rank * mur_blocks_bytes(to), true);
        break;
    case MUR_REDUCE:
        if (is_root)
            reduce_slots(op, op->board->size - 1, 0, from->count, to->buffer);
        break;
    case MUR_ALLREDUCE:
        reduce_slots(op, op->board->size - 1, 0, from->count, to->buffer);
        break;
    case MUR_REDUCE_SCATTER:
        reduce_slots(op, op->board->size - 1, (size_t)rank * mur_blocks_bytes(to), to->count, to->buffer);
        break;
    case MUR_SCAN:
        reduce_slots(op, rank, 0, from->count, to->buffer);
        break;
    case MUR_EXSCAN:
        reduce_slots(op, rank - 1, 0, from->count, to->buffer);
        break;
    default:
        break;
    }
}

/* Takes the next number: false while a rank may still read what was posted `depth` numbers before. A rank that has come
 * to that waits until half of the ring is free: many operations for one wait. */
static bool take_number(struct mur_board_op *op, uint64_t depth)
{
    struct mur_board *board = op->board;

    op->number = board->number + 1;
    if (op->number > depth && board->posted < op->number - depth + 1 &&
        !mur_board_all_posted(board, op->number - depth / 2, &op->next))
        return false;
    board->number = op->number;
    op->next = 0;
    return true;
}

static bool post_and_look(struct mur_board_op *op, uint64_t depth)
{
    if (op->stage == 0) {
        op->depth = depth;
        if (!take_number(op, depth))
            return false;
        mur_board_write_own(op);
        mur_board_line(op->board, op->board->rank, op->number)->call = op->call;
        mur_board_post(op->board, op->number);
        op->stage = 1;
    }
    if (!is_there(op))
        return false;
    compare(op);
    if (!op->error)
        mur_board_read(op);
    return true;
}

/* ---- what fits ---- */

/* Of gapless types only; all ranks give the same type and operation. */
static bool is_plain_reduction(const struct mur_collective *c)
{
    return c->from.type->is_dense && (!c->op->object.predefined || c->from.type->object.predefined);
}

bool mur_board_reduces(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t element = (size_t)c->from.type->size;

    return is_plain_reduction(c) && mur_board_parts_stride(element) * (size_t)comm->size <= comm->board->half;
}

size_t mur_board_told(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t ranks = (size_t)comm->size;

    switch (c->kind) {
    case MUR_BARRIER:
        return 0;
    case MUR_BCAST:
        return mur_blocks_bytes(&c->to);
    case MUR_GATHER:
        return mur_block_bytes(c);
    case MUR_ALLGATHER:
        return c->to.is_irregular ? SIZE_MAX : mur_block_bytes(c);
    case MUR_SCATTER:
        return ranks * mur_board_block(c);
    case MUR_ALLTOALL:
        return ranks * mur_block_bytes(c);
    case MUR_REDUCE_SCATTER:
        return is_plain_reduction(c) && !c->to.is_irregular ? ranks * mur_blocks_bytes(&c->from) : SIZE_MAX;
    default:
        return c->op && is_plain_reduction(c) ? mur_blocks_bytes(&c->from) : SIZE_MAX;
    }
}

bool mur_board_is_small(const struct mur_collective *c, const struct mur_comm *comm)
{
    return mur_board_told(c, comm) <= MUR_BOARD_SLOT;
}

/* Among few ranks only: the two ways know by different means who still reads a line, so one board is used in one. */
static enum mur_fit fits_below(const struct mur_collective *c, const struct mur_comm *comm, size_t most)
{
    return !mur_board_is_crowded(comm) && mur_board_told(c, comm) <= most ? MUR_BEST : MUR_CANNOT;
}

enum mur_fit mur_board_fits_lines(const struct mur_collective *c, const struct mur_comm *comm)
{
    return fits_below(c, comm, MUR_BOARD_FEW);
}

enum mur_fit mur_board_fits_slots(const struct mur_collective *c, const struct mur_comm *comm)
{
    return fits_below(c, comm, MUR_BOARD_SLOT);
}

bool mur_board_lines(struct mur_board_op *op)
{
    return post_and_look(op, MUR_BOARD_DEPTH);
}

bool mur_board_slots(struct mur_board_op *op)
{
    return post_and_look(op, MUR_BOARD_SLOTS);
}
