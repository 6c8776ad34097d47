/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in which each rank has something else for each other one: every pair exchanges its message through the
 * cells of the board that it has for itself, piece by piece, at its own pace. So a pair needs to know nothing of the
 * others, the blocks may be of any size, and the same code serves all forms with counts and types.
 *
 * Every pair of a collective that may exchange data does, if only an empty message. The sender says how long it is, and
 * the receiver goes by that: what does not fit into its block is read, and is an error.
 *
 * Large blocks are offered instead: sender and receiver copy chunks of them from buffer to buffer, the first to come
 * first, if the system lets them; unless pieces are known to be faster (choose_way). Some memory cannot be reached from
 * another process though other memory can (of devices, or secret): if a chunk cannot be copied, both ends count the
 * rest of the offer as done, and the sender sends the whole block again in pieces. */
#include "coll/board/run.h"

#include "base/clock.h"
#include "base/copy.h"
#include "base/error.h"
#include "datatype/layout.h"
#include "node/node.h"

enum {
    OFFER_BYTES = 128 << 10, /* from here on copying once by system calls is faster than copying twice */
    CHUNK_LEAST = 64 << 10,
    CHUNK_MOST = 512 << 10,
    EXCHANGE_MOST = 4 << 20,
    MOST_CHUNKS = 30000,
    TIMED_PIECES = 8, /* of fewer pieces too many are still to be read when the sender is done */
    TRIED_EVERY = 64,
};

enum { OFFER, PIECES };

struct block {
    char *buffer;
    MPI_Count count;
    struct mur_type *type; /* NULL: there is nothing for or from this rank */
};

static struct block block_of(const struct mur_blocks *blocks, int rank)
{
    return (struct block){mur_block(blocks, rank), mur_block_count(blocks, rank), mur_block_type(blocks, rank)};
}

static struct block whole(const struct mur_blocks *blocks)
{
    return (struct block){blocks->buffer, blocks->count, blocks->type};
}

static const struct block none;

/* What this rank has for another, and for itself. */
static struct block outgoing(const struct mur_board_op *op, int rank)
{
    const struct mur_blocks *from = &op->c.from, *to = &op->c.to;
    int me = op->board->rank, root = op->c.root;

    switch (op->c.kind) {
    case MUR_BCAST:
        return me == root ? whole(to) : none;
    case MUR_GATHER:
        return rank == root ? whole(from) : none;
    case MUR_SCATTER:
        return me == root ? block_of(from, rank) : none;
    case MUR_ALLGATHER:
        return from->buffer == MPI_IN_PLACE ? block_of(to, me) : whole(from);
    default:
        return block_of(from->buffer == MPI_IN_PLACE ? to : from, rank);
    }
}

static struct block incoming(const struct mur_board_op *op, int rank)
{
    const struct mur_blocks *to = &op->c.to;
    int me = op->board->rank, root = op->c.root;

    switch (op->c.kind) {
    case MUR_BCAST:
    case MUR_SCATTER:
        return rank == root ? whole(to) : none;
    case MUR_GATHER:
        return me == root ? block_of(to, rank) : none;
    default:
        return block_of(to, rank);
    }
}

static void pack(const struct block *block, size_t at, void *out, size_t bytes)
{
    struct mur_cursor cursor;

    if (block->type->is_dense) {
        mur_copy(out, block->buffer + at, bytes);
        return;
    }
    mur_cursor_start(&cursor, block->buffer, block->count, block->type);
    mur_cursor_seek(&cursor, at);
    mur_cursor_pack(&cursor, out, bytes);
}

static void unpack(const struct block *block, size_t at, void *in, size_t bytes)
{
    struct mur_cursor cursor;

    if (block->type->is_dense) {
        mur_copy_taking(block->buffer + at, in, bytes);
        return;
    }
    mur_cursor_start(&cursor, block->buffer, block->count, block->type);
    mur_cursor_seek(&cursor, at);
    mur_cursor_unpack(&cursor, in, bytes);
}

static bool has_read(struct mur_board *board, size_t pair, struct mur_board_channel *channel, uint64_t number)
{
    if (channel->read < number) /* pairs with the release in receive_some */
        channel->read = atomic_load_explicit(&board->reads[pair].value, memory_order_acquire);
    return channel->read >= number;
}

