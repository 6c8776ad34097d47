/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of areas, posting, and the gate. */
#include "io/area.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "coll/coll.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "io/file.h"
#include "node/node.h"

enum { NO_PANES = 1, GRANULE = 64 << 10, OWNED_MAX = 48 << 20 };

/* Shared memory that this process has allocated for areas and panes: never given back, so it is used again; and
 * bounded, so that files leave enough for lanes and boards. */
struct owned {
    struct owned *next;
    void *memory;
    uint64_t token;
    size_t bytes;
    bool is_free;
};
static struct owned *owned_memory;
static size_t owned_bytes;

static void *allocate(size_t bytes, uint64_t *token)
{
    struct owned *owned;

    for (owned = owned_memory; owned; owned = owned->next)
        if (owned->is_free && owned->bytes >= bytes && owned->bytes <= 2 * bytes)
            break;
    if (!owned) {
        owned = owned_bytes + bytes <= OWNED_MAX ? malloc(sizeof *owned) : NULL;
        if (!owned)
            return NULL;
        owned->memory = mur_node_share(bytes, &owned->token);
        owned->bytes = bytes;
        if (!owned->memory) {
            free(owned);
            return NULL;
        }
        owned_bytes += bytes;
        owned->next = owned_memory;
        owned_memory = owned;
    }
    owned->is_free = false;
    *token = owned->token;
    return owned->memory;
}

/* Once no rank uses it any more. */
static void give_back(const void *memory)
{
    for (struct owned *owned = owned_memory; owned; owned = owned->next)
        if (owned->memory == memory)
            owned->is_free = true;
}

static size_t area_bytes(int ranks)
{
    return sizeof(struct mur_area_memory) + (size_t)ranks * sizeof(struct mur_entry);
}

static struct mur_area *open_private(struct mur_area *area)
{
    area->memory = aligned_alloc(64, (area_bytes(1) + 63) & ~(size_t)63);
    if (!area->memory) {
        free(area);
        return NULL;
    }
    memset(area->memory, 0, area_bytes(1));
    area->is_private = true;
    return area;
}

/* Rank 0 provides the memory and tells the others; 0: there is none. Who has no area takes part all the same. */
static int share_memory(struct mur_comm *comm, struct mur_area *area)
{
    struct mur_schedule *s;
    uint64_t token = 0;
    int rc;

    if (comm->rank == 0 && area && (area->memory = allocate(area_bytes(comm->size), &token)) != NULL)
        memset(area->memory, 0, area_bytes(comm->size));
    s = mur_file_schedule(comm);
    if (s)
        mur_coll_bcast(s, &token, 1, mur_type_find(MPI_UINT64_T), 0);
    rc = mur_schedule_run(s);
    if (!area)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a file");
    area->is_owner = comm->rank == 0;
    if (!token || rc)
        return rc;
    area->memory = mur_node_shared(token);
    return area->memory ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a file's shared memory");
}

int mur_area_open(struct mur_comm *comm, struct mur_area **area_p)
{
    struct mur_area *area = NULL;
    int rc;

    *area_p = NULL;
    if (comm->size > 1 && (!comm->board || !mur_settings.io_shared))
        return MPI_SUCCESS;
    area = calloc(1, sizeof *area);
    if (area)
        *area = (struct mur_area){.processes = comm->processes, .rank = comm->rank, .size = comm->size};
    if (comm->size == 1) {
        *area_p = area ? open_private(area) : NULL;
        return *area_p ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a file");
    }
    rc = share_memory(comm, area);
    if (area && !rc && area->memory)
        *area_p = area;
    else
        mur_area_close(area);
    return rc;
}

void mur_area_close(struct mur_area *area)
{
    if (!area)
        return;
    if (area->is_private)
        free(area->memory);
    if (area->is_owner) {
        if (area->panes)
            give_back(area->panes);
        give_back(area->memory);
    }
    free(area);
}

/* ---- panes ---- */

static size_t state_bytes(void)
{
    return (sizeof(struct mur_panes) + 4095) & ~(size_t)4095;
}

static void make_panes(struct mur_area *area, size_t bytes)
{
    uint64_t token = NO_PANES;
    struct mur_panes *panes = allocate(state_bytes() + MUR_PANES * (bytes + bytes / 8), &token);

    if (panes) {
        memset(panes, 0, sizeof *panes);
        memset((char *)panes + state_bytes(), 0, MUR_PANES * (bytes / 8));
        panes->bytes = (uint32_t)bytes;
        for (int i = 0; i < MUR_PANES; i++)
            atomic_store_explicit(&panes->state[i].turn, (uint64_t)i * 4, memory_order_relaxed);
    }
    /* pairs with the acquire in mur_area_has_panes */
    atomic_store_explicit(&area->memory->panes, token, memory_order_release);
    mur_area_rouse(area);
}

bool mur_area_has_panes(struct mur_area *area, size_t bytes)
{
    uint64_t token;

    if (area->panes)
        return true;
    if (area->is_owner && !atomic_load_explicit(&area->memory->panes, memory_order_relaxed))
        make_panes(area, bytes);
    token = atomic_load_explicit(&area->memory->panes, memory_order_acquire); /* pairs with make_panes */
    if (token > NO_PANES)
        area->panes = mur_node_shared(token);
    return token != 0;
}

