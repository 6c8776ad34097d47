/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of boards, and posting. */
#include "coll/board/board.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/settings.h"
#include "node/cores.h"
#include "node/node.h"

enum {
    PROBED = 8 << 10,     /* bytes whose writing is timed */
    PAST_LEAST = 4 << 10, /* bytes: fewer are soon written in any way */
};

/* Instead of the token of a second board: a rank is making it; there is no memory for it. */
#define SECOND_CLAIMED (UINT64_MAX - 1)
#define NO_SECOND      UINT64_MAX

/* Boards that this process has allocated; used again once all members have given them up. */
struct owned {
    struct owned *next;
    struct mur_board_memory *memory;
    uint64_t token;
};
static struct owned *owned_boards;

static size_t header_bytes(int ranks)
{
    return sizeof(struct mur_board_memory) +
           (size_t)ranks * (MUR_BOARD_DEPTH * sizeof(struct mur_board_line) + sizeof(struct mur_board_phase));
}

/* Slots and halves start on a page of their own. */
static size_t slots_start(int ranks)
{
    return (header_bytes(ranks) + 4095) & ~(size_t)4095;
}

static size_t halves_start(int ranks)
{
    return slots_start(ranks) + (size_t)ranks * MUR_BOARD_SLOTS * MUR_BOARD_SLOT;
}

/* Boards are used again for half as many ranks, too: these have cells if those need them. */
static bool has_cells(int ranks)
{
    return ranks <= 2 * MUR_BOARD_CELL_RANKS;
}

static size_t piece_bytes(int ranks)
{
    size_t piece = MUR_BOARD_PIECE_MAX, pairs = (size_t)ranks * (size_t)ranks;

    while (pairs * MUR_BOARD_CELL_PIECES * piece > MUR_BOARD_CELL_BYTES)
        piece /= 2;
    return piece;
}

static size_t cells_start(int ranks)
{
    return halves_start(ranks) + 2 * (size_t)MUR_BOARD_HALF_MAX;
}

/* Heads of a pair. */
static size_t depth_of(int ranks)
{
    size_t depth = MUR_BOARD_CELL_DEPTH, pairs = (size_t)ranks * (size_t)ranks;

    while (pairs * depth > MUR_BOARD_CELL_HEADS)
        depth /= 2;
    return depth;
}

/* What the cells need besides pieces: whole pages. */
static size_t heads_bytes(int ranks)
{
    size_t pair = sizeof(struct mur_board_phase) + depth_of(ranks) * sizeof(struct mur_board_head);

    return ((size_t)ranks * (size_t)ranks * pair + 4095) & ~(size_t)4095;
}

size_t mur_board_bytes(int ranks)
{
    return cells_start(ranks) + (has_cells(ranks) ? heads_bytes(ranks) + MUR_BOARD_CELL_BYTES : 0);
}

static void open_cells(struct mur_board *board)
{
    int ranks = board->memory->ranks;
    char *start = (char *)board->memory + cells_start(ranks);

    board->reads = (struct mur_board_phase *)start;
    board->heads = (struct mur_board_head *)(board->reads + ranks * ranks);
    board->depth = depth_of(ranks);
    board->pieces = start + heads_bytes(ranks);
    board->piece = piece_bytes(ranks);
}

/* A quarter of a core's own cache, so that the data that are added to it fit as well. */
static uint32_t measure_warm(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE) / 4;

    if (bytes < 128 << 10)
        bytes = 128 << 10;
    return bytes > MUR_BOARD_HALF_MAX ? MUR_BOARD_HALF_MAX : (uint32_t)bytes & ~UINT32_C(4095);
}

/* Ranks that share cores wait in turn for others of their core, which costs more than leaving the cache: eight ranks on
 * two cores reduce 1 MiB in 0.36 ms in one piece, and in 0.48 ms in four. */
static uint32_t measure_half(int ranks, uint32_t warm)
{
    bool is_final;

    return ranks > 2 && !mur_cores_suffice(&is_final) ? MUR_BOARD_HALF_MAX : warm;
}

/* All ranks use what the first of them has measured. */
static size_t agree_on(_Atomic uint32_t *word, uint32_t measured)
{
    uint32_t bytes = 0;

    return atomic_compare_exchange_strong(word, &bytes, measured) ? measured : bytes;
}

