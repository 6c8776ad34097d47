/* SPDX-License-Identifier: BSD-3-Clause */
/* Large scans on the board, and reduces where ranks share cores: a chain. The two halves together are divided among the
 * ranks, and the part of each into MUR_BOARD_LINKS links, used in turns. A rank adds its data to what its left
 * neighbour has come to, puts the sum into its next link, copies it out if it is to have it, and passes. Only the right
 * neighbour reads a link; so a rank may be as many pieces ahead of that one as there are links, of one operation or of
 * several, and ranks that share a core do several pieces for each time that it changes hands.
 *
 * The chain of a scan begins at rank 0; that of a reduce ends at the root, and goes on at rank 0 behind the last rank.
 */
#include "coll/board/run.h"

#include "base/copy.h"

enum {
    CHUNK = 16 << 10, /* bytes that are added while they are in the first cache */
    LINK_MOST = 64 << 10,
    REDUCE_MOST = 128 << 10, /* bytes of a reduce; more are better added by all ranks at the same time */
};

static bool is_first(const struct mur_board_op *op)
{
    int last = op->c.kind == MUR_REDUCE ? op->c.root : op->board->size - 1;

    return op->board->rank == (last + 1) % op->board->size;
}

static bool is_last(const struct mur_board_op *op)
{
    return op->board->rank == (op->c.kind == MUR_REDUCE ? op->c.root : op->board->size - 1);
}

static int left_of(const struct mur_board *board)
{
    return (board->rank + board->size - 1) % board->size;
}

static int right_of(const struct mur_board *board)
{
    return (board->rank + 1) % board->size;
}

/* inout = left op inout, and takes the neighbour's lines: it is the next to write there. */
static void add(const struct mur_board_op *op, char *left, char *inout, MPI_Count count)
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

/* out = left op in; `left` may be NULL, and in and out the same. */
static void add_up(const struct mur_board_op *op, char *left, const char *in, char *out, MPI_Count count)
{
    size_t bytes = (size_t)(count * op->c.from.type->size);

    if (left && in != out && op->c.op->is_commutative) {
        mur_copy_taking(out, left, bytes);
        mur_op_apply(op->c.op, in, out, count, op->c.from.type);
        return;
    }
    if (in != out)
        mur_copy(out, in, bytes);
    if (left)
        add(op, left, out, count);
}

/* One chunk. `left` is what the left neighbour has come to; NULL: there is none. The right one finds it in `sum`. */
static void add_chunk(const struct mur_board_op *op, char *left, const char *in, char *out, char *sum, MPI_Count count)
{
    size_t bytes = (size_t)(count * op->c.from.type->size);

    switch (op->c.kind) {
    case MUR_SCAN:
        add_up(op, left, in, out, count);
        if (!is_last(op))
            mur_copy(sum, out, bytes);
        break;
    case MUR_REDUCE:
        add_up(op, left, in, is_last(op) ? out : sum, count);
        break;
    default: /* the sum without the own */
        if (!is_last(op)) {
            mur_copy(sum, in, bytes);
            if (left)
                mur_op_apply(op->c.op, left, sum, count, op->c.from.type);
        }
        if (left)
            mur_copy_taking(out, left, bytes);
    }
}

static void add_piece(const struct mur_board_op *op, char *left, char *sum)
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

/* The bytes of a link. */
static size_t room(const struct mur_board *board)
{
    size_t most = 2 * (size_t)MUR_BOARD_HALF_MAX / ((size_t)board->size * MUR_BOARD_LINKS) & ~(size_t)63;

    return most < LINK_MOST ? most : LINK_MOST;
}

static char *link_of(const struct mur_board *board, int rank)
{
    return board->halves[0] + ((size_t)rank * MUR_BOARD_LINKS + board->link) * room(board);
}

/* False while other collectives may still use the memory, or the right neighbour what the link holds. */
static bool take_link(struct mur_board_op *op)
{
    struct mur_board *board = op->board;

    if (!mur_board_end_halves(op, MUR_BOARD_CHAIN))
        return false;
    op->phase = board->phase;
    return is_last(op) || mur_board_has_passed(board, right_of(board), board->links[board->link]);
}

static void leave_link(struct mur_board_op *op)
{
    struct mur_board *board = op->board;

    board->links[board->link] = op->phase + 1;
    mur_board_leave(board, MUR_BOARD_CHAIN, op->phase + 1);
    board->link = (board->link + 1) % MUR_BOARD_LINKS;
}

/* A link holds an element. Where ranks share cores, the ranks of a chain wait for each other once in several reduces.
 */
enum mur_fit mur_board_fits_chain(const struct mur_collective *c, const struct mur_comm *comm)
{
    const struct mur_board *board = comm->board;
    size_t bytes = mur_blocks_bytes(&c->from);

    if (!mur_board_reduces(c, comm) || (size_t)c->from.type->size > room(board))
        return MUR_CANNOT;
    if (c->kind == MUR_REDUCE && (comm->size == 2 || bytes > REDUCE_MOST || board->half <= board->warm))
        return MUR_CAN;
    return mur_board_is_small(c, comm) ? MUR_CAN : MUR_BEST;
}

bool mur_board_chain(struct mur_board_op *op)
{
    struct mur_board *board = op->board;

    while (op->position < op->c.from.count) {
        if (op->stage == 0) {
            if (!take_link(op))
                return false;
            op->piece = (MPI_Count)room(board) / op->c.from.type->size;
            if (op->piece > op->c.from.count - op->position)
                op->piece = op->c.from.count - op->position;
            op->stage = 1;
        }
        if (!is_first(op) && !mur_board_has_passed(board, left_of(board), op->phase + 1))
            return false;
        add_piece(op, is_first(op) ? NULL : link_of(board, left_of(board)), link_of(board, board->rank));
        mur_board_pass(board);
        leave_link(op);
        op->position += op->piece;
        op->stage = 0;
    }
    return true;
}
