/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of shared file states, posting, and the gate. */
#include "io/shared_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "coll/coll.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "io/file.h"
#include "node/node.h"

enum { NO_CBS = 1, GRANULE = 64 << 10, OWNED_MAX = 48 << 20 };

/* Shared memory that this process has allocated for shared file states and collective buffers: never given back, so it
 * is used again; and bounded, so that files leave enough for lanes and boards. */
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
    return sizeof(struct mur_shared_state_memory) + (size_t)ranks * sizeof(struct mur_entry);
}

static struct mur_shared_state *open_private(struct mur_shared_state *shared)
{
    shared->memory = aligned_alloc(64, (area_bytes(1) + 63) & ~(size_t)63);
    if (!shared->memory) {
        free(shared);
        return NULL;
    }
    memset(shared->memory, 0, area_bytes(1));
    shared->is_private = true;
    return shared;
}

/* Rank 0 provides the memory and tells the others; 0: there is none. Who has no shared file state takes part all the
 * same. */
static int share_memory(struct mur_comm *comm, struct mur_shared_state *shared)
{
    struct mur_schedule *s;
    uint64_t token = 0;
    int rc;

    if (comm->rank == 0 && shared && (shared->memory = allocate(area_bytes(comm->size), &token)) != NULL)
        memset(shared->memory, 0, area_bytes(comm->size));
    s = mur_file_schedule(comm);
    if (s)
        mur_coll_bcast(s, &token, 1, mur_type_find(MPI_UINT64_T), 0);
    rc = mur_schedule_run(s);
    if (!shared)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a file");
    shared->is_owner = comm->rank == 0;
    if (!token || rc)
        return rc;
    shared->memory = mur_node_shared(token);
    return shared->memory ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a file's shared memory");
}

int mur_shared_state_open(struct mur_comm *comm, struct mur_shared_state **area_p)
{
    struct mur_shared_state *shared = NULL;
    int rc;

    *area_p = NULL;
    if (comm->size > 1 && (!comm->board || !mur_settings.io_shared))
        return MPI_SUCCESS;
    shared = calloc(1, sizeof *shared);
    if (shared)
        *shared = (struct mur_shared_state){.processes = comm->processes, .rank = comm->rank, .size = comm->size};
    if (comm->size == 1) {
        *area_p = shared ? open_private(shared) : NULL;
        return *area_p ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for a file");
    }
    rc = share_memory(comm, shared);
    if (shared && !rc && shared->memory)
        *area_p = shared;
    else
        mur_shared_state_close(shared);
    return rc;
}

void mur_shared_state_close(struct mur_shared_state *shared)
{
    if (!shared)
        return;
    if (shared->is_private)
        free(shared->memory);
    if (shared->is_owner) {
        if (shared->cbs)
            give_back(shared->cbs);
        give_back(shared->memory);
    }
    free(shared);
}

/* ---- collective buffers ---- */

static size_t state_bytes(void)
{
    return (sizeof(struct mur_cbs) + 4095) & ~(size_t)4095;
}

static void make_cbs(struct mur_shared_state *shared, size_t bytes)
{
    uint64_t token = NO_CBS;
    struct mur_cbs *cbs = allocate(state_bytes() + MUR_CBS * (bytes + bytes / 8), &token);

    if (cbs) {
        memset(cbs, 0, sizeof *cbs);
        memset((char *)cbs + state_bytes(), 0, MUR_CBS * (bytes / 8));
        cbs->bytes = (uint32_t)bytes;
        for (int i = 0; i < MUR_CBS; i++)
            atomic_store_explicit(&cbs->state[i].turn, (uint64_t)i * 4, memory_order_relaxed);
    }
    /* pairs with the acquire in mur_shared_state_has_cbs */
    atomic_store_explicit(&shared->memory->cbs, token, memory_order_release);
    mur_shared_state_rouse(shared);
}

bool mur_shared_state_has_cbs(struct mur_shared_state *shared, size_t bytes)
{
    uint64_t token;

    if (shared->cbs)
        return true;
    if (shared->is_owner && !atomic_load_explicit(&shared->memory->cbs, memory_order_relaxed))
        make_cbs(shared, bytes);
    token = atomic_load_explicit(&shared->memory->cbs, memory_order_acquire); /* pairs with make_cbs */
    if (token > NO_CBS)
        shared->cbs = mur_node_shared(token);
    return token != 0;
}

unsigned char *mur_cb_bitmap(const struct mur_shared_state *shared, uint64_t cb)
{
    return (unsigned char *)shared->cbs + state_bytes() + cb % MUR_CBS * (shared->cbs->bytes / 8);
}

char *mur_cb_buffer(const struct mur_shared_state *shared, uint64_t cb)
{
    size_t bytes = shared->cbs->bytes;

    return (char *)shared->cbs + state_bytes() + MUR_CBS * (bytes / 8) + cb % MUR_CBS * bytes;
}

/* ---- posting ---- */

