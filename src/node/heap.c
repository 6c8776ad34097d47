/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of memory that the node can reach. Others map whole tracts, so few large ones are better than many small
 * ones: a field is a tract of 32 MiB that is divided as in a buddy system (Knuth, The Art of Computer Programming 1,
 * 2.5): blocks of 2^n units, each aligned to its size; one that is too large is halved, and a free half joins its
 * other half. All that is known of the blocks stands beside the memory, which users may overwrite and others see.
 * Larger pieces have a tract each.
 *
 * Pages that were never touched take no memory. Those of freed blocks are kept, so that who allocates in a loop meets
 * no page faults, until they are many. */
#include "node/heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "node/tract.h"

enum {
    UNIT_SHIFT = 6,
    ORDERS = 20, /* of blocks: 2^order units */
    UNITS = 1 << (ORDERS - 1),
    PAGE = 4096,
};
enum { NONE = UINT32_MAX };
static const size_t FIELD_BYTES = (size_t)UNITS << UNIT_SHIFT, BASE_ALIGNMENT = (size_t)2 << 20;
static const size_t KEPT_MAX = (size_t)16 << 20; /* bytes of a field's freed blocks whose pages are kept */

enum { IS_FREE = 0x80, INSIDE = 0x7f /* no block starts here */ };

struct link {
    uint32_t next, previous;
};

struct field {
    struct field *next;
    char *memory;
    size_t bytes;
    size_t used;            /* bytes of blocks given out, */
    size_t kept;            /* and about how many of freed ones have pages */
    uint8_t *orders;        /* [UNITS] of the block that starts at the unit, maybe IS_FREE. NULL: one piece alone */
    struct link *links;     /* [UNITS] of the free ones, to others of the order */
    uint32_t first[ORDERS]; /* free block of each order */
};

static struct field *fields;

static void push(struct field *field, uint32_t unit, int order)
{
    uint32_t next = field->first[order];

    field->orders[unit] = (uint8_t)(order | IS_FREE);
    field->links[unit] = (struct link){.next = next, .previous = NONE};
    if (next != NONE)
        field->links[next].previous = unit;
    field->first[order] = unit;
}

static void take(struct field *field, uint32_t unit, int order)
{
    struct link link = field->links[unit];

    if (link.previous == NONE)
        field->first[order] = link.next;
    else
        field->links[link.previous].next = link.next;
    if (link.next != NONE)
        field->links[link.next].previous = link.previous;
    field->orders[unit] = INSIDE;
}

static struct field *add_field(size_t bytes, bool is_divided)
{
    struct field *field = calloc(1, sizeof *field);

    if (!field)
        return NULL;
    if (is_divided) {
        field->orders = malloc(UNITS * sizeof *field->orders);
        field->links = malloc(UNITS * sizeof *field->links);
    }
    field->memory = !is_divided || (field->orders && field->links) ? mur_tract_make(bytes) : NULL;
    if (!field->memory) {
        free(field->orders);
        free(field->links);
        free(field);
        return NULL;
    }
    field->bytes = bytes;
    if (is_divided) {
        for (int order = 0; order < ORDERS; order++)
            field->first[order] = NONE;
        push(field, 0, ORDERS - 1);
    }
    field->next = fields;
    fields = field;
    return field;
}

static void drop(struct field *field)
{
    struct field **link = &fields;

    while (*link != field)
        link = &(*link)->next;
    *link = field->next;
    mur_tract_discard(field->memory);
    free(field->orders);
    free(field->links);
    free(field);
}

static size_t block_bytes(int order)
{
    return (size_t)1 << (order + UNIT_SHIFT);
}

static void *get_block(struct field *field, int order)
{
    int found = order;
    uint32_t unit;

    while (found < ORDERS && field->first[found] == NONE)
        found++;
    if (found == ORDERS)
        return NULL;
    unit = field->first[found];
    take(field, unit, found);
    while (found > order) {
        found--;
        push(field, unit + (1u << found), found);
    }
    field->orders[unit] = (uint8_t)order;
    field->used += block_bytes(order);
    field->kept -= field->kept < block_bytes(order) ? field->kept : block_bytes(order);
    return field->memory + ((size_t)unit << UNIT_SHIFT);
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
    struct field *field;
    void *memory = NULL;
    int order;

    if (alignment > BASE_ALIGNMENT)
        return NULL;
    if (room > FIELD_BYTES / 2) {
        field = add_field(bytes, false);
        return field ? field->memory : NULL;
    }
    order = order_of(room);
    for (field = fields; field && !memory; field = field->next)
        if (field->orders)
            memory = get_block(field, order);
    if (!memory && (field = add_field(FIELD_BYTES, true)))
        memory = get_block(field, order);
    return memory;
}

static void put_block(struct field *field, uint32_t unit)
{
    int order = field->orders[unit];

    for (; order < ORDERS - 1; order++) {
        uint32_t other = unit ^ 1u << order;

        if (field->orders[other] != (order | IS_FREE))
            break;
        take(field, other, order);
        field->orders[unit] = INSIDE;
        unit = unit < other ? unit : other;
    }
    push(field, unit, order);
}

static void keep_or_empty(struct field *field, const void *memory, size_t bytes)
{
    if (bytes >= PAGE && field->kept + bytes > KEPT_MAX)
        mur_tract_empty(memory, bytes);
    else
        field->kept += bytes;
}

/* One field stays: what is allocated next needs it. */
static bool is_last(const struct field *field)
{
    for (const struct field *other = fields; other; other = other->next)
        if (other != field && other->orders)
            return false;
    return true;
}

void mur_heap_put(void *memory)
{
    struct field *field = fields;
    uint32_t unit;
    size_t bytes;

    while ((uintptr_t)memory < (uintptr_t)field->memory || (uintptr_t)memory - (uintptr_t)field->memory >= field->bytes)
        field = field->next;
    if (!field->orders) {
        drop(field);
        return;
    }
    unit = (uint32_t)((size_t)((char *)memory - field->memory) >> UNIT_SHIFT);
    bytes = block_bytes(field->orders[unit]);
    field->used -= bytes;
    keep_or_empty(field, memory, bytes);
    put_block(field, unit);
    if (!field->used && !is_last(field))
        drop(field);
}
