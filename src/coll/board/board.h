/* SPDX-License-Identifier: BSD-3-Clause */
/* The board of a communicator whose ranks share a node: memory where each posts what the others need.
 *
 *   lines   for each rank a ring of MUR_BOARD_DEPTH cache lines: a number, and up to MUR_BOARD_FEW bytes
 *   slots   for each rank a ring of MUR_BOARD_SLOTS pieces of MUR_BOARD_SLOT bytes, for what a line does not hold
 *   phases  for each rank a counter of how far it has come in collectives that take several steps
 *   halves  two pieces of memory that large data pass through in turns; where ranks have cores of their own, what is
 *           worked on several times uses of each only as much as stays in a core's cache. Chains (coll/board/chain.c)
 *           and streams (coll/board/stream.c) use the same memory in other portions
 *   cells   for each ordered pair of ranks, where they are not many: messages in pieces, which nobody else sees
 *
 * Small collectives are numbered; every rank posts each of them in its ring, with data or without. Having posted
 * number n, a rank has finished all before n. So a line may be written again when all ranks have posted the
 * number DEPTH - 1 before (a slot: SLOTS - 1), and the memory for small data needs no other flow control. The ring is
 * long so that a rank that waits for nobody, like the root of a broadcast, may do many operations before it has to: of
 * ranks that share a core, each then does many whenever it has the core. A half may be written again when all ranks
 * have passed the phase in which it was last read. The pieces of a pair are numbered, too; the receiver says how many
 * it has read.
 *
 * A rank that waits polls for a while and then sleeps, as for messages; a rank that posts wakes the sleepers. */
#ifndef MUR_ENGINE_BOARD_H
#define MUR_ENGINE_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/pace.h"

enum {
    MUR_BOARD_DEPTH = 256, /* lines of a rank, */
    MUR_BOARD_FEW = 48,    /* and bytes of data in each */
    MUR_BOARD_SLOTS = 32,  /* slots of a rank, */
    MUR_BOARD_SLOT = 4096, /* and bytes in each */
    MUR_BOARD_CALLS = 4,   /* collectives that a rank has announced last (coll/board/mismatch.c) */
    MUR_BOARD_HALF_MAX = 1 << 20,
    MUR_BOARD_LINKS = 8,                                             /* of a rank, in a chain */
    MUR_BOARD_SECTIONS = 16,                                         /* of a stream, */
    MUR_BOARD_SECTION = 2 * MUR_BOARD_HALF_MAX / MUR_BOARD_SECTIONS, /* and bytes in each */
    MUR_BOARD_CELL_RANKS = 16,                                       /* communicators of no more ranks have cells */
    MUR_BOARD_CELL_DEPTH = 256,                                      /* heads of a pair at most, */
    MUR_BOARD_CELL_HEADS = 1 << 14,                                  /* and of all pairs, */
    MUR_BOARD_CELL_FEW = 48,        /* bytes of data in a head; of more, a head announces a piece */
    MUR_BOARD_CELL_PIECES = 2,      /* of a pair */
    MUR_BOARD_CELL_BYTES = 1 << 20, /* pieces of all pairs */
    MUR_BOARD_PIECE_MAX = 64 << 10,
};

/* In shared memory: few data move with their announcement. */
struct mur_board_line {
    _Atomic uint64_t number; /* released when the data is there; pairs with the acquire in mur_board_has_posted */
    uint64_t call;           /* what the rank thinks this is, so that readers see who disagrees */
    unsigned char data[MUR_BOARD_FEW];
} __attribute__((aligned(64)));

struct mur_board_phase {
    _Atomic uint64_t value;    /* released; pairs with the acquire in mur_board_has_passed */
    _Atomic uint32_t can_copy; /* on a pair's counts of bytes read: the receiver may copy from the sender's memory */
    _Atomic uint64_t calls[MUR_BOARD_CALLS]; /* the latest collectives that the rank has begun, for those who wait */
    _Atomic uint64_t arrived; /* arrivals of the rank and of all below it in the tree (coll/board/tree.c);
                               * released, pairs with the acquire there */
} __attribute__((aligned(64)));

/* Instead of data: where they are, for both sides to copy chunks from buffer to buffer. */
struct mur_board_offer {
    uint64_t from;
    _Atomic uint64_t to;    /* 0 until the receiver has said where; released, the sender acquires */
    struct mur_claim claim; /* chunks: the receiver takes them from the front, the sender from the back; it has
                             * failed if the system has refused to copy one */
};

