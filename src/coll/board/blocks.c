/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move blocks: each rank copies into a half of the board what others need, and out of it what it
 * needs. A half fits into a core's cache, so the second copy finds its data there. */
#include "coll/board/run.h"

#include "datatype/layout.h"

bool mur_board_take_half(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    uint64_t busy = board->busy[board->turn], others = board->others[MUR_BOARD_HALVES];

    if (!mur_board_all_passed(board, busy > others ? busy : others, &op->next))
        return false;
    op->next = 0;
    op->phase = board->phase;
    return true;
}

void mur_board_leave_half(struct mur_board_op *op, int phases)
{
    struct mur_board *board = op->board;

    board->busy[board->turn] = op->phase + (uint64_t)phases + 1;
    mur_board_leave(board, MUR_BOARD_HALVES, op->phase + (uint64_t)phases + 1);
    board->turn ^= 1;
    /* Not always the same lines: what several ranks have read is cheaper to write when their caches have dropped it. */
    if (board->turn == 0)
        board->place = board->place + 2 * board->warm <= MUR_BOARD_HALF_MAX ? board->place + board->warm : 0;
}

/* Passing says that the latest piece in a half is over here. */
bool mur_board_end_halves(struct mur_board_op *op, enum mur_board_use use)
{
    struct mur_board *board = op->board;

    if (board->phase < board->others[use])
        mur_board_pass(board);
    return mur_board_all_passed(board, board->others[use], &op->next);
}

/* ---- blocks that all fit at once ---- */

size_t mur_board_block(const struct mur_collective *c)
{
    if (c->kind == MUR_SCATTER)
        return mur_blocks_bytes(c->to.buffer == MPI_IN_PLACE ? &c->from : &c->to);
    return mur_block_bytes(c);
}

/* The bytes of all blocks of all ranks. */
static size_t all_bytes(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t ranks = (size_t)comm->size;

    if (c->to.is_irregular)
        return (size_t)(mur_blocks_count(&c->to, comm->size) * c->to.type->size);
    return ranks * mur_board_block(c) * (c->kind == MUR_ALLTOALL ? ranks : 1);
}

/* This rank's part of the half: block i of rank r for rank i. */
static void write_part(struct mur_board_op *op, char *half, size_t block)
{
    const struct mur_collective *c = &op->c;
    const struct mur_blocks *from = &c->from, *to = &c->to;
    int rank = op->board->rank, size = op->board->size;
    bool is_root = rank == c->root, is_in_place = from->buffer == MPI_IN_PLACE;

    switch (c->kind) {
    case MUR_GATHER:
        if (!is_root)
            mur_board_write_typed(op->board, from->buffer, from->count, from->type, half + (size_t)rank * block);
        break;
    case MUR_SCATTER:
        if (is_root)
            mur_board_write_typed(op->board, from->buffer, from->count * size, from->type, half);
        break;
    case MUR_ALLGATHER:
        if (is_in_place)
            mur_board_write_typed(op->board, mur_block(to, rank), to->count, to->type, half + (size_t)rank * block);
        else
            mur_board_write_typed(op->board, from->buffer, from->count, from->type, half + (size_t)rank * block);
        break;
    case MUR_ALLTOALL: /* all but the own block */
        from = is_in_place ? to : from;
        half += (size_t)rank * (size_t)size * block;
        mur_board_write_typed(op->board, from->buffer, from->count * rank, from->type, half);
        mur_board_write_typed(op->board, mur_block(from, rank + 1), from->count * (size - 1 - rank), from->type,
                              half + (size_t)(rank + 1) * block);
        break;
    default:
        break;
    }
}

