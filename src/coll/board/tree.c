/* SPDX-License-Identifier: BSD-3-Clause */
/* Small collectives among many ranks. Where each looks at the lines of all others, what they cost together grows with
 * the square of their number, and so do the wake-ups. Here ranks arrive up a tree: each waits for its children alone,
 * of which it has at most FAN - 1 a level, and wakes its parent; the ranks below one are consecutive, so that operands
 * stay in order. Rank 0, at the top, then wakes all. A rank waits twice at most, whatever their number.
 *
 * Data lie in the lines or slots of small.c: reductions are combined on the way up, and all read rank 0's result;
 * what all have for all is read from everybody's when all have arrived.
 *
 * Lines and slots are rings. A rank that writes to a place again must know that nobody reads there any more: all ranks
 * have arrived in some collective since, and so are done with all before it. Where the last `depth` collectives were of
 * those in which not everybody waits, all ranks alike first arrive once more. */
#include "base/copy.h"
#include "coll/board/run.h"

enum {
    FAN = 16,
    LEVELS_MAX = 4,
    LOOK_MOST = 64, /* ranks of which each may look at what all others have, to add it up */
};

/* How many consecutive ranks, itself included, are below a rank, if there were no end of ranks. */
static int span(const struct mur_board *board, int rank)
{
    int ranks = 1;

    while (ranks < board->size && rank % (ranks * FAN) == 0)
        ranks *= FAN;
    return ranks;
}

static int parent(const struct mur_board *board, int rank)
{
    return rank - rank % (span(board, rank) * FAN);
}

/* The child of this rank behind one of its children, or, behind itself, the first; 0: there is none. */
static int next_child(const struct mur_board *board, int child)
{
    int rank = board->rank, next = child == rank ? rank + 1 : child + span(board, child);

    return next < board->size && next < rank + span(board, rank) ? next : 0;
}

/* Where one rank has what the others need, they wait for it alone. */
static bool is_from_one(const struct mur_board_op *op)
{
    return op->c.kind == MUR_BCAST || op->c.kind == MUR_SCATTER;
}

/* Only the root waits for all others. */
static bool is_to_one(const struct mur_board_op *op)
{
    return op->c.kind == MUR_REDUCE || op->c.kind == MUR_GATHER;
}

static bool is_reduction(const struct mur_board_op *op)
{
    return op->c.kind == MUR_REDUCE || op->c.kind == MUR_ALLREDUCE;
}

/* ---- arriving ---- */

static bool has_arrived(const struct mur_board *board, int rank)
{
    /* pairs with the release in mur_board_arrive */
    return atomic_load_explicit(&board->phases[rank].arrived, memory_order_acquire) >= board->arrival;
}

static void begin_arrival(struct mur_board_op *op)
{
    op->board->arrival++;
    op->next = next_child(op->board, op->board->rank);
}

static bool children_have_arrived(struct mur_board_op *op)
{
    while (op->next && has_arrived(op->board, op->next)) {
        mur_board_compare_announced(op, op->next);
        op->next = next_child(op->board, op->next);
    }
    return !op->next;
}

/* Tells the parent, and the highest one everybody, or the one who waits. */
static void arrive(struct mur_board_op *op, int waiting)
{
    struct mur_board *board = op->board;

    mur_board_arrive(board, board->rank ? parent(board, board->rank) : waiting);
}

/* The operands of this rank and of those below it, to this rank's place. */
static void combine(struct mur_board_op *op)
{
    unsigned char sum[MUR_BOARD_SLOT] __attribute__((aligned(64)));
    const struct mur_collective *c = &op->c;
    int children[FAN * LEVELS_MAX], count = 0, rank = op->board->rank;
    size_t bytes = mur_blocks_bytes(&c->from);

    for (int child = next_child(op->board, rank); child; child = next_child(op->board, child))
        children[count++] = child;
    if (!count)
        return;
    mur_copy(sum, mur_board_data(op, children[count - 1]), bytes);
    while (--count > 0)
        mur_op_apply(c->op, mur_board_data(op, children[count - 1]), sum, c->from.count, c->from.type);
    mur_op_apply(c->op, mur_board_data(op, rank), sum, c->from.count, c->from.type);
    mur_copy(mur_board_data(op, rank), sum, bytes);
}

