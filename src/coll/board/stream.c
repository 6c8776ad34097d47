/* SPDX-License-Identifier: BSD-3-Clause */
/* Large broadcasts on the board: a stream of pieces through both halves together, which are divided into sections. The
 * root writes one piece behind the other and passes after each; the others copy it out and pass, too. What has to be
 * read before the root may go on is the section that it comes to next, written a whole lap ago: so it may be ahead by
 * nearly all of the memory, of one broadcast or of several, and ranks that share a core do much of each for each time
 * that the core changes hands.
 *
 * The lap is long for another reason, too. A core that writes a line which another has read must first take it from
 * that one's cache; a lap later it has left that cache by itself. Copied through 512 KiB a megabyte takes 80 us between
 * two cores, through 2 MiB 30. */
#include "coll/board/run.h"

#include "datatype/layout.h"

enum { PIECE_MOST = MUR_BOARD_SECTION, PIECE_LEAST = 32 << 10 };

/* Small enough that root and readers work at the same time. */
static size_t piece_of(size_t bytes)
{
    size_t piece = bytes / 8 < PIECE_LEAST ? PIECE_LEAST : bytes / 8;

    return piece < PIECE_MOST ? piece : PIECE_MOST;
}

/* The place of the next piece, which lies in one section. */
static size_t place_of(struct mur_board *board, size_t piece)
{
    size_t left = MUR_BOARD_SECTION - board->stream % MUR_BOARD_SECTION;

    if (piece > left)
        board->stream = (board->stream + left) % (2 * (size_t)MUR_BOARD_HALF_MAX);
    return board->stream;
}

/* Whether the root may write there. A root that has to wait does so until half of the lap is free. */
static bool is_free(struct mur_board_op *op, size_t place)
{
    struct mur_board *board = op->board;
    size_t section = place / MUR_BOARD_SECTION;

    if (place % MUR_BOARD_SECTION || board->passed >= board->sections[section])
        return true;
    section = (section + MUR_BOARD_SECTIONS / 2) % MUR_BOARD_SECTIONS;
    return mur_board_all_passed(board, board->sections[section], &op->next);
}

static void leave_piece(struct mur_board_op *op, size_t place, size_t piece)
{
    struct mur_board *board = op->board;

    mur_board_pass(board);
    board->sections[place / MUR_BOARD_SECTION] = op->phase + 1;
    mur_board_leave(board, MUR_BOARD_STREAM, op->phase + 1);
    board->stream = (place + ((piece + 63) & ~(size_t)63)) % (2 * (size_t)MUR_BOARD_HALF_MAX);
    op->position += (MPI_Count)piece;
}

enum mur_fit mur_board_fits_pieces(const struct mur_collective *c, const struct mur_comm *comm)
{
    (void)c;
    (void)comm;
    return MUR_BEST;
}

bool mur_board_pieces(struct mur_board_op *op)
{
    struct mur_board *board = op->board;
    struct mur_blocks *to = &op->c.to;
    size_t bytes = mur_blocks_bytes(to), most = piece_of(bytes);
    bool is_root = board->rank == op->c.root;
    struct mur_cursor cursor;

    if (!mur_board_end_halves(op, MUR_BOARD_STREAM))
        return false;
    mur_cursor_start(&cursor, to->buffer, to->count, to->type);
    mur_cursor_seek(&cursor, (size_t)op->position);
    while ((size_t)op->position < bytes) {
        size_t left = bytes - (size_t)op->position, piece = left < most ? left : most, place = place_of(board, piece);
        char *data = board->halves[0] + place;

        op->phase = board->phase;
        if (is_root) {
            if (!is_free(op, place))
                return false;
            mur_board_write_part(board, to->buffer, to->count, to->type, (size_t)op->position, piece, data);
        } else {
            if (!mur_board_has_passed(board, op->c.root, op->phase + 1))
                return false;
            mur_cursor_unpack(&cursor, data, piece);
        }
        leave_piece(op, place, piece);
    }
    return true;
}
