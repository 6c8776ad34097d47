/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of tracts, a list with the latest used in front: what is asked for is most often what was asked for last.
 */
#include "node/tract.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "node/node.h"

enum { IDLE_MAX = 128 /* tracts of others that are mapped though nobody keeps them */ };

struct tract {
    struct tract *next;
    char *memory;
    size_t bytes;
    uint64_t token;
    int keepers;
    bool is_cached; /* mapped here because it was asked for: unmapped here, too */
};

static struct tract *tracts;
static int idle;

static struct tract *to_front(struct tract **link)
{
    struct tract *tract = *link;

    *link = tract->next;
    tract->next = tracts;
    tracts = tract;
    return tract;
}

static struct tract *by_memory(const void *memory, size_t bytes)
{
    uintptr_t start = (uintptr_t)memory;

    for (struct tract **link = &tracts; *link; link = &(*link)->next)
        if (start >= (uintptr_t)(*link)->memory && start - (uintptr_t)(*link)->memory <= (*link)->bytes &&
            bytes <= (*link)->bytes - (start - (uintptr_t)(*link)->memory))
            return to_front(link);
    return NULL;
}

static struct tract *by_token(uint64_t token)
{
    for (struct tract **link = &tracts; *link; link = &(*link)->next)
        if ((*link)->token == token)
            return to_front(link);
    return NULL;
}

static struct tract *add(void *memory, size_t bytes, uint64_t token)
{
    struct tract *tract = calloc(1, sizeof *tract);

    if (!tract)
        return NULL;
    *tract = (struct tract){.next = tracts, .memory = memory, .bytes = bytes, .token = token};
    tracts = tract;
    return tract;
}

static void take_out(struct tract **link)
{
    struct tract *tract = *link;

    *link = tract->next;
    free(tract);
}

void *mur_tract_make(size_t bytes)
{
    uint64_t token = 0;
    void *memory = mur_node_map(bytes, &token);

    if (memory && !add(memory, bytes, token)) {
        mur_node_unmap(memory, bytes);
        mur_node_discard(token, bytes);
        return NULL;
    }
    return memory;
}

void mur_tract_discard(void *memory)
{
    struct tract *tract = by_memory(memory, 1); /* 0 bytes might be the end of another */

    mur_node_unmap(memory, tract->bytes);
    mur_node_discard(tract->token, tract->bytes);
    take_out(&tracts);
}

void mur_tract_empty(const void *memory, size_t bytes)
{
    struct tract *tract = by_memory(memory, bytes);

    mur_node_discard(tract->token + (uint64_t)((const char *)memory - tract->memory), bytes);
}

void mur_tract_add(void *memory, size_t bytes, uint64_t token)
{
    add(memory, bytes, token);
}

void mur_tract_remove(const void *memory)
{
    for (struct tract **link = &tracts; *link; link = &(*link)->next)
        if ((*link)->memory == memory) {
            take_out(link);
            return;
        }
}

bool mur_tract_find(const void *memory, size_t bytes, struct mur_spot *spot)
{
    const struct tract *tract = by_memory(memory, bytes);

    if (!tract)
        return false;
    *spot = (struct mur_spot){tract->token, tract->bytes, (uint64_t)((const char *)memory - tract->memory)};
    return true;
}

/* The one that was not used for the longest time. */
static void unmap_one(void)
{
    struct tract **oldest = NULL;

    for (struct tract **link = &tracts; *link; link = &(*link)->next)
        if ((*link)->is_cached && !(*link)->keepers)
            oldest = link;
    mur_node_unmap((*oldest)->memory, (*oldest)->bytes);
    take_out(oldest);
    idle--;
}

static struct tract *map(const struct mur_spot *spot)
{
    uint64_t token = spot->token;
    struct tract *tract;
    void *memory = token ? mur_node_map(spot->bytes, &token) : NULL;

    if (!memory)
        return NULL;
    tract = add(memory, spot->bytes, token);
    if (!tract) {
        mur_node_unmap(memory, spot->bytes);
        return NULL;
    }
    tract->is_cached = true;
    if (++idle > IDLE_MAX)
        unmap_one();
    return tract;
}

static struct tract *reach(const struct mur_spot *spot)
{
    struct tract *tract = by_token(spot->token);

    return tract ? tract : map(spot);
}

void *mur_tract_reach(const struct mur_spot *spot)
{
    struct tract *tract = reach(spot);

    return tract ? tract->memory + spot->offset : NULL;
}

void *mur_tract_keep(const struct mur_spot *spot)
{
    struct tract *tract = reach(spot);

    if (!tract)
        return NULL;
    if (!tract->keepers++ && tract->is_cached)
        idle--;
    return tract->memory + spot->offset;
}

void mur_tract_release(uint64_t token)
{
    struct tract *tract = by_token(token);

    if (tract && !--tract->keepers && tract->is_cached && ++idle > IDLE_MAX)
        unmap_one();
}
