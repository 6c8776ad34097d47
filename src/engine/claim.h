/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes of a node share a piece of work: a range of units, of which one takes chunks from the front and the
 * other from the back until none is left. Each side working from its own end, the same part of a buffer that is used
 * again meets the same core, and its cache.
 *
 *     number of the work | taken from the back | taken from the front
 *
 * is one word, in memory that both see, changed by compare-and-swap only.
 *
 * Order. Whoever opens the work writes its description first; mur_claim_open releases it with the number, and taking a
 * chunk acquires it. So whoever has taken a chunk has seen the description of that number (or one that was published
 * before by other means, a frame for example). Taking says nothing of the data: a unit belongs to who took it. What was
 * done with a unit is released by mur_claim_finish and acquired by whoever finds, there or by mur_claim_done, that it
 * is finished. `has_failed` goes with the units that are finished.
 *
 * The number is for work that may be closed, and followed by other work, while the other side still looks at it: a word
 * of another number is refused. Where the protocol keeps the word for one work until both sides are done with it, the
 * number is always 0. */
#ifndef MUR_ENGINE_CLAIM_H
#define MUR_ENGINE_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mur_claim {
    _Atomic uint64_t word;
    _Atomic uint32_t done;       /* units that are finished */
    _Atomic uint32_t has_failed; /* one of them is not as it should be */
};

enum { MUR_CLAIM_UNITS_MAX = 0x7fff, MUR_CLAIM_CLOSED = 0xffff };

enum mur_claim_side { MUR_CLAIM_FRONT, MUR_CLAIM_BACK };

static inline uint32_t mur_claim_taken(uint64_t word, enum mur_claim_side side)
{
    return word >> (side == MUR_CLAIM_BACK ? 16 : 0) & 0xffff;
}