/* Room for one more head. A sender that has filled all heads waits until half of them are read, so one wait serves many
 * operations. */
static bool has_room(struct mur_board *board, size_t pair, struct mur_board_channel *channel)
{
    return channel->sent - channel->read < board->depth ||
           has_read(board, pair, channel, channel->sent - board->depth / 2);
}

/* Writes one head, with its piece; false while there is no room. */
static bool send_piece(struct mur_board *board, size_t pair, struct mur_board_channel *channel,
                       const struct block *block, size_t bytes)
{
    struct mur_board_head *head = mur_board_head(board, pair, channel->sent + 1);
    size_t left = bytes - channel->out_at, some = left < board->piece ? left : board->piece;
    uint64_t *use = &channel->uses[channel->pieces_sent % MUR_BOARD_CELL_PIECES];

    if (!has_room(board, pair, channel))
        return false;
    if (some <= MUR_BOARD_CELL_FEW) {
        pack(block, channel->out_at, head->few, some);
    } else {
        if (!has_read(board, pair, channel, *use))
            return false;
        pack(block, channel->out_at, mur_board_piece(board, pair, channel->pieces_sent++), some);
        *use = channel->sent + 1;
    }
    head->bytes = bytes;
    head->is_offer = false;
    channel->out_at += some;
    atomic_store_explicit(&head->number, ++channel->sent, memory_order_release); /* pairs with receive_piece */
    return true;
}

/* ---- offers ---- */

static int local_of(const struct mur_board_op *op, int rank)
{
    return mur_node.local_of[op->board->processes[rank]];
}

/* Where all ranks exchange data, each side copies half of each block; otherwise the side that comes first copies more.
 */
static size_t chunk_of(const struct mur_board_op *op, size_t bytes)
{
    bool is_exchange = op->c.kind == MUR_ALLTOALL || op->c.kind == MUR_ALLGATHER;
    size_t part = is_exchange ? (bytes + 1) / 2 : bytes / 4, most = is_exchange ? EXCHANGE_MOST : CHUNK_MOST;
    size_t chunk = part < CHUNK_LEAST ? CHUNK_LEAST : part > most ? most : part;

    chunk = bytes / chunk > MOST_CHUNKS ? bytes / MOST_CHUNKS : chunk;
    return (chunk + 4095) & ~(size_t)4095;
}

/* In place, receiving would overwrite what is being read. */
static bool is_to_be_offered(const struct mur_board_op *op, int rank, size_t pair, const struct block *block,
                             size_t bytes)
{
    return bytes >= OFFER_BYTES && !op->board->channels[rank].is_refused && block->type->is_dense &&
           !(op->c.kind == MUR_ALLTOALL && op->c.from.buffer == MPI_IN_PLACE) &&
           atomic_load_explicit(&op->board->reads[pair].can_copy, memory_order_relaxed) &&
           mur_node_can_copy(local_of(op, rank));
}

static void offer(struct mur_board *board, size_t pair, struct mur_board_channel *channel, const struct block *block,
                  size_t bytes)
{
    struct mur_board_head *head = mur_board_head(board, pair, channel->sent + 1);

    head->bytes = bytes;
    head->is_offer = true;
    head->offer.from = (uintptr_t)block->buffer;
    atomic_store_explicit(&head->offer.to, 0, memory_order_relaxed);
    mur_claim_open(&head->offer.claim, 0);
    channel->offered = head;
    atomic_store_explicit(&head->number, ++channel->sent, memory_order_release); /* pairs with receive_piece */
}

/* Takes the next chunk of an offer from this side's end; false: none is left. */
static bool claim(const struct mur_board_op *op, struct mur_board_head *head, enum mur_claim_side side, size_t *at,
                  size_t *some)
{
    static const struct mur_claim_chunks one = {.even = 1};
    size_t bytes = head->bytes, chunk = chunk_of(op, bytes);
    struct mur_claim_part part = mur_claim_take(&head->offer.claim, 0, mur_claim_count(bytes, chunk), side, &one);

    if (!part.units)
        return false;
    *at = part.start * chunk;
    *some = mur_claim_bytes(bytes, chunk, part.start, 1);
    return true;
}