unsigned char *mur_pane_cover(const struct mur_area *area, uint64_t pane)
{
    return (unsigned char *)area->panes + state_bytes() + pane % MUR_PANES * (area->panes->bytes / 8);
}

char *mur_pane_buffer(const struct mur_area *area, uint64_t pane)
{
    size_t bytes = area->panes->bytes;

    return (char *)area->panes + state_bytes() + MUR_PANES * (bytes / 8) + pane % MUR_PANES * bytes;
}

/* ---- posting ---- */

void mur_area_rouse(const struct mur_area *area)
{
    if (!area->is_private)
        mur_node_rouse(area->processes, area->size);
}

void mur_area_post(struct mur_area *area, uint64_t number, const struct mur_span *span)
{
    struct mur_entry *entry = &area->memory->entries[area->rank];

    entry->spans[number % 2] = *span;
    atomic_store_explicit(&entry->posted, number, memory_order_release);
    mur_area_rouse(area);
}

bool mur_area_all_posted(const struct mur_area *area, uint64_t number, int *next)
{
    for (; *next < area->size; ++*next)
        if (atomic_load_explicit(&area->memory->entries[*next].posted, memory_order_acquire) < number)
            return false;
    return true;
}

/* ---- the gate ---- */

static uint64_t range_of(MPI_Offset first, MPI_Offset end)
{
    uint64_t low = (uint64_t)first / GRANULE, high = ((uint64_t)end + GRANULE - 1) / GRANULE;

    if (high > UINT32_MAX)
        high = UINT32_MAX, low = low < UINT32_MAX ? low : UINT32_MAX - 1;
    return low << 32 | high;
}

static bool overlaps(uint64_t a, uint64_t b)
{
    return a && b && a >> 32 < (b & UINT32_MAX) && b >> 32 < (a & UINT32_MAX);
}

/* Whether one of the ranks from `first` to below `limit` has announced a range that overlaps. */
static bool meets(struct mur_area *area, uint64_t range, bool is_sieve, int first, int limit)
{
    for (int i = first; i < limit; i++) {
        struct mur_entry *entry = &area->memory->entries[i];

        if (i != area->rank && overlaps(range, atomic_load(is_sieve ? &entry->sieves : &entry->writes)))
            return true;
    }
    return false;
}

/* Announces a range, and takes it back while a sieve has precedence: any over a write, that of a lower rank over that
 * of a higher one. */
static void announce(struct mur_area *area, _Atomic uint64_t *place, uint64_t range, int limit)
{
    atomic_store(place, range);
    while (atomic_load(&area->memory->sieving) && meets(area, range, true, 0, limit)) {
        atomic_store(place, 0);
        do
            mur_engine_give_way();
        while (meets(area, range, true, 0, limit));
        atomic_store(place, range);
    }
}

/* Of two sieves that announce themselves at one time, that of the higher rank goes back. If it did not see the other,
 * it was earlier: then the other sees it here, and waits. */
static void enter_sieve(struct mur_area *area, uint64_t range)
{
    atomic_fetch_add(&area->memory->sieving, 1);
    announce(area, &area->memory->entries[area->rank].sieves, range, area->rank);
    while (meets(area, range, true, area->rank + 1, area->size) || meets(area, range, false, 0, area->size))
        mur_engine_give_way();
}

static bool meets_background(const struct mur_area *area, uint64_t range)
{
    for (int i = 0; i < area->size; i++)
        if (overlaps(range, atomic_load(&area->memory->entries[i].background)))
            return true;
    return false;
}

bool mur_gate_enter(struct mur_area *area, MPI_Offset first, MPI_Offset end, bool is_sieve)
{
    uint64_t range = range_of(first, end);

    if (!area)
        return true;
    while (area->is_gate_held)
        mur_engine_give_way();
    area->is_gate_held = true;
    if (!is_sieve) {
        announce(area, &area->memory->entries[area->rank].writes, range, area->size);
        return true;
    }
    enter_sieve(area, range);
    if (!meets_background(area, range))
        return true;
    mur_gate_leave(area);
    return false;
}

bool mur_gate_begin(struct mur_area *area, MPI_Offset first, MPI_Offset end)
{
    uint64_t range = range_of(first, end), before, low, high;
    _Atomic uint64_t *place;

    if (!area)
        return true;
    if (area->is_gate_held)
        return false;
    place = &area->memory->entries[area->rank].background;
    before = atomic_load_explicit(place, memory_order_relaxed);
    low = before && before >> 32 < range >> 32 ? before >> 32 : range >> 32;
    high = (before & UINT32_MAX) > (range & UINT32_MAX) ? before & UINT32_MAX : range & UINT32_MAX;
    atomic_store(place, low << 32 | high);
    if (atomic_load(&area->memory->sieving) && meets(area, low << 32 | high, true, 0, area->size)) {
        atomic_store(place, before);
        return false;
    }
    area->background++;
    return true;
}

void mur_gate_end(struct mur_area *area)
{
    if (area && --area->background == 0)
        atomic_store(&area->memory->entries[area->rank].background, 0);
}

void mur_gate_leave(struct mur_area *area)
{
    struct mur_entry *own;

    if (!area)
        return;
    own = &area->memory->entries[area->rank];
    if (atomic_load_explicit(&own->sieves, memory_order_relaxed))
        atomic_fetch_sub(&area->memory->sieving, 1);
    atomic_store(&own->sieves, 0);
    atomic_store(&own->writes, 0);
    area->is_gate_held = false;
}
