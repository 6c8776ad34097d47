/* SPDX-License-Identifier: BSD-3-Clause */
/* Straight from the buffers of others.
 *
 * Large reductions of few ranks: each reduces one part of the data, reading what the others have straight from their
 * buffers, and then reads the other parts of the result from those who made them. Nothing passes through the board but
 * addresses. A reduce-scatter ends after the first half. Two ranks do better to reduce all of it, both: reading what
 * the other has is no more than reading one half of that and one half of its result.
 *
 * Blocks and broadcasts: everybody reads what it needs from whoever has it. */
#include "coll/node.h"

#include <string.h>

#include "base/copy.h"
#include "datatype/layout.h"

enum { CHUNK = 32 << 10 }; /* bytes read at a time: they stay in the first cache until they are added */

enum { BOTH_BYTES = 256 << 10 }; /* two ranks both reduce no more than that: three buffers must fit into a cache */

/* What each rank posts. */
struct offer {
    uint64_t in, out;  /* addresses of its data and of its result */
    uint64_t can_copy; /* from and to all others */
};

static const struct offer *offer_of(const struct mur_node_op *op, int rank)
{
    return (const struct offer *)mur_board_slot(op->board, rank, op->number)->data;
}

static struct mur_peer *peer_of(const struct mur_node_op *op, int rank)
{
    return &mur_engine.peers[op->board->processes[rank]];
}

static void post_offer(struct mur_node_op *op)
{
    bool is_in_place = op->c.from.buffer == MPI_IN_PLACE;
    struct offer offer = {.in = (uintptr_t)(is_in_place ? op->c.to.buffer : op->c.from.buffer),
                          .out = (uintptr_t)op->c.to.buffer,
                          .can_copy = mur_engine.transport->can_copy != NULL};

    for (int rank = 0; rank < op->board->size && offer.can_copy; rank++)
        offer.can_copy = mur_engine.transport->can_copy(peer_of(op, rank));
    memcpy(mur_board_slot(op->board, op->board->rank, op->number)->data, &offer, sizeof offer);
    mur_board_post(op->board, op->number);
}

static bool all_can_copy(const struct mur_node_op *op)
{
    for (int rank = 0; rank < op->board->size; rank++)
        if (!offer_of(op, rank)->can_copy)
            return false;
    return true;
}

/* In place, each reads what the other is about to overwrite. */
static bool is_done_by_both(const struct mur_node_op *op)
{
    return op->board->size == 2 && op->c.kind == MUR_ALLREDUCE && op->c.from.buffer != MPI_IN_PLACE &&
           mur_blocks_bytes(&op->c.from) <= BOTH_BYTES;
}

/* The bytes [*start, *end) of everybody's input that a rank reduces. */
static void part_of(const struct mur_node_op *op, int rank, size_t *start, size_t *end)
{
    size_t bytes = mur_blocks_bytes(&op->c.from), ranks = (size_t)op->board->size;

    if (op->c.kind == MUR_REDUCE_SCATTER) {
        *start = bytes * (size_t)rank;
        *end = *start + bytes;
        return;
    }
    if (is_done_by_both(op)) {
        *start = 0;
        *end = bytes;
        return;
    }
    *start = bytes / 64 * (size_t)rank / ranks * 64; /* whole cache lines, so whole elements: those have at most 32 */
    *end = rank == op->board->size - 1 ? bytes : bytes / 64 * (size_t)(rank + 1) / ranks * 64;
}

/* Both compute the same bits: the lower rank's data is the left operand. */
static void reduce_chunk_by_both(const struct mur_node_op *op, size_t start, size_t bytes, char *out)
{
    struct mur_type *type = op->c.from.type;
    MPI_Count count = (MPI_Count)bytes / type->size;
    const char *in = op->c.from.buffer + start;
    int other_rank = 1 - op->board->rank;
    uint64_t from = offer_of(op, other_rank)->in + start;
    char other[CHUNK] __attribute__((aligned(64)));

    if (op->board->rank == 0) {
        mur_engine.transport->read(peer_of(op, other_rank), out, from, bytes);
        mur_op_apply(op->c.op, in, out, count, type);
    } else {
        mur_engine.transport->read(peer_of(op, other_rank), other, from, bytes);
        mur_copy(out, in, bytes);
        mur_op_apply(op->c.op, other, out, count, type);
    }
}

