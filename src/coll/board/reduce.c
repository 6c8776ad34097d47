/* SPDX-License-Identifier: BSD-3-Clause */
/* Large reductions on the board, in two ways.
 *
 * Parts: all ranks copy their data, or a piece of them, into a half; each reduces one part of it, in the order of the
 * ranks; all copy the result out. Three steps.
 *
 * Ring: the half holds one copy of (a piece of) the result, in as many portions as there are ranks. Each rank adds its
 * data to one portion and hands it to the next rank, which has just handed on its own; after a round every portion
 * has met every rank. A rank reads its data once and copies the result once; nothing else is copied. Portion q begins
 * at another rank than q + 1, so the sums of different portions are bracketed differently, but always alike. */
#include "coll/board/run.h"

#include "base/copy.h"

static const char *input(const struct mur_board_op *op)
{
    return op->c.from.buffer == MPI_IN_PLACE ? op->c.to.buffer : op->c.from.buffer;
}

static bool wants_result(const struct mur_board_op *op)
{
    return op->c.kind == MUR_ALLREDUCE || op->board->rank == op->c.root;
}

/* ---- parts ---- */

/* Where part i of `count` elements begins: on a cache line, so that parts share none. */
static MPI_Count part_start(const struct mur_board_op *op, MPI_Count count, int i)
{
    MPI_Count line = 64 / op->c.from.type->size, start;

    line = line ? line : 1;
    start = count * i / op->board->size / line * line;
    return i == op->board->size ? count : start;
}

/* Into the last rank's copy: inout = in op inout, from the highest rank down. */
static void reduce_part(struct mur_board_op *op, char *half, size_t bytes)
{
    struct mur_type *type = op->c.from.type;
    int rank = op->board->rank, last = op->board->size - 1;
    MPI_Count start = part_start(op, op->piece, rank), end = part_start(op, op->piece, rank + 1);
    char *part = half + start * type->size;

    for (int i = last - 1; i >= 0 && end > start; i--)
        mur_op_apply(op->c.op, part + (size_t)i * bytes, part + (size_t)last * bytes, end - start, type);
}

static bool reduce_piece(struct mur_board_op *op, char *half)
{
    struct mur_board *board = op->board;
    MPI_Count size = op->c.from.type->size;
    size_t bytes = (size_t)(op->piece * size), stride = mur_board_parts_stride(bytes);

    if (op->stage == 0) {
        if (!mur_board_take_half(op))
            return false;
        mur_board_write(board, half + (size_t)board->rank * stride, input(op) + op->position * size, bytes);
        mur_board_pass(board);
        op->stage = 1;
    }
    if (op->stage == 1) {
        if (!mur_board_all_passed(board, op->phase + 1, &op->next))
            return false;
        reduce_part(op, half, stride);
        mur_board_pass(board);
        op->stage = 2;
    }
    if (wants_result(op)) {
        if (!mur_board_all_passed(board, op->phase + 2, &op->next))
            return false;
        mur_copy(op->c.to.buffer + op->position * size, half + (size_t)(board->size - 1) * stride, bytes);
    }
    return true;
}

/* Best where all fits into a half at once, and the only one that keeps the order of operands. */
enum mur_fit mur_board_fits_parts(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t stride = mur_board_parts_stride(mur_blocks_bytes(&c->from));

    if (!mur_board_reduces(c, comm))
        return MUR_CANNOT;
    if (mur_board_is_small(c, comm))
        return MUR_CAN;
    return !c->op->is_commutative || stride * (size_t)comm->size <= comm->board->half ? MUR_BEST : MUR_CAN;
}

bool mur_board_parts(struct mur_board_op *op)
{
    struct mur_board *board = op->board;

    while (op->position < op->c.from.count) {
        char *half = mur_board_half(board, board->half);

        op->piece = mur_board_elements_of_all(op, op->c.from.count - op->position);
        if (!reduce_piece(op, half))
            return false;
        mur_board_leave_half(op, 2);
        op->position += op->piece;
        op->stage = 0;
    }
    return true;
}