static void read_parts(struct mur_board_op *op, const char *half, size_t block)
{
    const struct mur_collective *c = &op->c;
    const struct mur_blocks *from = &c->from, *to = &c->to;
    int rank = op->board->rank, size = op->board->size;
    size_t stride = block;

    if (c->kind == MUR_SCATTER) {
        if (rank != c->root)
            mur_board_unpack(half + (size_t)rank * block, to->buffer, to->count, to->type);
        else if (to->buffer != MPI_IN_PLACE)
            mur_layout_copy_typed(mur_block(from, rank), from->count, from->type, to->buffer, to->count, to->type);
        return;
    }
    if (c->kind == MUR_GATHER && rank != c->root)
        return;
    if (c->kind == MUR_ALLTOALL) {
        half += (size_t)rank * block;
        stride = (size_t)size * block;
    }
    for (int i = 1; i <= size; i++) { /* everybody starts with another */
        int other = (rank + i) % size;

        if (other != rank)
            mur_board_unpack(half + (size_t)other * stride, mur_block(to, other), to->count, to->type);
        else if (from->buffer != MPI_IN_PLACE)
            mur_layout_copy_typed(c->kind == MUR_ALLTOALL ? mur_block(from, rank) : from->buffer, from->count,
                                  from->type, mur_block(to, rank), to->count, to->type);
    }
}

/* Whether those have passed whose blocks this rank needs. */
static bool is_there(struct mur_board_op *op)
{
    bool is_root = op->board->rank == op->c.root;

    switch (op->c.kind) {
    case MUR_GATHER:
        return !is_root || mur_board_all_passed(op->board, op->phase + 1, &op->next);
    case MUR_SCATTER:
        return is_root || mur_board_has_passed(op->board, op->c.root, op->phase + 1);
    default:
        return mur_board_all_passed(op->board, op->phase + 1, &op->next);
    }
}

static bool share(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    size_t block = mur_board_block(&op->c);
    char *half = mur_board_half(board, all_bytes(&op->c, op->comm));

    if (op->stage == 0) {
        if (!mur_board_take_half(op))
            return false;
        write_part(op, half, block);
        mur_board_pass(board);
        op->stage = 1;
    }
    if (!is_there(op))
        return false;
    read_parts(op, half, block);
    mur_board_leave_half(op, 1);
    return true;
}

/* ---- blocks of different sizes, which all ranks know ---- */

static size_t bytes_of(const struct mur_blocks *blocks, int rank)
{
    return (size_t)(mur_block_count(blocks, rank) * blocks->type->size);
}

/* The blocks lie in the half one behind the other, in the order of the ranks. */
static size_t place_of(const struct mur_blocks *blocks, int rank)
{
    size_t place = 0;

    for (int i = 0; i < rank; i++)
        place += bytes_of(blocks, i);
    return place;
}

static void write_own(struct mur_board_op *op, char *half)
{
    const struct mur_blocks *from = &op->c.from, *to = &op->c.to;
    int rank = op->board->rank;

    half += place_of(to, rank);
    if (from->buffer == MPI_IN_PLACE)
        mur_board_write_typed(op->board, mur_block(to, rank), mur_block_count(to, rank), to->type, half);
    else
        mur_board_write_typed(op->board, from->buffer, from->count, from->type, half);
}

static void read_all(struct mur_board_op *op, const char *half)
{
    const struct mur_blocks *to = &op->c.to;

    for (int rank = 0; rank < op->board->size; rank++) {
        if (rank != op->board->rank || op->c.from.buffer != MPI_IN_PLACE)
            mur_board_unpack(half, mur_block(to, rank), mur_block_count(to, rank), to->type);
        half += bytes_of(to, rank);
    }
}

static bool share_irregular(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    char *half = board->halves[board->turn];

    if (op->stage == 0) {
        if (!mur_board_take_half(op))
            return false;
        write_own(op, half);
        mur_board_pass(board);
        op->stage = 1;
    }
    if (!mur_board_all_passed(board, op->phase + 1, &op->next))
        return false;
    read_all(op, half);
    mur_board_leave_half(op, 1);
    return true;
}

bool mur_board_blocks(struct mur_board_op *op)
{
    return op->c.to.is_irregular ? share_irregular(op) : share(op);
}

/* ---- the same in rounds, a slice of each block at a time ---- */