/* One piece of the own part: own data first, then the others' in their order from this rank on. */
static void reduce_chunk(const struct mur_node_op *op, size_t start, size_t bytes, char *out)
{
    struct mur_type *type = op->c.from.type;
    MPI_Count count = (MPI_Count)bytes / type->size;
    const struct offer *mine = offer_of(op, op->board->rank);
    const char *in = (const char *)(uintptr_t)mine->in + start;
    bool is_apart = in != out;
    char other[CHUNK] __attribute__((aligned(64)));

    for (int i = 1; i < op->board->size; i++) {
        int rank = (op->board->rank + i) % op->board->size;
        uint64_t from = offer_of(op, rank)->in + start;

        if (i == 1 && is_apart) { /* saves a copy: theirs comes to its place, and mine is added */
            mur_engine.transport->read(peer_of(op, rank), out, from, bytes);
            mur_op_apply(op->c.op, in, out, count, type);
        } else {
            mur_engine.transport->read(peer_of(op, rank), other, from, bytes);
            mur_op_apply(op->c.op, other, out, count, type);
        }
    }
}

/* The result of a reduce-scatter lies at the start of its buffer. In place, that may hold input which others still
 * read: the result is kept in the place of the own block until all have passed. */
static char *result_place(const struct mur_node_op *op, size_t start)
{
    bool is_in_place = op->c.from.buffer == MPI_IN_PLACE;

    return op->c.to.buffer + (op->c.kind == MUR_REDUCE_SCATTER && !is_in_place ? 0 : start);
}

static void reduce_part(const struct mur_node_op *op)
{
    size_t start, end, most = CHUNK / (size_t)op->c.from.type->size * (size_t)op->c.from.type->size;
    char *out;

    part_of(op, op->board->rank, &start, &end);
    out = result_place(op, start);
    for (size_t at = start; at < end; at += most) {
        size_t bytes = end - at < most ? end - at : most;

        if (is_done_by_both(op))
            reduce_chunk_by_both(op, at, bytes, out + (at - start));
        else
            reduce_chunk(op, at, bytes, out + (at - start));
    }
}

static void read_results(const struct mur_node_op *op)
{
    for (int i = 1; i < op->board->size; i++) {
        int rank = (op->board->rank + i) % op->board->size;
        size_t start, end;

        part_of(op, rank, &start, &end);
        if (end > start)
            mur_engine.transport->read(peer_of(op, rank), op->c.to.buffer + start, offer_of(op, rank)->out + start,
                                       end - start);
    }
}

/* A reduce-scatter in place ends by moving the result to the start. */
static void move_result(const struct mur_node_op *op)
{
    size_t start, end;

    if (op->c.kind != MUR_REDUCE_SCATTER || op->c.from.buffer != MPI_IN_PLACE)
        return;
    part_of(op, op->board->rank, &start, &end);
    memmove(op->c.to.buffer, op->c.to.buffer + start, end - start);
}

bool mur_node_pull(struct mur_node_op *op)
{
    struct mur_board *board = op->board;

    if (op->stage == 0) {
        if (!mur_node_take_slot(op))
            return false;
        post_offer(op);
        op->phase = board->phase;
        op->stage = 1;
    }
    if (op->stage == 1) {
        if (!mur_board_all_posted(board, op->number, &op->next))
            return false;
        if (!all_can_copy(op)) {
            op->advance = mur_node_reduce_ring;
            op->stage = 0;
            return op->advance(op);
        }
        reduce_part(op);
        mur_board_pass(board);
        op->stage = 2;
    }
    if (!mur_board_all_passed(board, op->phase + 1, &op->next))
        return false;
    if (op->c.kind == MUR_REDUCE_SCATTER) {
        move_result(op);
        return true;
    }
    if (is_done_by_both(op))
        return true;
    if (op->stage == 2) {
        read_results(op);
        mur_board_pass(board);
        op->stage = 3;
    }
    return mur_board_all_passed(board, op->phase + 2, &op->next); /* nobody reads this rank's result any more */
}

/* ---- blocks, and broadcasts ---- */

