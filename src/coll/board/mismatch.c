/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that call what does not fit together on a board: another collective, root, operation or number of bytes. A call
 * is a word; equal words mean that nothing is wrong as far as is known.
 *
 * Small collectives write it beside their data, and who reads the data compares, which costs next to nothing. A rank
 * that takes itself for the root of a broadcast reads nobody's data: so the calls of collectives without a root have a
 * sum of all roots before in its place, and two roots show in the next of these.
 *
 * Ranks that take different ways would wait for each other for ever: so each announces what it begins, and a rank that
 * has waited for long looks at the others before it goes to sleep; the last to do so sees what they have announced.
 * Then the board is given up: all that wait there, or come later, get an error. After a large one, for which nobody may
 * have waited, each looks at the others. */
#include <stdio.h>

#include "base/error.h"
#include "coll/board/run.h"
#include "coll/choose.h"

/* bytes:32, root (or the sum of those before):12, operation:8, kind and one:4, turn:8 */
enum { ROOT_AT = 32, OP_AT = 44, KIND_AT = 52, TURN_AT = 56, TURNS = 256 };

enum { LOOK_BACK_LEAST = 65536 }; /* bytes of a call beside which a look at a line of each rank costs nothing */

/* A rank may be ahead of another by what the rings of lines and of heads hold: less than the turns tell apart. */
_Static_assert((int)TURNS *MUR_BOARD_CALLS >= 2 * ((int)MUR_BOARD_DEPTH + MUR_BOARD_CELL_DEPTH), "turns tell apart");

static bool has_root(enum mur_collective_kind kind)
{
    return kind == MUR_BCAST || kind == MUR_GATHER || kind == MUR_SCATTER || kind == MUR_REDUCE;
}

uint64_t mur_board_call(struct mur_board_op *op)
{
    const struct mur_collective *c = &op->c;
    uint64_t call = (uint32_t)mur_collective_bytes(c, op->comm);
    unsigned *roots = &op->board->roots; /* collectives begin in the same order at all ranks */

    if (has_root(c->kind))
        *roots = *roots * 5 + (unsigned)c->root + 1;
    call |= ((uint64_t)(has_root(c->kind) ? (unsigned)c->root : *roots) & 0xfff) << ROOT_AT;
    if (c->op) /* those of users have no name that means the same at all ranks */
        call |= ((uint64_t)(c->op->object.predefined ? c->op->object.predefined : 0xff) & 0xff) << OP_AT;
    return call | ((uint64_t)c->kind + 1) << KIND_AT | op->ticket / MUR_BOARD_CALLS % TURNS << TURN_AT;
}

static unsigned part(uint64_t call, int at, int bits)
{
    return (unsigned)(call >> at & ((UINT64_C(1) << bits) - 1));
}

static const char *describe(uint64_t call, char text[128])
{
    enum mur_collective_kind kind = (enum mur_collective_kind)(part(call, KIND_AT, 4) - 1);
    const struct mur_op *op = mur_op_find((MPI_Op)(uintptr_t)part(call, OP_AT, 8));
    char root[32] = "";

    if (has_root(kind))
        snprintf(root, sizeof root, " with root %u", part(call, ROOT_AT, 12));
    snprintf(text, 128, "%s%s%s of %u bytes%s", mur_collective_name(kind), part(call, OP_AT, 8) ? " by " : "",
             !part(call, OP_AT, 8) ? ""
             : op && op->name      ? op->name
                                   : "an operation of the user's",
             part(call, 0, 32), root);
    return text;
}