static bool has_failed(const struct mur_board_head *head)
{
    return mur_claim_has_failed(&head->offer.claim);
}

/* Counts a chunk; the release lets a side that sees all chunks counted see whether one has failed. */
static void finish_chunk(struct mur_board_head *head, bool is_copied)
{
    if (!is_copied)
        mur_claim_fail(&head->offer.claim);
    mur_claim_finish(&head->offer.claim, 1);
}

/* Sender: writes chunks to where the receiver wants them. Whether there was one. */
static bool write_chunks(struct mur_board_op *op, int rank, struct mur_board_head *head)
{
    uint64_t to = atomic_load_explicit(&head->offer.to, memory_order_acquire); /* pairs with read_offer */
    bool has_moved = false;
    size_t at, some;

    while (to && claim(op, head, MUR_CLAIM_BACK, &at, &some)) {
        char *from = (char *)(uintptr_t)head->offer.from + at;

        finish_chunk(head, has_failed(head) || mur_node_write(local_of(op, rank), from, to + at, some));
        has_moved = true;
    }
    return has_moved;
}

static bool is_complete(const struct mur_board_op *op, struct mur_board_head *head)
{
    return mur_claim_done(&head->offer.claim) == mur_claim_count(head->bytes, chunk_of(op, head->bytes));
}

/* Receiver: reads chunks, and tells the sender where others may be written, if they go there as they are. */
static void read_offer(struct mur_board_op *op, int rank, struct mur_board_head *head, const struct block *block)
{
    size_t room = (size_t)(block->count * block->type->size), at, some;
    bool is_straight = block->type->is_dense && head->bytes <= room;
    struct mur_cursor cursor;
    char piece[16 << 10];

    if (is_straight && !atomic_load_explicit(&head->offer.to, memory_order_relaxed)) {
        atomic_store_explicit(&head->offer.to, (uintptr_t)block->buffer, memory_order_release); /* with write_chunks */
        mur_board_rouse(op->board, rank);
    }
    while (claim(op, head, MUR_CLAIM_FRONT, &at, &some)) {
        uint64_t from = head->offer.from + at;
        bool is_copied = true;

        if (is_straight && !has_failed(head))
            is_copied = mur_node_read(local_of(op, rank), block->buffer + at, from, some);
        mur_cursor_start(&cursor, block->buffer, block->count, block->type);
        mur_cursor_seek(&cursor, at < room ? at : room);
        for (size_t done = 0, part; !is_straight && is_copied && done < some && at + done < room; done += part) {
            part = some - done < sizeof piece ? some - done : sizeof piece;
            part = room - at - done < part ? room - at - done : part;
            is_copied = mur_node_read(local_of(op, rank), piece, from + done, part);
            mur_cursor_unpack(&cursor, piece, is_copied ? part : 0);
        }
        finish_chunk(head, is_copied);
    }
}

/* Between cores that share a cache 1 MiB takes 30 us in pieces, and 43 offered; between others 65 to 95, and 45. So
 * what is sent is timed, and now and then something goes the slower way, to see whether it still is. Where ranks share
 * cores, many pieces are many changes of hands. */
static int choose_way(const struct mur_board *board, struct mur_board_channel *channel, size_t bytes)
{
    if (channel->has_chosen)
        return channel->way;
    channel->has_chosen = true;
    channel->began = 0;
    if (bytes < TIMED_PIECES * board->piece || !mur_wait_polls())
        return channel->way = OFFER;
    channel->began = mur_clock_ns();
    return channel->way = mur_pace_choose(&channel->pace, OFFER, TRIED_EVERY);
}

static void take_time(struct mur_board_channel *channel, size_t bytes)
{
    if (!channel->began)
        return;
    mur_pace_learn(&channel->pace, channel->way, bytes, mur_clock_ns() - channel->began);
    channel->began = 0;
}

/* The receiver has read the offer, or a side could not copy: then the data follow in pieces. */
static void end_offer(struct mur_board_channel *channel, size_t bytes)
{
    channel->is_refused = has_failed(channel->offered);
    channel->is_sent = !channel->is_refused;
    channel->offered = NULL;
    if (channel->is_sent)
        take_time(channel, bytes);
    else
        channel->began = 0;
}