/* ---- ring ---- */

/* Elements [*first, *first + result) of the input, and their place in the half, make portion q of the piece under way.
 * Of a reduce-scatter, each portion is a piece of one rank's block. */
static MPI_Count portion(const struct mur_board_op *op, int q, MPI_Count *first, MPI_Count *place)
{
    if (op->c.kind == MUR_REDUCE_SCATTER) {
        *first = q * op->c.to.count + op->position;
        *place = q * op->piece;
        return op->piece;
    }
    *place = part_start(op, op->piece, q);
    *first = op->position + *place;
    return part_start(op, op->piece, q + 1) - *place;
}

/* Step k of a piece: portion (rank - k) or, of a reduce-scatter, the one whose last step is its owner's. */
static void add_own(struct mur_board_op *op, char *half)
{
    struct mur_type *type = op->c.from.type;
    int size = op->board->size, rank = op->board->rank;
    int q = (rank - op->step - (op->c.kind == MUR_REDUCE_SCATTER) + 2 * size) % size;
    MPI_Count first, place, count = portion(op, q, &first, &place);
    const char *mine = input(op) + first * type->size;
    char *sum = half + place * type->size;

    if (!count)
        return;
    if (op->step == 0)
        mur_board_write(op->board, sum, mine, (size_t)(count * type->size));
    else
        mur_op_apply(op->c.op, mine, sum, count, type);
    if (op->step == size - 1 && op->c.kind == MUR_REDUCE_SCATTER)
        mur_copy(op->c.to.buffer + op->position * type->size, sum, (size_t)(count * type->size));
}

static MPI_Count elements(const struct mur_collective *c)
{
    return c->kind == MUR_REDUCE_SCATTER ? c->to.count : c->from.count;
}

/* How many elements (of each block, in a reduce-scatter) go through a half at a time. */
static MPI_Count piece_of(const struct mur_board_op *op)
{
    MPI_Count room = (MPI_Count)op->board->half / op->c.from.type->size, left = elements(&op->c) - op->position;

    if (op->c.kind == MUR_REDUCE_SCATTER)
        room /= op->board->size;
    return left < room ? left : room;
}

static bool add_around(struct mur_board_op *op, char *half)
{
    struct mur_board *board = op->board;
    int left = (board->rank + board->size - 1) % board->size;

    for (; op->step < board->size; op->step++) {
        if (op->step && !mur_board_has_passed(board, left, op->phase + (uint64_t)op->step))
            return false;
        add_own(op, half);
        mur_board_pass(board);
    }
    return true;
}

enum mur_fit mur_board_fits_ring(const struct mur_collective *c, const struct mur_comm *comm)
{
    if (comm->size == 2 || !mur_board_reduces(c, comm))
        return MUR_CANNOT;
    return mur_board_is_small(c, comm) ? MUR_CAN : MUR_BEST;
}

bool mur_board_ring(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    size_t extent = (size_t)op->c.from.type->size;

    while (op->position < elements(&op->c)) {
        char *half = mur_board_half(board, board->half);

        if (op->stage == 0) {
            if (!mur_board_take_half(op))
                return false;
            op->piece = piece_of(op);
            op->stage = 1;
            op->step = 0;
        }
        if (op->stage == 1) {
            if (!add_around(op, half))
                return false;
            op->stage = 2;
        }
        if (op->c.kind != MUR_REDUCE_SCATTER && wants_result(op)) {
            if (!mur_board_all_passed(board, op->phase + (uint64_t)board->size, &op->next))
                return false;
            mur_copy(op->c.to.buffer + (size_t)op->position * extent, half, (size_t)op->piece * extent);
        }
        mur_board_leave_half(op, board->size);
        op->position += op->piece;
        op->stage = 0;
    }
    return true;
}