/* This rank's data for others, where it is a run of bytes; NULL where it is not. */
static const void *run_of(const struct mur_node_op *op)
{
    const struct mur_collective *c = &op->c;
    bool is_in_place = c->from.buffer == MPI_IN_PLACE;

    switch (c->kind) {
    case MUR_BCAST:
        return c->to.type->is_dense ? c->to.buffer : NULL;
    case MUR_ALLGATHER:
        if (is_in_place)
            return c->to.type->is_dense ? mur_block(&c->to, op->board->rank) : NULL;
        return c->from.type->is_dense ? c->from.buffer : NULL;
    default: /* all-to-all, where in place everybody would read what others overwrite */
        return !is_in_place && c->from.type->is_dense ? c->from.buffer : NULL;
    }
}

static void post_run(struct mur_node_op *op)
{
    const void *run = run_of(op);
    bool is_needed = op->c.kind != MUR_BCAST || op->board->rank == op->c.root;
    struct offer offer = {.in = (uintptr_t)run, .can_copy = mur_engine.transport->can_copy && (run || !is_needed)};

    for (int rank = 0; rank < op->board->size && offer.can_copy; rank++)
        offer.can_copy = mur_engine.transport->can_copy(peer_of(op, rank));
    memcpy(mur_board_slot(op->board, op->board->rank, op->number)->data, &offer, sizeof offer);
    mur_board_post(op->board, op->number);
}

/* Reads bytes of another rank into a buffer of any layout. */
static void read_into(const struct mur_node_op *op, int rank, uint64_t from, void *buffer)
{
    const struct mur_blocks *to = &op->c.to;
    size_t bytes = mur_blocks_bytes(to);
    struct mur_cursor cursor;
    char piece[CHUNK];

    if (to->type->is_dense) {
        mur_engine.transport->read(peer_of(op, rank), buffer, from, bytes);
        return;
    }
    mur_cursor_start(&cursor, buffer, to->count, to->type);
    for (size_t at = 0; at < bytes; at += CHUNK) {
        size_t some = bytes - at < CHUNK ? bytes - at : CHUNK;

        mur_engine.transport->read(peer_of(op, rank), piece, from + at, some);
        mur_cursor_unpack(&cursor, piece, some);
    }
}

static void read_blocks(const struct mur_node_op *op)
{
    const struct mur_collective *c = &op->c;
    const struct mur_blocks *from = &c->from, *to = &c->to;
    int me = op->board->rank, size = op->board->size;
    size_t skip = c->kind == MUR_ALLTOALL ? (size_t)me * mur_blocks_bytes(from) : 0;

    if (c->kind == MUR_BCAST) {
        if (me != c->root)
            read_into(op, c->root, offer_of(op, c->root)->in, to->buffer);
        return;
    }
    for (int i = 1; i < size; i++) {
        int rank = (me + i) % size;

        read_into(op, rank, offer_of(op, rank)->in + skip, mur_block(to, rank));
    }
}

/* While the others come. */
static void keep_own(const struct mur_node_op *op)
{
    const struct mur_collective *c = &op->c;
    const struct mur_blocks *from = &c->from, *to = &c->to;
    int me = op->board->rank;

    if (c->kind != MUR_BCAST && from->buffer != MPI_IN_PLACE)
        mur_copy_typed(c->kind == MUR_ALLTOALL ? mur_block(from, me) : from->buffer, from->count, from->type,
                       mur_block(to, me), to->count, to->type);
}

bool mur_node_pull_blocks(struct mur_node_op *op)
{
    struct mur_board *board = op->board;

    if (op->stage == 0) {
        if (!mur_node_take_slot(op))
            return false;
        post_run(op);
        keep_own(op);
        op->phase = board->phase;
        op->stage = 1;
    }
    if (op->stage == 1) {
        if (!mur_board_all_posted(board, op->number, &op->next))
            return false;
        if (!all_can_copy(op)) {
            op->advance = op->c.kind == MUR_BCAST ? mur_node_stream : mur_node_share;
            op->stage = 0;
            return op->advance(op);
        }
        read_blocks(op);
        mur_board_pass(board);
        op->stage = 2;
    }
    if (op->c.kind == MUR_BCAST && board->rank != op->c.root)
        return true;
    return mur_board_all_passed(board, op->phase + 1, &op->next); /* nobody reads from this rank any more */
}
