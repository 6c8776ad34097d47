/* SPDX-License-Identifier: BSD-3-Clause */
/* The board of a communicator whose ranks share a node: memory where each posts what the others need.
 *
 *   slots   for each rank a ring of MUR_BOARD_DEPTH slots: a number, and up to MUR_BOARD_SLOT bytes behind it
 *   phases  for each rank a counter of how far it has come in collectives that take several steps
 *   halves  two pieces of memory that large data pass through in turns; what is worked on several times uses of each
 *           only as much as stays in a core's cache
 *
 * Small collectives are numbered; every rank posts each of them in its ring, with data or without. Having posted
 * number n, a rank has finished all before n. So a slot may be written again when all ranks have posted the
 * number DEPTH - 1 before, and the memory for small data needs no other flow control. A half may be written again
 * when all ranks have passed the phase in which it was last read.
 *
 * Who waits polls for a while, and sleeps in the end, like for messages; who posts wakes the sleepers. */
#ifndef MUR_ENGINE_BOARD_H
#define MUR_ENGINE_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "engine/engine.h"

enum {
    MUR_BOARD_DEPTH = 4,
    MUR_BOARD_SLOT = 4096, /* bytes of data in a slot */
    MUR_BOARD_HALF_MAX = 1 << 20,
};

/* In shared memory. `number` and the first 48 bytes share a cache line: small data moves with its announcement. */
struct mur_board_slot {
    _Atomic uint64_t number; /* released when the data is there; pairs with the acquire in mur_board_has_posted */
    uint64_t unused;
    unsigned char data[MUR_BOARD_SLOT + 48];
} __attribute__((aligned(64)));

struct mur_board_phase {
    _Atomic uint64_t value; /* released; pairs with the acquire in mur_board_has_passed */
} __attribute__((aligned(64)));

struct mur_board_memory {
    _Atomic uint32_t users;                                     /* members that have not freed the communicator yet */
    _Atomic uint32_t half;                                      /* bytes of a half in use; the first to come measures */
    int32_t ranks;                                              /* room for so many */
    struct mur_board_slot slots[] __attribute__((aligned(64))); /* [ranks][DEPTH], then phases [ranks], then halves */
};

/* A rank's view of it, in private memory. */
struct mur_board {
    struct mur_board_memory *memory;
    struct mur_board_phase *phases;
    char *halves[2];
    size_t half; /* bytes */
    const int *processes;
    int rank, size;
    uint64_t started; /* collectives begun so far, */
    uint64_t current; /* and those that are complete: they run one after the other */
    uint64_t number;  /* of the latest slot of this rank */
    uint64_t posted;  /* what all ranks are known to have posted */
    uint64_t phase;   /* of this rank */
    uint64_t passed;  /* what all ranks are known to have passed */
    uint64_t busy[2]; /* a half may be written when all have passed this */
    int turn;         /* the half to be written next */
    bool is_common;   /* in common memory, which is never used again */
};

/* Bytes of shared memory for a board of so many ranks. */
size_t mur_board_bytes(int ranks);

/* The board of a communicator whose ranks are `processes`, in memory that is all zero, or was a board before and has
 * been reset. NULL: no memory. */
struct mur_board *mur_board_open(struct mur_board_memory *memory, int rank, int size, const int *processes);

/* The same in the engine's common memory. */
struct mur_board *mur_board_open_common(void *memory, int rank, int size, const int *processes);

/* Memory for a new board of so many ranks: one that all have given up, or a new piece. NULL: none left. */
struct mur_board_memory *mur_board_allocate(int ranks, uint64_t *token);

/* Gives a board up. NULL is none. */
void mur_board_close(struct mur_board *board);

static inline struct mur_board_slot *mur_board_slot(const struct mur_board *board, int rank, uint64_t number)
{
    return &board->memory->slots[(size_t)rank * MUR_BOARD_DEPTH + number % MUR_BOARD_DEPTH];
}

static inline bool mur_board_has_posted(const struct mur_board *board, int rank, uint64_t number)
{
    return atomic_load_explicit(&mur_board_slot(board, rank, number)->number, memory_order_acquire) >= number;
}

static inline bool mur_board_has_passed(const struct mur_board *board, int rank, uint64_t phase)
{
    return atomic_load_explicit(&board->phases[rank].value, memory_order_acquire) >= phase;
}

/* Announces this rank's slot of a number, or its next phase. */
void mur_board_post(struct mur_board *board, uint64_t number);
void mur_board_pass(struct mur_board *board);

/* Whether all ranks have posted the number, or passed the phase. *next is where to look first: 0 at first. */
bool mur_board_all_posted(struct mur_board *board, uint64_t number, int *next);
bool mur_board_all_passed(struct mur_board *board, uint64_t phase, int *next);

#endif