struct mur_board_head {
    _Atomic uint64_t number; /* released when the data is there; pairs with the acquire in receive_piece */
    uint64_t bytes : 63;     /* of the whole message */
    uint64_t is_offer : 1;
    union {
        unsigned char few[MUR_BOARD_CELL_FEW];
        struct mur_board_offer offer;
    };
};

/* One end's view of the cells to and from another rank, in private memory. */
struct mur_board_channel {
    uint64_t sent, read;                  /* heads written, and how many of them the other is known to have read */
    uint64_t pieces_sent;                 /* pieces written, */
    uint64_t uses[MUR_BOARD_CELL_PIECES]; /* and the head that announced the latest in each place */
    uint64_t received, pieces_received;
    /* of the operation under way */
    size_t out_at, in_at, in_bytes; /* bytes sent and received so far, and those that the other has announced */
    bool is_sent, is_received, has_chosen;
    bool has_told;                  /* the sender whether this rank can copy from it */
    bool is_refused;                /* an offer has failed: no more are made */
    struct mur_board_head *offered; /* an offer that waits to be read */
    /* how large data are sent */
    int way;
    uint64_t began; /* nanoseconds */
    struct mur_pace pace;
};

struct mur_board_memory {
    _Atomic uint32_t users;      /* members that have not freed the communicator yet */
    _Atomic uint32_t half, warm; /* as below; the first to come measures */
    _Atomic uint32_t is_costly;  /* to write what others have read; see mur_board_write */
    int32_t ranks;               /* that it has room for */
    _Atomic uint32_t is_broken;  /* ranks have called what does not fit together */
    _Atomic uint64_t second;     /* token of the board for nonblocking collectives; released by the rank that made it,
                                  * pairs with the acquire in mur_board_second */
    struct mur_board_line lines[] __attribute__((aligned(64))); /* [ranks][DEPTH], then phases [ranks], slots [ranks]
                                                                 * [SLOTS], halves, cells */
};

/* The memory of the halves is used in three ways, each of which keeps account of what is still being read. */
enum mur_board_use { MUR_BOARD_HALVES, MUR_BOARD_CHAIN, MUR_BOARD_STREAM, MUR_BOARD_USES };

/* A rank's view of it, in private memory. */
struct mur_board {
    struct mur_board_memory *memory;
    struct mur_board_phase *phases;
    unsigned char *slots;
    char *halves[2];
    size_t half;                        /* bytes of it that collectives in several steps use, */
    size_t warm;                        /* and bytes that stay in a core's cache */
    struct mur_board_phase *reads;      /* [sender][receiver]: how many heads the receiver has read. NULL: no cells */
    struct mur_board_head *heads;       /* [sender][receiver][depth] */
    uint64_t depth;                     /* a power of two */
    char *pieces;                       /* [sender][receiver][CELL_PIECES] */
    size_t piece;                       /* bytes */
    struct mur_board_channel *channels; /* [size] */
    const int *processes;
    int rank, size;
    uint64_t started;                      /* collectives begun so far, */
    uint64_t current;                      /* and those that are complete: they run one after the other */
    uint64_t number;                       /* of the latest line of this rank */
    uint64_t posted;                       /* what all ranks are known to have posted */
    uint64_t arrival;                      /* of the tree: how many there have been, */
    uint64_t arrived;                      /* and the latest number in which all ranks have waited for all */
    uint64_t phase;                        /* of this rank */
    uint64_t passed;                       /* what all ranks are known to have passed */
    uint64_t others[MUR_BOARD_USES];       /* a use may begin when all have passed this: the other uses are over */
    uint64_t busy[2];                      /* a half may be written when all have passed this, */
    uint64_t links[MUR_BOARD_LINKS];       /* a link when its reader has passed this, */
    uint64_t sections[MUR_BOARD_SECTIONS]; /* a section when all have passed this */
    int link;                              /* to be written next */
    size_t stream;                         /* the byte of both halves together to be written next */
    int turn;                              /* the half to be written next, */
    size_t place;                          /* and from which byte on, where `warm` bytes are enough */
    unsigned roots;                        /* a sum of the roots of all collectives begun (coll/board/mismatch.c) */
    bool is_common;                        /* in common memory, which is never used again */
    struct mur_board *second;              /* for nonblocking collectives, once there has been one. Owned */
};