/* ---- both ends ---- */

static bool send_some(struct mur_board_op *op, int rank)
{
    struct mur_board *board = op->board;
    struct mur_board_channel *channel = &board->channels[rank];
    struct block block = outgoing(op, rank);
    size_t bytes = block.type ? (size_t)(block.count * block.type->size) : 0;
    size_t pair = mur_board_pair_of(board, board->rank, rank);
    bool has_moved = false;

    channel->is_sent = !block.type;
    if (channel->offered) {
        has_moved = write_chunks(op, rank, channel->offered);
        if (has_read(board, pair, channel, channel->sent)) {
            end_offer(channel, bytes);
            has_moved = true;
        }
        if (has_moved)
            mur_board_rouse(board, rank);
        return has_moved;
    }
    if (block.type && !channel->out_at && is_to_be_offered(op, rank, pair, &block, bytes) &&
        choose_way(board, channel, bytes) == OFFER) {
        if (!has_room(board, pair, channel))
            return false;
        offer(board, pair, channel, &block, bytes);
        mur_board_rouse(board, rank);
        return true;
    }
    while (!channel->is_sent && send_piece(board, pair, channel, &block, bytes)) {
        has_moved = true;
        channel->is_sent = channel->out_at == bytes;
    }
    if (has_moved && channel->is_sent)
        take_time(channel, bytes);
    if (has_moved)
        mur_board_rouse(board, rank);
    return has_moved;
}

/* In place, what has not been sent yet must stay. */
static bool may_overwrite(const struct mur_board_op *op, const struct mur_board_channel *channel, size_t bytes)
{
    return op->c.kind != MUR_ALLTOALL || op->c.from.buffer != MPI_IN_PLACE || channel->is_sent ||
           channel->in_at + bytes <= channel->out_at;
}

/* Once, when the sender is known to be there, so that copying from it can be tried. */
static void tell_sender(struct mur_board_op *op, int rank, size_t pair, struct mur_board_channel *channel)
{
    if (channel->has_told)
        return;
    channel->has_told = true;
    if (mur_node_can_copy(local_of(op, rank)))
        atomic_store_explicit(&op->board->reads[pair].can_copy, 1, memory_order_relaxed);
}

/* Reads one head, with its piece; false while there is none. */
static bool receive_piece(struct mur_board_op *op, int rank, size_t pair, struct mur_board_channel *channel,
                          const struct block *block)
{
    struct mur_board *board = op->board;
    struct mur_board_head *head = mur_board_head(board, pair, channel->received + 1);
    size_t room = (size_t)(block->count * block->type->size), some, wanted;
    char *data = (char *)head->few;

    if (atomic_load_explicit(&head->number, memory_order_acquire) < channel->received + 1) /* pairs with send_piece */
        return false;
    tell_sender(op, rank, pair, channel);
    channel->in_bytes = head->bytes;
    if (head->is_offer) {
        read_offer(op, rank, head, block);
        if (!is_complete(op, head))
            return false;
        if (!has_failed(head)) /* else it comes in pieces, from the start */
            channel->in_at = channel->in_bytes;
        channel->received++;
        return true;
    }
    some = head->bytes - channel->in_at < board->piece ? head->bytes - channel->in_at : board->piece;
    if (!may_overwrite(op, channel, some))
        return false;
    if (some > MUR_BOARD_CELL_FEW)
        data = mur_board_piece(board, pair, channel->pieces_received++);
    wanted = channel->in_at >= room ? 0 : room - channel->in_at < some ? room - channel->in_at : some;
    if (wanted)
        unpack(block, channel->in_at, data, wanted);
    channel->in_at += some;
    channel->received++;
    return true;
}

static bool receive_some(struct mur_board_op *op, int rank)
{
    struct mur_board *board = op->board;
    struct mur_board_channel *channel = &board->channels[rank];
    struct block block = incoming(op, rank);
    size_t pair = mur_board_pair_of(board, rank, board->rank);
    bool has_moved = false;

    channel->is_received = !block.type;
    while (!channel->is_received && receive_piece(op, rank, pair, channel, &block)) {
        has_moved = true;
        channel->is_received = channel->in_at == channel->in_bytes;
        atomic_store_explicit(&board->reads[pair].value, channel->received, memory_order_release); /* with has_read */
    }
    if (!has_moved)
        return false;
    mur_board_rouse(board, rank);
    if (channel->in_bytes > (size_t)(block.count * block.type->size) && channel->is_received && !op->error)
        op->error =
            mur_error(MPI_ERR_TRUNCATE, "the block from rank %d has %zu bytes, but the counts and types here make %zu",
                      rank, channel->in_bytes, (size_t)(block.count * block.type->size));
    return true;
}

