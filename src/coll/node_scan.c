/* SPDX-License-Identifier: BSD-3-Clause */
/* Large scans on the board: a chain. Each rank has its place in a half; it puts its data there, adds what its left
 * neighbour has come to, copies the sum out, and passes. With several pieces all ranks work at the same time. */
#include "coll/node.h"

#include "base/copy.h"

enum { CHUNK = 16 << 10 }; /* bytes that are added while they are in the first cache */

/* inout = left op inout, and takes the neighbour's lines: it is the next to write there. */
static void add(const struct mur_node_op *op, char *left, char *inout, MPI_Count count)
{
    struct mur_type *type = op->c.from.type;
    size_t bytes = (size_t)(count * type->size);
    char taken[CHUNK] __attribute__((aligned(64)));

    if (bytes <= CHUNK) {
        mur_copy_taking(taken, left, bytes);
        left = taken;
    }
    mur_op_apply(op->c.op, left, inout, count, type);
}

/* One chunk. `left` is what the left neighbour has come to; NULL: this is rank 0. The right one finds it in `sum`. */
static void add_chunk(const struct mur_node_op *op, char *left, const char *in, char *out, char *sum, MPI_Count count)
{
    bool is_last = op->board->rank == op->board->size - 1;
    size_t bytes = (size_t)(count * op->c.from.type->size);

    if (op->c.kind == MUR_SCAN) {
        if (in != out)
            mur_copy(out, in, bytes);
        if (left)
            add(op, left, out, count);
        if (!is_last)
            mur_copy(sum, out, bytes);
        return;
    }
    if (!is_last) {
        mur_copy(sum, in, bytes);
        if (left)
            mur_op_apply(op->c.op, left, sum, count, op->c.from.type);
    }
    if (left)
        mur_copy_taking(out, left, bytes);
}

static void add_piece(const struct mur_node_op *op, char *left, char *sum)
{
    const struct mur_collective *c = &op->c;
    MPI_Count size = c->from.type->size, most = CHUNK / size ? CHUNK / size : 1;
    const char *in = c->from.buffer == MPI_IN_PLACE ? c->to.buffer : c->from.buffer;

    for (MPI_Count at = 0, some; at < op->piece; at += some) {
        MPI_Count skip = at * size, place = (op->position + at) * size;

        some = op->piece - at < most ? op->piece - at : most;
        add_chunk(op, left ? left + skip : NULL, in + place, c->to.buffer + place, sum + skip, some);
    }
}

/* The bytes of a rank's place: where ranks share cores, fewer and larger pieces make fewer switches. */
static size_t room(const struct mur_board *board)
{
    size_t all = board->size > 2 ? MUR_BOARD_HALF_MAX : board->half;

    return all / (size_t)board->size & ~(size_t)63;
}

bool mur_node_scan(struct mur_node_op *op)
{
    struct mur_board *board = op->board;

    while (op->position < op->c.from.count) {
        char *half = board->halves[board->turn];
        size_t stride = room(board);
        char *sum = half + (size_t)board->rank * stride;

        if (op->stage == 0) {
            if (!mur_node_take_half(op))
                return false;
            op->piece = (MPI_Count)stride / op->c.from.type->size;
            if (op->piece > op->c.from.count - op->position)
                op->piece = op->c.from.count - op->position;
            op->stage = 1;
        }
        if (board->rank && !mur_board_has_passed(board, board->rank - 1, op->phase + 1))
            return false;
        add_piece(op, board->rank ? sum - stride : NULL, sum);
        mur_board_pass(board);
        mur_node_leave_half(op, 1);
        op->position += op->piece;
        op->stage = 0;
    }
    return true;
}