static int differ(int rank, uint64_t theirs, uint64_t mine)
{
    uint64_t wrong = theirs ^ mine;
    char text_theirs[128], text_mine[128];
    int class = part(wrong, KIND_AT, 4)    ? MPI_ERR_OTHER
                : part(wrong, ROOT_AT, 12) ? MPI_ERR_ROOT
                : part(wrong, OP_AT, 8)    ? MPI_ERR_OP
                                           : MPI_ERR_COUNT;

    if (class == MPI_ERR_ROOT && !has_root((enum mur_collective_kind)(part(mine, KIND_AT, 4) - 1)))
        return mur_error(class,
                         "the ranks disagree: rank %d and this one have called an earlier collective on this "
                         "communicator with different roots; what it has brought is wrong",
                         rank);
    return mur_error(class, "the ranks disagree: rank %d calls %s, this one %s", rank, describe(theirs, text_theirs),
                     describe(mine, text_mine));
}

static bool is_same(uint64_t a, uint64_t b)
{
    return (a ^ b) << (64 - TURN_AT) == 0;
}

void mur_board_compare(struct mur_board_op *op, int first, int last)
{
    for (int rank = first; rank <= last; rank++) {
        uint64_t theirs = mur_board_line(op->board, rank, op->number)->call;

        if (__builtin_expect(!is_same(theirs, op->call), 0) && !op->error)
            op->error = differ(rank, theirs, op->call);
    }
}

static _Atomic uint64_t *announced(const struct mur_board_op *op, int rank)
{
    return &op->board->phases[rank].calls[op->ticket % MUR_BOARD_CALLS];
}

/* Relaxed: the word is all there is to know. */
void mur_board_announce(const struct mur_board_op *op)
{
    atomic_store_explicit(announced(op, op->board->rank), op->call, memory_order_relaxed);
}

/* Turns are compared as numbers that go around. */
bool mur_board_has_begun(const struct mur_board_op *op, int rank)
{
    uint64_t theirs = atomic_load_explicit(announced(op, rank), memory_order_relaxed);

    return theirs && (int8_t)((theirs >> TURN_AT) - (op->call >> TURN_AT)) >= 0;
}

/* Whether another rank has begun something else in this turn; says so in op->error. */
static bool differs_from(struct mur_board_op *op, int rank)
{
    uint64_t theirs = atomic_load_explicit(announced(op, rank), memory_order_relaxed);

    if (!theirs || theirs >> TURN_AT != op->call >> TURN_AT || is_same(theirs, op->call))
        return false;
    op->error = differ(rank, theirs, op->call);
    return true;
}

static bool differs_from_any(struct mur_board_op *op)
{
    for (int rank = 0; rank < op->board->size; rank++)
        if (differs_from(op, rank))
            return true;
    return false;
}

/* Sleepers must see it, too. A rank that reads anything written after this sees it. */
static void break_board(const struct mur_board *board)
{
    atomic_store_explicit(&board->memory->is_broken, 1, memory_order_relaxed);
    for (int rank = 0; rank < board->size; rank++)
        if (rank != board->rank)
            mur_board_rouse(board, rank);
}

void mur_board_compare_announced(struct mur_board_op *op, int rank)
{
    if (!op->error && differs_from(op, rank))
        break_board(op->board);
}

void mur_board_look_back(struct mur_board_op *op)
{
    if (part(op->call, 0, 32) >= LOOK_BACK_LEAST && !op->error)
        differs_from_any(op);
}

bool mur_board_is_broken(const struct mur_board *board)
{
    return atomic_load_explicit(&board->memory->is_broken, memory_order_relaxed);
}

bool mur_board_refuse(struct mur_board_op *op)
{
    if (!differs_from_any(op))
        op->error =
            mur_error(MPI_ERR_OTHER, "ranks have called collectives that do not fit together on this communicator "
                                     "before; it is of no use any more");
    return true;
}

bool mur_board_waits_in_vain(struct mur_board_op *op)
{
    struct mur_board *board = op->board;

    if (__builtin_expect(!mur_engine.wait_is_long, 1) || board->current != op->ticket || op->is_running)
        return false;
    if (mur_board_is_broken(board))
        mur_board_refuse(op);
    else if (differs_from_any(op))
        break_board(board);
    else
        return false;
    board->current++;
    return true;
}