/* Of the block of a rank, `bytes` that come at `at`: what this rank has, and where it wants another's. */
static void write_slice(const struct mur_board_op *op, size_t at, size_t bytes, char *out)
{
    const struct mur_blocks *from = &op->c.from, *to = &op->c.to;
    int rank = op->board->rank;

    if (from->buffer == MPI_IN_PLACE)
        mur_board_write_part(op->board, mur_block(to, rank), mur_block_count(to, rank), to->type, at, bytes, out);
    else
        mur_board_write_part(op->board, from->buffer, from->count, from->type, at, bytes, out);
}

static void read_slice(const struct mur_board_op *op, int rank, size_t at, size_t bytes, const char *in)
{
    const struct mur_blocks *to = &op->c.to;
    struct mur_cursor cursor;

    mur_cursor_start(&cursor, mur_block(to, rank), mur_block_count(to, rank), to->type);
    mur_cursor_seek(&cursor, at);
    mur_cursor_unpack(&cursor, in, bytes);
}

/* What of a rank's block the round under way takes. */
static size_t slice_of(const struct mur_board_op *op, int rank, size_t room)
{
    size_t bytes = bytes_of(&op->c.to, rank), at = (size_t)op->position;

    return bytes <= at ? 0 : bytes - at < room ? bytes - at : room;
}

static bool has_slices_left(const struct mur_board_op *op)
{
    for (int rank = 0; rank < op->board->size; rank++)
        if (slice_of(op, rank, 1))
            return true;
    return false;
}

static void read_slices(const struct mur_board_op *op, const char *half, size_t room)
{
    for (int i = 1; i <= op->board->size; i++) { /* everybody starts with another */
        int rank = (op->board->rank + i) % op->board->size;
        size_t bytes = slice_of(op, rank, room);

        if (bytes && (rank != op->board->rank || op->c.from.buffer != MPI_IN_PLACE))
            read_slice(op, rank, (size_t)op->position, bytes, half + (size_t)rank * room);
    }
}

/* ---- what fits ---- */

/* Of two ranks: up to which size of a block this is faster than cells (Zen 4, gather and allgather of 16 KiB: 2.0 and
 * 3.6 us, by cells 2.6 and 4.3; gather of 64 KiB: 4.7 and 10, where the root changes 8.7 and 7.4). */
enum { TWO_MOST = 64 << 10 };

enum mur_fit mur_board_fits_blocks(const struct mur_collective *c, const struct mur_comm *comm)
{
    size_t bytes = all_bytes(c, comm);

    if (bytes > MUR_BOARD_HALF_MAX)
        return MUR_CANNOT;
    return comm->size > 2 || bytes / (c->kind == MUR_ALLTOALL ? 4 : 2) <= TWO_MOST ? MUR_BEST : MUR_CAN;
}

enum mur_fit mur_board_fits_slices(const struct mur_collective *c, const struct mur_comm *comm)
{
    if (comm->size > MUR_BOARD_HALF_MAX / 64)
        return MUR_CANNOT;
    if (comm->size == 2)
        return MUR_CAN;
    return all_bytes(c, comm) > MUR_BOARD_HALF_MAX ? MUR_BEST : MUR_CAN;
}

bool mur_board_slices(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    size_t room = MUR_BOARD_HALF_MAX / (size_t)board->size & ~(size_t)63, bytes;

    while (has_slices_left(op)) {
        char *half = board->halves[board->turn];

        if (op->stage == 0) {
            if (!mur_board_take_half(op))
                return false;
            if ((bytes = slice_of(op, board->rank, room)))
                write_slice(op, (size_t)op->position, bytes, half + (size_t)board->rank * room);
            mur_board_pass(board);
            op->stage = 1;
        }
        if (!mur_board_all_passed(board, op->phase + 1, &op->next))
            return false;
        read_slices(op, half, room);
        mur_board_leave_half(op, 1);
        op->position += (MPI_Count)room;
        op->stage = 0;
    }
    return true;
}