/* ---- the stages: each returns whether it is over ---- */

enum { BEGIN, CLEAR_UP, CLEAR_DOWN, WRITE, UP, DOWN, STAGES };

/* Takes the next number. The place that it stands for may be in use as long as not all have arrived since it was used
 * before. All ranks come to the same result, since they have called the same before. */
static bool begin(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    bool is_free;

    op->number = ++board->number;
    is_free = op->number < board->arrived + op->depth;
    if (!is_free || !(is_from_one(op) || is_to_one(op)))
        board->arrived = op->number;
    if (is_free)
        op->stage = CLEAR_DOWN;
    else
        begin_arrival(op);
    return true;
}

static bool clear_up(struct mur_board_op *op)
{
    if (!children_have_arrived(op))
        return false;
    arrive(op, MUR_BOARD_EVERYBODY);
    return true;
}

static bool clear_down(struct mur_board_op *op)
{
    return has_arrived(op->board, 0);
}

static bool write_own(struct mur_board_op *op)
{
    mur_board_write_own(op);
    if (!is_from_one(op))
        begin_arrival(op);
    else if (op->board->rank == op->c.root)
        mur_board_post(op->board, op->number);
    return true;
}

static bool up(struct mur_board_op *op)
{
    if (is_from_one(op))
        return true;
    if (!children_have_arrived(op))
        return false;
    if (is_reduction(op) && !op->error)
        combine(op);
    arrive(op, is_to_one(op) ? op->c.root : MUR_BOARD_EVERYBODY);
    return true;
}

/* Whether what this rank needs is there. */
static bool is_there(struct mur_board_op *op)
{
    bool is_root = op->board->rank == op->c.root;

    if (is_to_one(op))
        return !is_root || has_arrived(op->board, 0);
    if (!is_from_one(op))
        return has_arrived(op->board, 0);
    if (is_root)
        return true;
    if (!mur_board_has_posted(op->board, op->c.root, op->number))
        return false;
    mur_board_compare_announced(op, op->c.root);
    return true;
}

static bool down(struct mur_board_op *op)
{
    const struct mur_collective *c = &op->c;

    if (!is_there(op))
        return false;
    if (op->error)
        return true;
    if (mur_board_is_broken(op->board))
        return mur_board_refuse(op);
    if (!is_reduction(op))
        mur_board_read(op);
    else if (c->kind == MUR_ALLREDUCE || op->board->rank == c->root)
        mur_copy(c->to.buffer, mur_board_data(op, 0), mur_blocks_bytes(&c->from));
    return true;
}

static bool go_through(struct mur_board_op *op, uint64_t depth)
{
    static bool (*const stages[STAGES])(struct mur_board_op *) = {
        [BEGIN] = begin, [CLEAR_UP] = clear_up, [CLEAR_DOWN] = clear_down, [WRITE] = write_own,
        [UP] = up,       [DOWN] = down,
    };

    op->depth = depth;
    while (op->stage < STAGES && stages[op->stage](op))
        op->stage++;
    return op->stage == STAGES;
}

/* In scans each rank adds up what those below it have. */
static bool adds_too_much(const struct mur_collective *c, const struct mur_comm *comm)
{
    return c->op && c->kind != MUR_REDUCE && c->kind != MUR_ALLREDUCE && comm->size > LOOK_MOST;
}

static enum mur_fit fits_below(const struct mur_collective *c, const struct mur_comm *comm, size_t most)
{
    if (!mur_board_is_crowded(comm) || mur_board_told(c, comm) > most)
        return MUR_CANNOT;
    return adds_too_much(c, comm) ? MUR_CAN : MUR_BEST;
}

enum mur_fit mur_board_fits_tree(const struct mur_collective *c, const struct mur_comm *comm)
{
    return fits_below(c, comm, MUR_BOARD_FEW);
}

enum mur_fit mur_board_fits_tree_slots(const struct mur_collective *c, const struct mur_comm *comm)
{
    return fits_below(c, comm, MUR_BOARD_SLOT);
}

bool mur_board_tree(struct mur_board_op *op)
{
    return go_through(op, MUR_BOARD_DEPTH);
}

bool mur_board_tree_slots(struct mur_board_op *op)
{
    return go_through(op, MUR_BOARD_SLOTS);
}
