/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena behind all pools: one reserved range of addresses, handed out in blocks, never given back. Pools belong to
 * whoever holds their lock; the arena has its own, since pools under different locks cut from it. */
#define _GNU_SOURCE
#include "base/pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define BLOCK_BYTES ((size_t)64 << 10)

struct mur_arena mur_arena;
struct mur_object *mur_predefined[MUR_PREDEFINED_LIMIT];

/* Reserves the range: addresses only, memory follows at first touch. Where the address space is limited
 * (ulimit -v), a smaller range must do, which leaves most of it to the program. */
static bool arena_reserve(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    getrlimit(RLIMIT_AS, &limit);
    for (size_t bytes = (size_t)64 << 30; bytes >= (size_t)4 << 20; bytes /= 4) {
        if (bytes > limit.rlim_cur / 8 && bytes > (size_t)4 << 20)
            continue;
        void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED) {
            mur_arena.base = (uintptr_t)base;
            mur_arena.bytes = bytes;
            return true;
        }
    }
    return false;
}

static char *arena_cut(size_t bytes)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char *start = NULL;

    pthread_mutex_lock(&lock);
    if ((mur_arena.bytes || arena_reserve()) && mur_arena.bytes - mur_arena.used >= bytes) {
        start = (char *)mur_arena.base + mur_arena.used;
        mur_arena.used += bytes;
    }
    pthread_mutex_unlock(&lock);
    return start;
}

static size_t block_bytes(const struct mur_pool *pool)
{
    size_t needed = MUR_OBJECT_ALIGNMENT + pool->bytes;

    return needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
}

/* A block is the address of the one before it, then objects. */
void *mur_pool_get_slow(struct mur_pool *pool)
{
    char *start = arena_cut(block_bytes(pool));

    if (!start)
        return NULL;
    *(void **)start = pool->blocks;
    pool->blocks = start;
    start += MUR_OBJECT_ALIGNMENT;
    /* Linked backwards, so that objects are handed out in the order of their addresses. */
    for (size_t i = (block_bytes(pool) - MUR_OBJECT_ALIGNMENT) / pool->bytes; i > 0; i--) {
        struct mur_object *object = (struct mur_object *)(start + (i - 1) * pool->bytes);
        mur_pool_put(pool, object);
    }
    return mur_pool_get(pool);
}

/* Goes through a block from its first object on; `previous` lies in one of them. */
void *mur_pool_next(const struct mur_pool *pool, const void *previous)
{
    const char *next = previous ? (const char *)previous + pool->bytes : NULL;

    for (char *block = pool->blocks; block; block = *(void **)block) {
        char *end = block + block_bytes(pool);

        if (next && (next < block || next > end))
            continue;
        for (char *at = next ? (char *)next : block + MUR_OBJECT_ALIGNMENT; at + pool->bytes <= end; at += pool->bytes)
            if (((struct mur_object *)at)->kind == pool->kind)
                return at;
        next = NULL;
    }
    return NULL;
}
