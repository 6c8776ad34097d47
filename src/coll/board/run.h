/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives among ranks of one node, on the communicator's board (coll/board/board.h). */
#ifndef MUR_COLL_NODE_H
#define MUR_COLL_NODE_H

#include "base/settings.h"
#include "coll/algorithms.h"
#include "coll/board/board.h"
#include "coll/collective.h"
#include "coll/hold.h"

/* One collective under way. Performed by `advance`, which does what can be done without waiting. */
struct mur_board_op {
    struct mur_task task;
    struct mur_collective c;
    struct mur_comm *comm;
    struct mur_board *board;
    struct mur_request *request; /* of a nonblocking one: holds on to the communicator */
    struct mur_held held;        /* if it outlives its call */
    bool is_held;
    const struct mur_algorithm *algorithm;
    uint64_t ticket;                          /* its turn on the board */
    bool (*advance)(struct mur_board_op *op); /* the algorithm's; true: complete */
    volatile uint8_t is_complete;
    bool is_running;
    int error; /* MPI_SUCCESS or a code */
    /* the algorithm's own */
    int stage, step;
    int next;           /* the rank to be waited for next */
    uint64_t call;      /* what this rank calls, see mur_board_call */
    uint64_t number;    /* of the lines used, */
    uint64_t depth;     /* and how many there are: MUR_BOARD_DEPTH lines, or MUR_BOARD_SLOTS slots */
    uint64_t phase;     /* of this rank when the piece under way began */
    MPI_Count position; /* elements (bytes of a broadcast) done before the piece under way, */
    MPI_Count piece;    /* and in it */
};

/* By an algorithm of the board that fits (mur_choose_on_board). */
int mur_board_run(const struct mur_algorithm *algorithm, const struct mur_collective *collective,
                  struct mur_comm *comm);

/* On a board of their own: ranks may call blocking collectives before or after nonblocking ones, as programs do that
 * know other libraries. */
int mur_board_start(const struct mur_algorithm *algorithm, const struct mur_collective *collective,
                    struct mur_comm *comm, MPI_Request *request);

/* Prepares it on a board of its own, since ranks may start persistent operations in different orders. *request is
 * untouched when there is no memory for a board; the answer is the same at all ranks. */
int mur_board_keep(const struct mur_algorithm *algorithm, const struct mur_collective *collective,
                   struct mur_comm *comm, MPI_Request *request);

/* The algorithms, and what each fits. */
#define MUR_BOARD_ALGORITHM(name_)                                                                                     \
    bool mur_board_##name_(struct mur_board_op *op);                                                                   \
    enum mur_fit mur_board_fits_##name_(const struct mur_collective *collective, const struct mur_comm *comm)
MUR_BOARD_ALGORITHM(lines);      /* small.c: what fits into lines, */
MUR_BOARD_ALGORITHM(slots);      /* small.c: and what fits into slots */
MUR_BOARD_ALGORITHM(tree);       /* tree.c: the same among many ranks */
MUR_BOARD_ALGORITHM(tree_slots); /* tree.c */
MUR_BOARD_ALGORITHM(blocks);     /* blocks.c: blocks that fit into a half */
MUR_BOARD_ALGORITHM(slices);     /* blocks.c: allgather of large blocks */
MUR_BOARD_ALGORITHM(pieces);     /* stream.c: broadcasts, piece by piece */
MUR_BOARD_ALGORITHM(parts);      /* reduce.c: each rank reduces a part */
MUR_BOARD_ALGORITHM(ring);       /* reduce.c: sums go around */
MUR_BOARD_ALGORITHM(chain);      /* chain.c: from rank to rank */
MUR_BOARD_ALGORITHM(pair);       /* pair.c: between two ranks */
MUR_BOARD_ALGORITHM(cells);      /* cells.c: blocks, each pair for itself */

/* Whether each rank looks at a few others only (in a tree), since there are more than MUR_COLL_FLAT. */
static inline bool mur_board_is_crowded(const struct mur_comm *comm)
{
    return comm->size > mur_settings.coll_flat;
}

/* Describes what the request of one that was started waits for (engine/rest.h); false: it is of something else. */
bool mur_board_describe(const struct mur_request *request);

