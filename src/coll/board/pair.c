/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of two ranks. Each is responsible for one part of the result (of a reduce, the root for all of it; of a
 * reduce-scatter, for its block): it gets the other's data of that part in a half of the board, adds its own to them
 * there, and copies the sum out; then the other does, too, from the same place. So every byte that crosses from core to
 * core does so once there and once back, and the rank that writes to a line was the last to have it. */
#include "coll/board/run.h"

#include "base/copy.h"

enum { CHUNK = 16 << 10 }; /* bytes that are added and copied out while they are in the first cache */

static const char *input(const struct mur_board_op *op)
{
    return op->c.from.buffer == MPI_IN_PLACE ? op->c.to.buffer : op->c.from.buffer;
}

/* Elements [*first, *first + result) of the input, and their place in the half, make the part of a rank in the piece
 * under way. */
static MPI_Count part_of(const struct mur_board_op *op, int rank, MPI_Count *first, MPI_Count *place)
{
    MPI_Count line = 64 / op->c.from.type->size, middle = op->piece / 2;

    *place = 0;
    *first = op->position;
    if (op->c.kind == MUR_REDUCE_SCATTER) {
        *place = rank * op->piece;
        *first += rank * op->c.to.count;
        return op->piece;
    }
    if (op->c.kind == MUR_REDUCE)
        return rank == op->c.root ? op->piece : 0;
    middle -= line ? middle % line : 0; /* the two share no cache line */
    if (rank == 0)
        return middle;
    *place = middle;
    *first += middle;
    return op->piece - middle;
}

static void hand_over(const struct mur_board_op *op, char *half)
{
    MPI_Count first, place, count = part_of(op, 1 - op->board->rank, &first, &place);
    MPI_Count size = op->c.from.type->size;

    mur_copy(half + place * size, input(op) + first * size, (size_t)(count * size));
}

static void reduce_own(const struct mur_board_op *op, char *half)
{
    struct mur_type *type = op->c.from.type;
    MPI_Count first, place, count = part_of(op, op->board->rank, &first, &place);
    MPI_Count most = CHUNK / type->size ? CHUNK / type->size : 1;
    char *sum = half + place * type->size;
    const char *mine = input(op) + first * type->size;
    char *out = op->c.to.buffer + (op->c.kind == MUR_REDUCE_SCATTER ? op->position : first) * type->size;

    for (MPI_Count some; count > 0; count -= some) {
        size_t bytes;

        some = count < most ? count : most;
        bytes = (size_t)(some * type->size);
        if (op->c.kind == MUR_ALLREDUCE) {
            mur_op_apply(op->c.op, mine, sum, some, type);
            mur_copy(out, sum, bytes);
        } else if (mine != out) { /* the other does not need the sum */
            mur_copy_taking(out, sum, bytes);
            mur_op_apply(op->c.op, mine, out, some, type);
        } else {
            mur_op_apply(op->c.op, sum, out, some, type);
        }
        mine += bytes;
        sum += bytes;
        out += bytes;
    }
}

static void take_result(const struct mur_board_op *op, char *half)
{
    MPI_Count first, place, count = part_of(op, 1 - op->board->rank, &first, &place);
    MPI_Count size = op->c.from.type->size;

    mur_copy_taking(op->c.to.buffer + first * size, half + place * size, (size_t)(count * size));
}

static MPI_Count elements(const struct mur_collective *c)
{
    return c->kind == MUR_REDUCE_SCATTER ? c->to.count : c->from.count;
}

/* How many elements (of each block, in a reduce-scatter) go through a half at a time. */
static MPI_Count piece_of(const struct mur_board_op *op)
{
    MPI_Count room = (MPI_Count)op->board->half / op->c.from.type->size, left = elements(&op->c) - op->position;

    if (op->c.kind != MUR_ALLREDUCE) /* two blocks; of a reduce, one piece is written while another is read */
        room /= 2;
    return left < room ? left : room;
}

/* The two syncs of a piece; false while the other rank has not come so far. */
static bool advance_piece(struct mur_board_op *op, char *half)
{
    struct mur_board *board = op->board;
    int other = 1 - board->rank;

    if (op->stage == 0) {
        if (!mur_board_take_half(op))
            return false;
        op->piece = piece_of(op);
        hand_over(op, half);
        mur_board_pass(board);
        op->stage = 1;
    }
    if (op->stage == 1) {
        if (!mur_board_has_passed(board, other, op->phase + 1))
            return false;
        if (op->c.kind != MUR_REDUCE || board->rank == op->c.root)
            reduce_own(op, half);
        if (op->c.kind == MUR_ALLREDUCE)
            mur_board_pass(board);
        op->stage = 2;
    }
    if (op->c.kind != MUR_ALLREDUCE)
        return true;
    if (!mur_board_has_passed(board, other, op->phase + 2))
        return false;
    take_result(op, half);
    return true;
}

enum mur_fit mur_board_fits_pair(const struct mur_collective *c, const struct mur_comm *comm)
{
    if (comm->size != 2 || !mur_board_reduces(c, comm))
        return MUR_CANNOT;
    return mur_board_is_small(c, comm) ? MUR_CAN : MUR_BEST;
}

bool mur_board_pair(struct mur_board_op *op)
{
    while (op->position < elements(&op->c)) {
        if (!advance_piece(op, op->board->halves[op->board->turn]))
            return false;
        mur_board_leave_half(op, op->c.kind == MUR_ALLREDUCE ? 2 : 1);
        op->position += op->piece;
        op->stage = 0;
    }
    return true;
}