struct mur_board *mur_board_open(struct mur_board_memory *memory, int rank, int size, const int *processes)
{
    size_t channels = size <= MUR_BOARD_CELL_RANKS ? (size_t)size : 0;
    struct mur_board *board = calloc(1, sizeof *board + channels * sizeof *board->channels);

    if (!board)
        return NULL;
    board->memory = memory;
    if (channels) {
        board->channels = (struct mur_board_channel *)(board + 1);
        open_cells(board);
    }
    board->phases = (struct mur_board_phase *)&memory->lines[(size_t)memory->ranks * MUR_BOARD_DEPTH];
    board->slots = (unsigned char *)memory + slots_start(memory->ranks);
    board->halves[0] = (char *)memory + halves_start(memory->ranks);
    board->halves[1] = board->halves[0] + MUR_BOARD_HALF_MAX;
    board->warm = agree_on(&memory->warm, measure_warm());
    board->half = agree_on(&memory->half, measure_half(size, (uint32_t)board->warm));
    board->processes = processes;
    board->rank = rank;
    board->size = size;
    return board;
}

/* All write the same value. */
struct mur_board *mur_board_open_common(void *memory, int rank, int size, const int *processes)
{
    struct mur_board_memory *board = memory;
    struct mur_board *opened;

    __atomic_store_n(&board->ranks, size, __ATOMIC_RELAXED);
    opened = mur_board_open(board, rank, size, processes);

    if (opened)
        opened->is_common = true;
    return opened;
}