/* mismatch.c: whether the rank has begun this operation, or a later one. */
bool mur_board_has_begun(const struct mur_board_op *op, int rank);

/* small.c: how many bytes a rank has to tell the others, of collectives that lines or slots may do; SIZE_MAX of others;
 * whether a slot holds them, so that larger ways are not the best; and whether a reduction is of gapless types, and an
 * element of each rank fits into a half. */
size_t mur_board_told(const struct mur_collective *collective, const struct mur_comm *comm);
bool mur_board_is_small(const struct mur_collective *collective, const struct mur_comm *comm);
bool mur_board_reduces(const struct mur_collective *collective, const struct mur_comm *comm);

/* blocks.c: the bytes of one block, of a collective whose blocks are alike. */
size_t mur_board_block(const struct mur_collective *collective);

/* small.c: where a rank's data are; writing this rank's; reading what this rank needs of all. */
unsigned char *mur_board_data(const struct mur_board_op *op, int rank);
void mur_board_write_own(struct mur_board_op *op);
void mur_board_read(struct mur_board_op *op);

/* mismatch.c: what a rank calls, as one word, asked for once; comparing it with what the ranks first to last have
 * written in their lines, or announced; announcing it; looking at what the others have announced after a large one;
 * and, while waiting, whether a rank has announced another operation. Then the board is broken, and
 * all else on it is refused. All errors are in op->error. */
uint64_t mur_board_call(struct mur_board_op *op);
void mur_board_compare(struct mur_board_op *op, int first, int last);
void mur_board_compare_announced(struct mur_board_op *op, int rank);
void mur_board_announce(const struct mur_board_op *op);
void mur_board_look_back(struct mur_board_op *op);
bool mur_board_waits_in_vain(struct mur_board_op *op);
bool mur_board_is_broken(const struct mur_board *board);
bool mur_board_refuse(struct mur_board_op *op);

/* Starts a piece on the next half; false while somebody may still read it. */
bool mur_board_take_half(struct mur_board_op *op);

/* Begins another use of the memory of the halves; false while that is not possible. */
bool mur_board_end_halves(struct mur_board_op *op, enum mur_board_use use);

/* Where the next half has room for `bytes` bytes. */
static inline char *mur_board_half(const struct mur_board *board, size_t bytes)
{
    return board->halves[board->turn] + (bytes <= board->warm ? board->place : 0);
}

/* Ends a piece in which every rank passes `phases` phases. */
void mur_board_leave_half(struct mur_board_op *op, int phases);

/* Copying between users' buffers and runs of bytes. */
void mur_board_pack(const void *buffer, MPI_Count count, struct mur_type *type, void *out);
void mur_board_unpack(const void *in, void *buffer, MPI_Count count, struct mur_type *type);

/* Packing into the halves (mur_board_write); of a part, `bytes` that come at `at`. */
void mur_board_write_typed(struct mur_board *board, const void *buffer, MPI_Count count, struct mur_type *type,
                           void *out);
void mur_board_write_part(struct mur_board *board, const char *buffer, MPI_Count count, struct mur_type *type,
                          size_t at, size_t bytes, void *out);

/* The distance of the ranks' copies in a half: whole cache lines. */
static inline size_t mur_board_parts_stride(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* How many of `left` elements may go through a half at a time, where each rank has a copy of its own. */
static inline MPI_Count mur_board_elements_of_all(const struct mur_board_op *op, MPI_Count left)
{
    size_t room = op->board->half / (size_t)op->board->size & ~(size_t)63;
    MPI_Count most = (MPI_Count)room / op->c.from.type->size;

    return left < most ? left : most;
}

static inline size_t mur_blocks_bytes(const struct mur_blocks *blocks)
{
    return (size_t)(blocks->count * blocks->type->size);
}

/* The bytes of one block of an operation whose blocks are alike, known to all ranks. */
static inline size_t mur_block_bytes(const struct mur_collective *c)
{
    return mur_blocks_bytes(c->from.buffer == MPI_IN_PLACE || !c->from.type ? &c->to : &c->from);
}

#endif