/* Bytes of shared memory that a board of `ranks` ranks needs. */
size_t mur_board_bytes(int ranks);

/* The board of a communicator whose ranks are `processes`, in memory that is all zero, or was a board before and has
 * been reset. NULL: no memory. */
struct mur_board *mur_board_open(struct mur_board_memory *memory, int rank, int size, const int *processes);

/* The same in the engine's common memory. */
struct mur_board *mur_board_open_common(void *memory, int rank, int size, const int *processes);

/* Memory for a new board of `ranks` ranks: a board that all its ranks have closed, or new memory. NULL: none left. With
 * `like` its halves are those of that board: what fits into one fits into the other. */
struct mur_board_memory *mur_board_allocate(int ranks, const struct mur_board *like, uint64_t *token);

/* The board for nonblocking collectives of the same ranks, which the first of them to start one makes; all get the same
 * answer. Without memory for another it is the board itself. NULL: no memory in this process. */
struct mur_board *mur_board_second(struct mur_board *board);

/* Gives a board up, and its second. NULL is none. */
void mur_board_close(struct mur_board *board);

static inline struct mur_board_line *mur_board_line(const struct mur_board *board, int rank, uint64_t number)
{
    return &board->memory->lines[(size_t)rank * MUR_BOARD_DEPTH + number % MUR_BOARD_DEPTH];
}

static inline unsigned char *mur_board_slot(const struct mur_board *board, int rank, uint64_t number)
{
    return board->slots + ((size_t)rank * MUR_BOARD_SLOTS + number % MUR_BOARD_SLOTS) * MUR_BOARD_SLOT;
}

static inline bool mur_board_has_posted(const struct mur_board *board, int rank, uint64_t number)
{
    /* pairs with the release in mur_board_post */
    return atomic_load_explicit(&mur_board_line(board, rank, number)->number, memory_order_acquire) >= number;
}

static inline bool mur_board_has_passed(const struct mur_board *board, int rank, uint64_t phase)
{
    /* pairs with the release in mur_board_pass */
    return atomic_load_explicit(&board->phases[rank].value, memory_order_acquire) >= phase;
}

static inline size_t mur_board_pair_of(const struct mur_board *board, int sender, int receiver)
{
    return (size_t)sender * (size_t)board->memory->ranks + (size_t)receiver;
}

static inline struct mur_board_head *mur_board_head(const struct mur_board *board, size_t pair, uint64_t number)
{
    return &board->heads[pair * board->depth + (number & (board->depth - 1))];
}

static inline char *mur_board_piece(const struct mur_board *board, size_t pair, uint64_t number)
{
    return board->pieces + (pair * MUR_BOARD_CELL_PIECES + number % MUR_BOARD_CELL_PIECES) * board->piece;
}

/* Wakes one rank, for which something has been written. */
void mur_board_rouse(const struct mur_board *board, int rank);

/* Announces this rank's line of a number, or its next phase. */
void mur_board_post(struct mur_board *board, uint64_t number);
void mur_board_pass(struct mur_board *board);

/* Announces that this rank and those below it have arrived, to one rank, or to all. */
enum { MUR_BOARD_EVERYBODY = -1 };
void mur_board_arrive(struct mur_board *board, int rank);

/* Writes what other ranks read, into the halves. Before a core writes a line that another has read, it must take it out
 * of that one's cache. Where the two share none that can take ten times as long as the copy: then the data go past the
 * caches (AMD Zen 4: 1 MiB in 40 us instead of 580; where they do share one, 30 us with caches). What is written to the
 * first bytes of the halves always goes by the caches, is timed, and shows how it is. */
void mur_board_write(struct mur_board *board, void *out, const void *in, size_t bytes);

/* Ends a piece of a use: the others may begin when all ranks have passed `phase`. */
static inline void mur_board_leave(struct mur_board *board, enum mur_board_use use, uint64_t phase)
{
    for (int other = 0; other < MUR_BOARD_USES; other++)
        if (other != (int)use)
            board->others[other] = phase;
}

/* Whether all ranks have posted the number, or passed the phase. *next is where to look first: 0 at first. */
bool mur_board_all_posted(struct mur_board *board, uint64_t number, int *next);
bool mur_board_all_passed(struct mur_board *board, uint64_t phase, int *next);

#endif