static void reset(struct mur_board_memory *memory)
{
    struct mur_board_phase *phases = (struct mur_board_phase *)&memory->lines[(size_t)memory->ranks * MUR_BOARD_DEPTH];

    for (int i = 0; i < memory->ranks * MUR_BOARD_DEPTH; i++)
        atomic_store_explicit(&memory->lines[i].number, 0, memory_order_relaxed);
    for (int i = 0; i < memory->ranks; i++) {
        atomic_store_explicit(&phases[i].value, 0, memory_order_relaxed);
        atomic_store_explicit(&phases[i].arrived, 0, memory_order_relaxed);
        for (int k = 0; k < MUR_BOARD_CALLS; k++)
            atomic_store_explicit(&phases[i].calls[k], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&memory->is_broken, 0, memory_order_relaxed);
    atomic_store_explicit(&memory->second, 0, memory_order_relaxed);
    if (has_cells(memory->ranks))
        memset((char *)memory + cells_start(memory->ranks), 0, heads_bytes(memory->ranks));
}

struct mur_board_memory *mur_board_allocate(int ranks, const struct mur_board *like, uint64_t *token)
{
    struct owned *owned;

    for (owned = owned_boards; owned; owned = owned->next)
        if (owned->memory->ranks >= ranks && owned->memory->ranks <= 2 * ranks &&
            atomic_load_explicit(&owned->memory->users, memory_order_acquire) == 0) /* pairs with mur_board_close */
            break;
    if (owned) {
        reset(owned->memory);
    } else { /* new memory is all zero */
        owned = malloc(sizeof *owned);
        if (!owned)
            return NULL;
        owned->memory = mur_node_share(mur_board_bytes(ranks), &owned->token);
        if (!owned->memory) {
            free(owned);
            return NULL;
        }
        owned->memory->ranks = ranks;
        owned->next = owned_boards;
        owned_boards = owned;
    }
    if (like) {
        atomic_store_explicit(&owned->memory->half, (uint32_t)like->half, memory_order_relaxed);
        atomic_store_explicit(&owned->memory->warm, (uint32_t)like->warm, memory_order_relaxed);
    }
    atomic_store_explicit(&owned->memory->users, (uint32_t)ranks, memory_order_relaxed);
    *token = owned->token;
    return owned->memory;
}

/* One rank makes it; others wait for as long as that takes, which is short. */
static uint64_t make_second(struct mur_board *board)
{
    _Atomic uint64_t *word = &board->memory->second;
    uint64_t token = 0;

    /* Acquires what the rank that made it wrote before the release below. */
    if (atomic_compare_exchange_strong_explicit(word, &token, SECOND_CLAIMED, memory_order_acquire,
                                                memory_order_acquire)) {
        if (!mur_board_allocate(board->size, board, &token))
            token = NO_SECOND;
        atomic_store_explicit(word, token, memory_order_release); /* pairs with the acquires here and below */
    }
    while (token == SECOND_CLAIMED) {
        sched_yield();
        /* pairs with the release above, by another rank */
        token = atomic_load_explicit(word, memory_order_acquire);
    }
    return token;
}

struct mur_board *mur_board_second(struct mur_board *board)
{
    uint64_t token;

    if (board->second)
        return board->second;
    /* pairs with the release in make_second */
    token = atomic_load_explicit(&board->memory->second, memory_order_acquire);
    if (!token || token == SECOND_CLAIMED)
        token = make_second(board);
    if (token == NO_SECOND)
        return board;
    board->second = mur_board_open(mur_node_shared(token), board->rank, board->size, board->processes);
    return board->second;
}

/* Also where this process has never used it. */
static void close_second(struct mur_board *board)
{
    uint64_t token = atomic_load_explicit(&board->memory->second, memory_order_acquire);
    struct mur_board_memory *memory;

    if (!token || token >= SECOND_CLAIMED)
        return;
    memory = mur_node_shared(token);
    /* pairs with the acquire in mur_board_allocate, before the memory serves again */
    atomic_fetch_sub_explicit(&memory->users, 1, memory_order_release);
    free(board->second);
}

void mur_board_close(struct mur_board *board)
{
    if (!board)
        return;
    close_second(board);
    if (!board->is_common)
        /* pairs with the acquire in mur_board_allocate */
        atomic_fetch_sub_explicit(&board->memory->users, 1, memory_order_release);
    free(board);
}

/* The finding is a hint; only a change is written, as all read it. */
static void probe_write(struct mur_board *board, void *out, const void *in)
{
    uint64_t start = mur_clock_ns();
    uint32_t is_costly;

    mur_copy(out, in, PROBED);
    is_costly = mur_copy_was_costly(PROBED, mur_clock_ns() - start);
    if (is_costly != atomic_load_explicit(&board->memory->is_costly, memory_order_relaxed))
        atomic_store_explicit(&board->memory->is_costly, is_costly, memory_order_relaxed);
}

void mur_board_write(struct mur_board *board, void *out_, const void *in_, size_t bytes)
{
    char *out = out_;
    const char *in = in_;

    if (out == board->halves[0] && bytes >= PROBED) {
        probe_write(board, out, in);
        out += PROBED;
        in += PROBED;
        bytes -= PROBED;
    }
    if (bytes >= PAST_LEAST && atomic_load_explicit(&board->memory->is_costly, memory_order_relaxed))
        mur_copy_past(out, in, bytes);
    else
        mur_copy(out, in, bytes);
}

void mur_board_rouse(const struct mur_board *board, int rank)
{
    mur_node_rouse(&board->processes[rank], 1);
}

void mur_board_post(struct mur_board *board, uint64_t number)
{
    /* pairs with the acquire in mur_board_has_posted */
    atomic_store_explicit(&mur_board_line(board, board->rank, number)->number, number, memory_order_release);
    mur_node_rouse(board->processes, board->size);
}

void mur_board_pass(struct mur_board *board)
{
    /* pairs with the acquire in mur_board_has_passed */
    atomic_store_explicit(&board->phases[board->rank].value, ++board->phase, memory_order_release);
    mur_node_rouse(board->processes, board->size);
}

void mur_board_arrive(struct mur_board *board, int rank)
{
    /* pairs with the acquire in has_arrived (tree.c) */
    atomic_store_explicit(&board->phases[board->rank].arrived, board->arrival, memory_order_release);
    if (rank == MUR_BOARD_EVERYBODY)
        mur_node_rouse(board->processes, board->size);
    else if (rank != board->rank)
        mur_board_rouse(board, rank);
}

bool mur_board_all_posted(struct mur_board *board, uint64_t number, int *next)
{
    if (board->posted >= number) {
        *next = 0;
        return true;
    }
    for (; *next < board->size; ++*next)
        if (*next != board->rank && !mur_board_has_posted(board, *next, number))
            return false;
    *next = 0;
    board->posted = number;
    return true;
}

bool mur_board_all_passed(struct mur_board *board, uint64_t phase, int *next)
{
    if (board->passed >= phase) {
        *next = 0;
        return true;
    }
    for (; *next < board->size; ++*next)
        if (*next != board->rank && !mur_board_has_passed(board, *next, phase))
            return false;
    *next = 0;
    board->passed = phase;
    return true;
}
