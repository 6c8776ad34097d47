/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of equal-sized objects in memory that stays mapped, and the header that every object starts with.
 *
 * All pools cut their blocks from one reserved range, the arena. An ABI handle that is no predefined constant is
 * an object's address; mur_object_find tells a live object of the wanted kind from anything else (a stale handle,
 * one of another kind, a random number) without touching memory that might not be there. Freed objects keep their
 * header with kind MUR_KIND_FREE. A pool is single-threaded: its owner's lock guards it. */
#ifndef MUR_BASE_POOL_H
#define MUR_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values are magic words, unlikely to be found in memory that is no object. */
enum mur_kind {
    MUR_KIND_FREE = 0x6d75f2ee,
    MUR_KIND_COMM = 0x6d75c033,
    MUR_KIND_GROUP = 0x6d756209,
    MUR_KIND_TYPE = 0x6d757e9e,
    MUR_KIND_OP = 0x6d75090b,
    MUR_KIND_REQUEST = 0x6d754e90,
    MUR_KIND_INFO = 0x6d751f0b,
    MUR_KIND_ERRHANDLER = 0x6d75e44d,
    MUR_KIND_FILE = 0x6d75f11e,
    MUR_KIND_MESSAGE = 0x6d753e55,
    MUR_KIND_WIN = 0x6d753119,
    MUR_KIND_SESSION = 0x6d755e55,
    MUR_KIND_ACCESS = 0x6d75acce,
    MUR_KIND_TOOL_CONTROL = 0x6d757c0e,
    MUR_KIND_TOOL_METER = 0x6d757e7e,
    MUR_KIND_TOOL_SESSION = 0x6d757555,
    MUR_KIND_TOOL_REGISTRATION = 0x6d757e6e,
};

struct mur_object {
    _Alignas(8) uint32_t kind; /* enum mur_kind */
    int32_t references;        /* owners; 0 only while in a pool's free list */
    uint32_t predefined;       /* the ABI's constant (below 4096) of a predefined object; 0 for all others */
};

#define MUR_OBJECT_ALIGNMENT 64

/* Objects of one kind and size. Initialise with MUR_POOL; blocks come from the arena at first use. */
struct mur_pool {
    uint32_t kind;
    uint32_t bytes; /* of one object, a multiple of MUR_OBJECT_ALIGNMENT */
    void *free;     /* the free objects, linked through the word behind their header */
    void *blocks;   /* the latest of its blocks; each starts with the address of the one before */
    const char *name;
};

#define MUR_POOL(kind_, type, name_)                                                                                   \
    {                                                                                                                  \
        .kind = (kind_),                                                                                               \
        .bytes = (sizeof(type) + MUR_OBJECT_ALIGNMENT - 1) / MUR_OBJECT_ALIGNMENT * MUR_OBJECT_ALIGNMENT,              \
        .name = (name_)                                                                                                \
    }

struct mur_arena {
    uintptr_t base;
    atomic_size_t used; /* bytes handed to pools so far; everything below is mapped and readable for ever */
    size_t bytes;
};
extern struct mur_arena mur_arena;

/* A new object with its header set (kind, one reference) and all other bytes as the last user left them (zero at
 * first use); NULL when memory is exhausted. */
void *mur_pool_get_slow(struct mur_pool *pool);
static inline void *mur_pool_get(struct mur_pool *pool)
{
    struct mur_object *object = pool->free;

    if (__builtin_expect(!object, 0))
        return mur_pool_get_slow(pool);
    pool->free = *(void **)(object + 1);
    object->kind = pool->kind;
    object->references = 1;
    return object;
}

/* The live object after `previous` (the first for NULL), in no particular order; NULL when there are no more. */
void *mur_pool_next(const struct mur_pool *pool, const void *previous);

static inline void mur_pool_put(struct mur_pool *pool, void *pointer)
{
    struct mur_object *object = pointer;

    object->kind = MUR_KIND_FREE;
    object->references = 0;
    *(void **)(object + 1) = pool->free;
    pool->free = object;
}

#define MUR_PREDEFINED_LIMIT 4096 /* MPI-5.0 §20: handle constants lie below */

/* The predefined objects by the ABI's constant; filled by the owner of each kind before MPI is usable. */
extern struct mur_object *mur_predefined[MUR_PREDEFINED_LIMIT];

/* The live object of this kind behind an ABI handle, or NULL. */
static inline void *mur_object_find(const void *handle, uint32_t kind)
{
    uintptr_t address = (uintptr_t)handle;
    struct mur_object *object;

    if (address < MUR_PREDEFINED_LIMIT)
        object = mur_predefined[address];
    else if (address - mur_arena.base < atomic_load_explicit(&mur_arena.used, memory_order_relaxed) &&
             address % MUR_OBJECT_ALIGNMENT == 0)
        object = (struct mur_object *)address;
    else
        return NULL;
    return object && object->kind == kind ? object : NULL;
}

/* The ABI handle of an object. */
static inline void *mur_object_handle(const void *pointer)
{
    const struct mur_object *object = pointer;

    return object->predefined ? (void *)(uintptr_t)object->predefined : (void *)(uintptr_t)pointer;
}

#endif
