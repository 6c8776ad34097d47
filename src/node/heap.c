/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of memory that the node can reach. Others map whole regions, so few large ones are better than many small
 * ones: a slab is a region of 32 MiB that is divided as in a buddy system (Knuth, The Art of Computer Programming 1,
 * 2.5): blocks of 2^n units, each aligned to its size; one that is too large is halved, and a free half joins its
 * other half. All that is known of the blocks stands beside the memory, which users may overwrite and others see.
 * Larger pieces have a region each.
 *
 * Pages that were never touched take no memory. Those of freed blocks are kept, so that who allocates in a loop meets
 * no page faults, until they are many. */
#include "node/heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "node/region.h"

enum {
    UNIT_SHIFT = 6,
    ORDERS = 20, /* of blocks: 2^order units */
    UNITS = 1 << (ORDERS - 1),
    PAGE = 4096,
};
enum { NONE = UINT32_MAX };
static const size_t SLAB_BYTES = (size_t)UNITS << UNIT_SHIFT, BASE_ALIGNMENT = (size_t)2 << 20;
static const size_t KEPT_MAX = (size_t)16 << 20; /* bytes of a slab's freed blocks whose pages are kept */

enum { IS_FREE = 0x80, INSIDE = 0x7f /* no block starts here */ };

struct link {
    uint32_t next, previous;
};

struct slab {
    struct slab *next;
    char *memory;
    size_t bytes;
    size_t used;            /* bytes of blocks given out, */
    size_t kept;            /* and about how many of freed ones have pages */
    uint8_t *orders;        /* [UNITS] of the block that starts at the unit, maybe IS_FREE. NULL: one piece alone */
    struct link *links;     /* [UNITS] of the free ones, to others of the order */
    uint32_t first[ORDERS]; /* free block of each order */
};

static struct slab *slabs;

static void push(struct slab *slab, uint32_t unit, int order)
{
    uint32_t next = slab->first[order];

    slab->orders[unit] = (uint8_t)(order | IS_FREE);
    slab->links[unit] = (struct link){.next = next, .previous = NONE};
    if (next != NONE)
        slab->links[next].previous = unit;
    slab->first[order] = unit;
}

static void take(struct slab *slab, uint32_t unit, int order)
{
    struct link link = slab->links[unit];

    if (link.previous == NONE)
        slab->first[order] = link.next;
    else
        slab->links[link.previous].next = link.next;
    if (link.next != NONE)
        slab->links[link.next].previous = link.previous;
    slab->orders[unit] = INSIDE;
}

static struct slab *add_slab(size_t bytes, bool is_divided)
{
    struct slab *slab = calloc(1, sizeof *slab);

    if (!slab)
        return NULL;
    if (is_divided) {
        slab->orders = malloc(UNITS * sizeof *slab->orders);
        slab->links = malloc(UNITS * sizeof *slab->links);
    }
    slab->memory = !is_divided || (slab->orders && slab->links) ? mur_region_make(bytes) : NULL;
    if (!slab->memory) {
        free(slab->orders);
        free(slab->links);
        free(slab);
        return NULL;
    }
    slab->bytes = bytes;
    if (is_divided) {
        for (int order = 0; order < ORDERS; order++)
            slab->first[order] = NONE;
        push(slab, 0, ORDERS - 1);
    }
    slab->next = slabs;
    slabs = slab;
    return slab;
}

static void drop(struct slab *slab)
{
    struct slab **link = &slabs;

    while (*link != slab)
        link = &(*link)->next;
    *link = slab->next;
    mur_region_discard(slab->memory);
    free(slab->orders);
    free(slab->links);
    free(slab);
}

static size_t block_bytes(int order)
{
    return (size_t)1 << (order + UNIT_SHIFT);
}

static void *get_block(struct slab *slab, int order)
{
    int found = order;
    uint32_t unit;

    while (found < ORDERS && slab->first[found] == NONE)
        found++;
    if (found == ORDERS)
        return NULL;
    unit = slab->first[found];
    take(slab, unit, found);
    while (found > order) {
        found--;
        push(slab, unit + (1u << found), found);
    }
    slab->orders[unit] = (uint8_t)order;
    slab->used += block_bytes(order);
    slab->kept -= slab->kept < block_bytes(order) ? slab->kept : block_bytes(order);
    return slab->memory + ((size_t)unit << UNIT_SHIFT);
}

static int order_of(size_t bytes)
{
    int order = 0;

    while (block_bytes(order) < bytes)
        order++;
    return order;
}

void *mur_heap_get(size_t bytes, size_t alignment)
{
    size_t room = bytes > alignment ? bytes : alignment;
    struct slab *slab;
    void *memory = NULL;
    int order;

    if (alignment > BASE_ALIGNMENT)
        return NULL;
    if (room > SLAB_BYTES / 2) {
        slab = add_slab(bytes, false);
        return slab ? slab->memory : NULL;
    }
    order = order_of(room);
    for (slab = slabs; slab && !memory; slab = slab->next)
        if (slab->orders)
            memory = get_block(slab, order);
    if (!memory && (slab = add_slab(SLAB_BYTES, true)))
        memory = get_block(slab, order);
    return memory;
}

static void put_block(struct slab *slab, uint32_t unit)
{
    int order = slab->orders[unit];

    for (; order < ORDERS - 1; order++) {
        uint32_t other = unit ^ 1u << order;

        if (slab->orders[other] != (order | IS_FREE))
            break;
        take(slab, other, order);
        slab->orders[unit] = INSIDE;
        unit = unit < other ? unit : other;
    }
    push(slab, unit, order);
}

static void keep_or_empty(struct slab *slab, const void *memory, size_t bytes)
{
    if (bytes >= PAGE && slab->kept + bytes > KEPT_MAX)
        mur_region_empty(memory, bytes);
    else
        slab->kept += bytes;
}

/* One slab stays: what is allocated next needs it. */
static bool is_last(const struct slab *slab)
{
    for (const struct slab *other = slabs; other; other = other->next)
        if (other != slab && other->orders)
            return false;
    return true;
}

void mur_heap_put(void *memory)
{
    struct slab *slab = slabs;
    uint32_t unit;
    size_t bytes;

    while ((uintptr_t)memory < (uintptr_t)slab->memory || (uintptr_t)memory - (uintptr_t)slab->memory >= slab->bytes)
        slab = slab->next;
    if (!slab->orders) {
        drop(slab);
        return;
    }
    unit = (uint32_t)((size_t)((char *)memory - slab->memory) >> UNIT_SHIFT);
    bytes = block_bytes(slab->orders[unit]);
    slab->used -= bytes;
    keep_or_empty(slab, memory, bytes);
    put_block(slab, unit);
    if (!slab->used && !is_last(slab))
        drop(slab);
}