static void keep_own(const struct mur_board_op *op)
{
    const struct mur_collective *c = &op->c;
    struct block in = outgoing(op, op->board->rank), out = incoming(op, op->board->rank);
    const void *in_place = c->kind == MUR_SCATTER ? c->to.buffer : c->from.buffer;

    if (in.type && out.type && in_place != MPI_IN_PLACE && c->kind != MUR_BCAST)
        mur_layout_copy_typed(in.buffer, in.count, in.type, out.buffer, out.count, out.type);
}

/* A rank that has something for the root alone, or from it. */
static bool is_spoke(const struct mur_board_op *op)
{
    bool has_root = op->c.kind == MUR_BCAST || op->c.kind == MUR_GATHER || op->c.kind == MUR_SCATTER;

    return has_root && op->board->rank != op->c.root;
}

static void begin_with(struct mur_board_channel *channel)
{
    channel->began = 0;
    channel->out_at = channel->in_at = channel->in_bytes = 0;
    channel->is_sent = channel->is_received = channel->has_chosen = false;
}

/* op->step counts what is still to be done: to each rank, and from each. */
static void begin(struct mur_board_op *op)
{
    struct mur_board *board = op->board;

    op->stage = 1;
    op->step = is_spoke(op) ? 2 : 2 * (board->size - 1);
    if (is_spoke(op)) {
        begin_with(&board->channels[op->c.root]);
        return;
    }
    for (int rank = 0; rank < board->size; rank++)
        if (rank != board->rank)
            begin_with(&board->channels[rank]);
}

/* Whether something was moved. */
static bool exchange(struct mur_board_op *op, int from, int to)
{
    struct mur_board_channel *in = &op->board->channels[from], *out = &op->board->channels[to];
    bool has_moved = false;

    if (!in->is_received) {
        has_moved |= receive_some(op, from);
        op->step -= in->is_received;
    }
    if (!out->is_sent) {
        has_moved |= send_some(op, to);
        op->step -= out->is_sent;
    }
    return has_moved;
}

/* Everybody starts with another. */
static bool exchange_with_all(struct mur_board_op *op)
{
    int size = op->board->size, from = op->board->rank, to = from;
    bool has_moved = false;

    for (int i = 1; i < size; i++) {
        from = from ? from - 1 : size - 1;
        to = to + 1 < size ? to + 1 : 0;
        has_moved |= exchange(op, from, to);
    }
    return has_moved;
}

/* Of two ranks, small blocks go through a half, and small broadcasts in pieces (Zen 4, 64 KiB: 6.3 us, by cells 8.4;
 * 128 KiB: 10.4 and 7.3). */
enum mur_fit mur_board_fits_cells(const struct mur_collective *c, const struct mur_comm *comm)
{
    if (!comm->board->channels || (c->kind == MUR_BCAST && comm->size > 2))
        return MUR_CANNOT;
    if (c->kind == MUR_BCAST)
        return mur_blocks_bytes(&c->to) >= OFFER_BYTES ? MUR_BEST : MUR_CAN;
    if (comm->size == 2)
        return !c->is_irregular && mur_board_fits_blocks(c, comm) == MUR_BEST ? MUR_CAN : MUR_BEST;
    return c->kind == MUR_ALLGATHER ? MUR_CAN : MUR_BEST;
}

bool mur_board_cells(struct mur_board_op *op)
{
    bool is_first = op->stage == 0, has_moved = true;

    if (is_first)
        begin(op);
    while (has_moved && op->step) {
        has_moved = is_spoke(op) ? exchange(op, op->c.root, op->c.root) : exchange_with_all(op);
        if (is_first)
            keep_own(op); /* while the others come */
        is_first = false;
    }
    return op->step == 0;
}