static inline uint32_t mur_claim_number(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* `bytes` bytes cut into units, of which the last may be shorter: how many units, and the bytes of some of them. */
static inline uint32_t mur_claim_count(uint64_t bytes, uint64_t unit)
{
    return (uint32_t)((bytes + unit - 1) / unit);
}

static inline uint64_t mur_claim_bytes(uint64_t bytes, uint64_t unit, uint32_t start, uint32_t units)
{
    uint64_t left = bytes - start * unit;

    return units * unit < left ? units * unit : left;
}

/* The bytes of a unit, if all are to be at least so many, a power of two: as few as the word has room for. */
static inline uint64_t mur_claim_unit(uint64_t bytes, uint64_t least)
{
    uint64_t unit = least;

    while (bytes / unit >= MUR_CLAIM_UNITS_MAX)
        unit *= 2;
    return unit;
}

static inline void mur_claim_open(struct mur_claim *claim, uint32_t number)
{
    atomic_store_explicit(&claim->done, 0, memory_order_relaxed);
    atomic_store_explicit(&claim->has_failed, 0, memory_order_relaxed);
    atomic_store_explicit(&claim->word, (uint64_t)number << 32, memory_order_release); /* pairs with mur_claim_look */
}

static inline void mur_claim_close(struct mur_claim *claim, uint32_t number)
{
    atomic_store_explicit(&claim->word, (uint64_t)number << 32 | MUR_CLAIM_CLOSED, memory_order_relaxed);
}

/* The word as it is; pairs with the release in mur_claim_open. */
static inline uint64_t mur_claim_look(const struct mur_claim *claim)
{
    return atomic_load_explicit(&claim->word, memory_order_acquire);
}

/* Units that nobody has taken, of `all`; 0 also of work that is closed. */
static inline uint32_t mur_claim_left(uint64_t word, uint32_t all)
{
    uint32_t taken = mur_claim_taken(word, MUR_CLAIM_FRONT) + mur_claim_taken(word, MUR_CLAIM_BACK);

    return taken < all ? all - taken : 0;
}

/* Takes `units` of the units that are left if the word is still *word; else updates *word. May fail spuriously. */
static inline bool mur_claim_try(struct mur_claim *claim, uint64_t *word, enum mur_claim_side side, uint32_t units)
{
    /* The acquire pairs with the release in mur_claim_open. */
    return atomic_compare_exchange_weak_explicit(&claim->word, word,
                                                 *word + (side == MUR_CLAIM_BACK ? (uint64_t)units << 16 : units),
                                                 memory_order_acquire, memory_order_acquire);
}

/* How many units a side takes. Where a chunk costs a system call: nearly half of all first, then less and less, so that
 * few do and both sides end together; but none smaller than a call is worth. */
struct mur_claim_chunks {
    uint32_t even; /* as many in each chunk; 0: few and large first, between these: */
    uint32_t least, most;
};

enum { MUR_CLAIM_LEAST = 32 << 10, MUR_CLAIM_MOST = 512 << 10 }; /* bytes that system calls copy best */

/* Chunks of `even` bytes, or, for 0, those that suit system calls. */
static inline struct mur_claim_chunks mur_claim_chunks_of(uint64_t even, uint64_t unit)
{
    return (struct mur_claim_chunks){.even = (uint32_t)((even + unit - 1) / unit),
                                     .least = mur_claim_count(MUR_CLAIM_LEAST, unit),
                                     .most = mur_claim_count(MUR_CLAIM_MOST, unit)};
}

static inline uint32_t mur_claim_chunk(const struct mur_claim_chunks *chunks, uint64_t word, uint32_t all,
                                       enum mur_claim_side side)
{
    uint32_t left = mur_claim_left(word, all), units = chunks->even;

    if (!units) {
        units = mur_claim_taken(word, side) ? left / 4 : all * 7 / 16;
        units = units < chunks->least ? chunks->least : units > chunks->most ? chunks->most : units;
    }
    return units < left ? units : left;
}

/* What a side has taken. */
struct mur_claim_part {
    uint32_t start, units; /* 0 units: none were left, or the work has another number */
    bool is_last;          /* none are left now */
};

static inline struct mur_claim_part mur_claim_take(struct mur_claim *claim, uint32_t number, uint32_t all,
                                                   enum mur_claim_side side, const struct mur_claim_chunks *chunks)
{
    uint64_t word = mur_claim_look(claim);
    uint32_t units, taken;

    do {
        if (mur_claim_number(word) != number || !(units = mur_claim_chunk(chunks, word, all, side)))
            return (struct mur_claim_part){.is_last = true};
    } while (!mur_claim_try(claim, &word, side, units));
    taken = mur_claim_taken(word, side);
    return (struct mur_claim_part){.start = side == MUR_CLAIM_BACK ? all - taken - units : taken,
                                   .units = units,
                                   .is_last = mur_claim_left(word, all) == units};
}

/* Counts units as finished and returns the sum. A side that sees all units finished sees what both sides wrote. */
static inline uint32_t mur_claim_finish(struct mur_claim *claim, uint32_t units)
{
    return atomic_fetch_add_explicit(&claim->done, units, memory_order_acq_rel) + units;
}

static inline uint32_t mur_claim_done(const struct mur_claim *claim)
{
    return atomic_load_explicit(&claim->done, memory_order_acquire); /* pairs with mur_claim_finish */
}

static inline void mur_claim_fail(struct mur_claim *claim)
{
    atomic_store_explicit(&claim->has_failed, 1, memory_order_relaxed); /* published by mur_claim_finish */
}

static inline bool mur_claim_has_failed(const struct mur_claim *claim)
{
    return atomic_load_explicit(&claim->has_failed, memory_order_relaxed);
}

/* One side has finished all that it took; waits until so many units are finished, which takes the other side no longer
 * than its last chunk: it needs nothing for that, but it may have lost its core. */
void mur_claim_wait(const struct mur_claim *claim, uint32_t units);

#endif