void mur_shared_state_rouse(const struct mur_shared_state *shared)
{
    if (!shared->is_private)
        mur_node_rouse(shared->processes, shared->size);
}

void mur_shared_state_post(struct mur_shared_state *shared, uint64_t number, const struct mur_span *span)
{
    struct mur_entry *entry = &shared->memory->entries[shared->rank];

    entry->spans[number % 2] = *span;
    /* pairs with the acquire in mur_shared_state_has_posted */
    atomic_store_explicit(&entry->posted, number, memory_order_release);
    mur_shared_state_rouse(shared);
}

bool mur_shared_state_has_posted(const struct mur_shared_state *shared, int rank, uint64_t number)
{
    /* pairs with the release in mur_shared_state_post */
    return atomic_load_explicit(&shared->memory->entries[rank].posted, memory_order_acquire) >= number;
}

bool mur_shared_state_all_posted(const struct mur_shared_state *shared, uint64_t number, int *next)
{
    for (; *next < shared->size; ++*next)
        if (!mur_shared_state_has_posted(shared, *next, number))
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
static bool meets(struct mur_shared_state *shared, uint64_t range, bool is_sieve, int first, int limit)
{
    for (int i = first; i < limit; i++) {
        struct mur_entry *entry = &shared->memory->entries[i];

        if (i != shared->rank && overlaps(range, atomic_load(is_sieve ? &entry->sieves : &entry->writes)))
            return true;
    }
    return false;
}

/* Announces a range, and takes it back while a sieve has precedence: any over a write, that of a lower rank over that
 * of a higher one. */
static void announce(struct mur_shared_state *shared, _Atomic uint64_t *place, uint64_t range, int limit)
{
    atomic_store(place, range);
    while (atomic_load(&shared->memory->sieving) && meets(shared, range, true, 0, limit)) {
        atomic_store(place, 0);
        do
            mur_engine_give_way();
        while (meets(shared, range, true, 0, limit));
        atomic_store(place, range);
    }
}

/* Of two sieves that announce themselves at one time, that of the higher rank goes back. If it did not see the other,
 * it was earlier: then the other sees it here, and waits. */
static void enter_sieve(struct mur_shared_state *shared, uint64_t range)
{
    atomic_fetch_add(&shared->memory->sieving, 1);
    announce(shared, &shared->memory->entries[shared->rank].sieves, range, shared->rank);
    while (meets(shared, range, true, shared->rank + 1, shared->size) || meets(shared, range, false, 0, shared->size))
        mur_engine_give_way();
}

static bool meets_background(const struct mur_shared_state *shared, uint64_t range)
{
    for (int i = 0; i < shared->size; i++)
        if (overlaps(range, atomic_load(&shared->memory->entries[i].background)))
            return true;
    return false;
}

bool mur_shared_state_gate_enter(struct mur_shared_state *shared, MPI_Offset first, MPI_Offset end, bool is_sieve)
{
    uint64_t range = range_of(first, end);

    if (!shared)
        return true;
    while (shared->is_gate_held)
        mur_engine_give_way();
    shared->is_gate_held = true;
    if (!is_sieve) {
        announce(shared, &shared->memory->entries[shared->rank].writes, range, shared->size);
        return true;
    }
    enter_sieve(shared, range);
    if (!meets_background(shared, range))
        return true;
    mur_shared_state_gate_leave(shared);
    return false;
}

bool mur_shared_state_gate_begin(struct mur_shared_state *shared, MPI_Offset first, MPI_Offset end)
{
    uint64_t range = range_of(first, end), before, low, high;
    _Atomic uint64_t *place;

    if (!shared)
        return true;
    if (shared->is_gate_held)
        return false;
    place = &shared->memory->entries[shared->rank].background;
    before = atomic_load_explicit(place, memory_order_relaxed);
    low = before && before >> 32 < range >> 32 ? before >> 32 : range >> 32;
    high = (before & UINT32_MAX) > (range & UINT32_MAX) ? before & UINT32_MAX : range & UINT32_MAX;
    atomic_store(place, low << 32 | high);
    if (atomic_load(&shared->memory->sieving) && meets(shared, low << 32 | high, true, 0, shared->size)) {
        atomic_store(place, before);
        return false;
    }
    shared->background++;
    return true;
}

void mur_shared_state_gate_end(struct mur_shared_state *shared)
{
    if (shared && --shared->background == 0)
        atomic_store(&shared->memory->entries[shared->rank].background, 0);
}

void mur_shared_state_gate_leave(struct mur_shared_state *shared)
{
    struct mur_entry *own;

    if (!shared)
        return;
    own = &shared->memory->entries[shared->rank];
    if (atomic_load_explicit(&own->sieves, memory_order_relaxed))
        atomic_fetch_sub(&shared->memory->sieving, 1);
    atomic_store(&own->sieves, 0);
    atomic_store(&own->writes, 0);
    shared->is_gate_held = false;
}
