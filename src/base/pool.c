/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena behind all pools: one reserved range of addresses, handed out in blocks, never given back. */
#define _GNU_SOURCE
#include "base/pool.h"

#include <sys/mman.h>

#define BLOCK_BYTES ((size_t)64 << 10)

struct mur_arena mur_arena;
struct mur_object *mur_predefined[MUR_PREDEFINED_LIMIT];

/* Reserves the range: addresses only, memory follows at first touch. Where the address space is limited
 * (ulimit -v), a smaller range must do. */
static bool arena_reserve(void)
{
    for (size_t bytes = (size_t)64 << 30; bytes >= (size_t)16 << 20; bytes /= 4) {
        void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED) {
            mur_arena.base = (uintptr_t)base;
            mur_arena.bytes = bytes;
            return true;
        }
    }
    return false;
}

void *mur_pool_get_slow(struct mur_pool *pool)
{
    size_t block = pool->bytes > BLOCK_BYTES ? pool->bytes : BLOCK_BYTES;
    char *start;

    if (!mur_arena.bytes && !arena_reserve())
        return NULL;
    if (mur_arena.bytes - mur_arena.used < block)
        return NULL;
    start = (char *)mur_arena.base + mur_arena.used;
    mur_arena.used += block;
    /* Linked backwards, so that objects are handed out in the order of their addresses. */
    for (size_t i = block / pool->bytes; i > 0; i--) {
        struct mur_object *object = (struct mur_object *)(start + (i - 1) * pool->bytes);
        mur_pool_put(pool, object);
    }
    return mur_pool_get(pool);
}
