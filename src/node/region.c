/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of regions, a list with the latest used in front: what is asked for is most often what was asked for last.
 */
#include "node/region.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "node/node.h"

enum { IDLE_MAX = 128 /* regions of others that are mapped though nobody keeps them */ };

struct region {
    struct region *next;
    char *memory;
    size_t bytes;
    uint64_t token;
    int keepers;
    bool is_cached; /* mapped here because it was asked for: unmapped here, too */
};

static struct region *regions;
static int idle;

static struct region *to_front(struct region **link)
{
    struct region *region = *link;

    *link = region->next;
    region->next = regions;
    regions = region;
    return region;
}

static struct region *by_memory(const void *memory, size_t bytes)
{
    uintptr_t start = (uintptr_t)memory;

    for (struct region **link = &regions; *link; link = &(*link)->next)
        if (start >= (uintptr_t)(*link)->memory && start - (uintptr_t)(*link)->memory <= (*link)->bytes &&
            bytes <= (*link)->bytes - (start - (uintptr_t)(*link)->memory))
            return to_front(link);
    return NULL;
}

static struct region *by_token(uint64_t token)
{
    for (struct region **link = &regions; *link; link = &(*link)->next)
        if ((*link)->token == token)
            return to_front(link);
    return NULL;
}

static struct region *add(void *memory, size_t bytes, uint64_t token)
{
    struct region *region = calloc(1, sizeof *region);

    if (!region)
        return NULL;
    *region = (struct region){.next = regions, .memory = memory, .bytes = bytes, .token = token};
    regions = region;
    return region;
}

static void take_out(struct region **link)
{
    struct region *region = *link;

    *link = region->next;
    free(region);
}

void *mur_region_make(size_t bytes)
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

void mur_region_discard(void *memory)
{
    struct region *region = by_memory(memory, 1); /* 0 bytes might be the end of another */

    mur_node_unmap(memory, region->bytes);
    mur_node_discard(region->token, region->bytes);
    take_out(&regions);
}

void mur_region_empty(const void *memory, size_t bytes)
{
    struct region *region = by_memory(memory, bytes);

    mur_node_discard(region->token + (uint64_t)((const char *)memory - region->memory), bytes);
}

void mur_region_add(void *memory, size_t bytes, uint64_t token)
{
    add(memory, bytes, token);
}

void mur_region_remove(const void *memory)
{
    for (struct region **link = &regions; *link; link = &(*link)->next)
        if ((*link)->memory == memory) {
            take_out(link);
            return;
        }
}

bool mur_region_find(const void *memory, size_t bytes, struct mur_region_address *address)
{
    const struct region *region = by_memory(memory, bytes);

    if (!region)
        return false;
    *address =
        (struct mur_region_address){region->token, region->bytes, (uint64_t)((const char *)memory - region->memory)};
    return true;
}

/* The one that was not used for the longest time. */
static void unmap_one(void)
{
    struct region **oldest = NULL;

    for (struct region **link = &regions; *link; link = &(*link)->next)
        if ((*link)->is_cached && !(*link)->keepers)
            oldest = link;
    mur_node_unmap((*oldest)->memory, (*oldest)->bytes);
    take_out(oldest);
    idle--;
}

static struct region *map(const struct mur_region_address *address)
{
    uint64_t token = address->token;
    struct region *region;
    void *memory = token ? mur_node_map(address->bytes, &token) : NULL;

    if (!memory)
        return NULL;
    region = add(memory, address->bytes, token);
    if (!region) {
        mur_node_unmap(memory, address->bytes);
        return NULL;
    }
    region->is_cached = true;
    if (++idle > IDLE_MAX)
        unmap_one();
    return region;
}

static struct region *reach(const struct mur_region_address *address)
{
    struct region *region = by_token(address->token);

    return region ? region : map(address);
}

void *mur_region_reach(const struct mur_region_address *address)
{
    struct region *region = reach(address);

    return region ? region->memory + address->offset : NULL;
}

void *mur_region_keep(const struct mur_region_address *address)
{
    struct region *region = reach(address);

    if (!region)
        return NULL;
    if (!region->keepers++ && region->is_cached)
        idle--;
    return region->memory + address->offset;
}

void mur_region_release(uint64_t token)
{
    struct region *region = by_token(token);

    if (region && !--region->keepers && region->is_cached && ++idle > IDLE_MAX)
        unmap_one();
}
