/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and freeing windows.
 *
 * The ranks tell each other size, unit and address of their parts. Those of a node then share a segment that the lowest
 * of them provides:
 *
 *     locks of each rank (struct mur_win_control) | memory of each rank, for windows that MPI allocates
 *
 * All compute alike where in it what lies. Memory of MPI_Alloc_mem the ranks of the node reach as well: each maps it
 * for as long as the window lives. A rank that shares its node with no other of the window has the same in private
 * memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/settings.h"
#include "boot/process.h"
#include "coll/collective.h"
#include "comm/create.h"
#include "engine/engine.h"
#include "node/node.h"
#include "node/region.h"
#include "object/attribute.h"
#include "object/info.h"
#include "rma/rma.h"

enum { PAGE = 4096 };

/* What a rank tells about its part. */
struct part {
    int64_t size, unit;
    uint64_t address;
    int32_t error; /* class; 0: none */
    int32_t hints;
    uint64_t mailbox;                 /* a token of its node; 0: it has none */
    struct mur_region_address region; /* of memory of its own that the node reaches; else of token 0 */
};

static bool is_allocated(const struct mur_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
}

static struct mur_peer *peer_of(const struct mur_win *win, int rank)
{
    return &mur_engine.peers[win->comm->processes[rank]];
}

static bool is_near(const struct mur_win *win, int rank)
{
    return rank == win->rank || peer_of(win, rank)->local >= 0;
}

static const char *const agreeing = "no memory to make a window";

static int gather(struct mur_comm *comm, void *all, MPI_Count bytes)
{
    const struct mur_collective c = {.kind = MUR_ALLGATHER,
                                     .from = mur_blocks_regular(MPI_IN_PLACE, 0, mur_type_find(MPI_BYTE)),
                                     .to = mur_blocks_regular(all, bytes, mur_type_find(MPI_BYTE))};

    return mur_collective(&c, comm, MUR_BLOCKING, NULL);
}

/* Success where all ranks had it; else a rank's own error, or one that says which rank failed. */
static int agree(struct mur_comm *comm, int rc)
{
    int *all = malloc((size_t)comm->size * sizeof *all);
    int gathered, class = mur_error_class(rc);

    if (!all)
        return mur_error(MPI_ERR_NO_MEM, "%s", agreeing);
    all[comm->rank] = class < 0 || class > 63 ? MPI_ERR_OTHER : class; /* a callback may return any */
    gathered = gather(comm, all, sizeof *all);
    for (int i = 0; i < comm->size && !rc && !gathered; i++)
        if (all[i])
            rc = mur_error(all[i], "the call failed at rank %d of the window's communicator", i);
    free(all);
    return rc ? rc : gathered;
}

/* ---- hints ---- */

static const struct {
    const char *key, *yes, *no;
    uint32_t hint;
} hints[] = {
    {"no_locks", "true", "false", MUR_WIN_NO_LOCKS},
    {"accumulate_ordering", "none", "rar,raw,war,waw", MUR_WIN_UNORDERED},
    {"accumulate_ops", "same_op", "same_op_no_op", MUR_WIN_SAME_OP},
    {"same_size", "true", "false", MUR_WIN_SAME_SIZE},
    {"same_disp_unit", "true", "false", MUR_WIN_SAME_UNIT},
    {"alloc_shared_noncontig", "true", "false", MUR_WIN_NONCONTIGUOUS},
};

/* Some of rar, raw, war and waw: all four are granted then. */
static bool is_ordering(const char *value)
{
    static const char *const pairs[] = {"rar", "raw", "war", "waw"};

    for (;; value += 4) {
        bool is_pair = false;

        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
            is_pair |= !strncmp(value, pairs[i], 3);
        if (!is_pair || (value[3] && value[3] != ','))
            return false;
        if (!value[3])
            return true;
    }
}

/* Values that are not known change nothing. */
void mur_rma_set_hints(struct mur_win *win, const struct mur_info *info)
{
    const char *granularity = mur_info_get(info, "mpi_accumulate_granularity");

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        const char *value = mur_info_get(info, hints[i].key);

        if (value && !strcmp(value, hints[i].yes))
            win->hints |= hints[i].hint;
        else if (value && (hints[i].hint == MUR_WIN_UNORDERED ? is_ordering(value) : !strcmp(value, hints[i].no)))
            win->hints &= ~hints[i].hint;
    }
    if (granularity && *granularity && strlen(granularity) < sizeof win->granularity &&
        strspn(granularity, "0123456789") == strlen(granularity))
        strcpy(win->granularity, granularity);
}

int mur_rma_get_hints(const struct mur_win *win, struct mur_info *info)
{
    int rc = mur_info_set(info, "mpi_accumulate_granularity", win->granularity);

    for (size_t i = 0; i < sizeof hints / sizeof hints[0] && !rc; i++)
        if (hints[i].hint != MUR_WIN_NONCONTIGUOUS || win->flavor == MPI_WIN_FLAVOR_SHARED)
            rc = mur_info_set(info, hints[i].key, win->hints & hints[i].hint ? hints[i].yes : hints[i].no);
    return rc;
}

/* ---- the segment ---- */

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static size_t control_bytes(const struct mur_win *win)
{
    size_t bytes = sizeof(struct mur_win_control);

    return win->is_dynamic ? page_up(bytes + MUR_WIN_REGIONS * sizeof(struct mur_win_region)) : bytes;
}

/* What a rank's memory takes of the segment. */
static uint64_t data_bytes(const struct mur_win *win, const struct part *part, bool is_contiguous)
{
    if (!is_allocated(win))
        return 0;
    return is_contiguous ? (uint64_t)part->size : page_up((uint64_t)part->size);
}

static int no_segment(uint64_t bytes)
{
    return mur_error(MPI_ERR_NO_MEM, "cannot get %llu bytes of memory for the window: %s", (unsigned long long)bytes,
                     strerror(errno));
}

static int map_private(struct mur_win *win)
{
    void *memory =
        mmap(NULL, win->segment_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return no_segment(win->segment_bytes);
    win->segment = memory;
    return MPI_SUCCESS;
}

static int provide(struct mur_win *win, uint64_t *token)
{
    win->segment = mur_node_map(win->segment_bytes, token);
    win->is_leader = win->segment != NULL;
    if (win->is_leader)
        return MPI_SUCCESS;
    *token = 0;
    return no_segment(win->segment_bytes);
}

static int map_provided(struct mur_win *win, int leader)
{
    if (!win->token)
        return mur_error(MPI_ERR_NO_MEM, "rank %d of the window could not provide its memory", leader);
    win->segment = mur_node_map(win->segment_bytes, &win->token);
    return win->segment ? MPI_SUCCESS : no_segment(win->segment_bytes);
}

/* The leader of the node makes the segment; all learn its name, and map it. */
static int map_segment(struct mur_win *win, int leader, uint64_t *tokens)
{
    int rc = MPI_SUCCESS, gathered;

    if (win->near_count == 1)
        rc = map_private(win);
    else if (leader == win->rank)
        rc = provide(win, &tokens[leader]);
    gathered = gather(win->comm, tokens, sizeof *tokens);
    if (rc || gathered)
        return rc ? rc : gathered;
    if (win->near_count > 1)
        win->token = tokens[leader];
    rc = win->segment ? MPI_SUCCESS : map_provided(win, leader);
    if (!rc && win->near_count > 1)
        mur_region_add(win->segment, win->segment_bytes, win->token);
    return rc;
}

static void unmap(struct mur_win *win)
{
    if (win->segment)
        mur_region_remove(win->segment);
    if (win->segment && win->near_count > 1)
        mur_node_unmap(win->segment, win->segment_bytes);
    else if (win->segment)
        munmap(win->segment, win->segment_bytes);
    if (win->is_leader)
        mur_node_discard(win->token, win->segment_bytes);
}

/* Who shares the node with this rank, and what they need; returns the lowest of them. */
static int count_near(struct mur_win *win, const struct part *parts)
{
    int leader = win->size;
    uint64_t bytes = 0;

    for (int i = 0; i < win->size; i++)
        if (is_near(win, i)) {
            leader = i < leader ? i : leader;
            win->near[win->near_count++] = win->comm->processes[i];
            bytes += data_bytes(win, &parts[i], false);
            bytes = bytes < UINT64_C(1) << 61 ? bytes : UINT64_C(1) << 61; /* refused where it is asked for */
        }
    win->segment_bytes = bytes + page_up((uint64_t)win->near_count * control_bytes(win));
    return leader;
}

/* ---- the targets ---- */

/* `number` counts the ranks of the node. */
static void fill_near(struct mur_win *win, int rank, int number, uint64_t data, const struct part *part)
{
    struct mur_win_target *target = &win->targets[rank];
    struct mur_peer *peer = peer_of(win, rank);

    if (is_allocated(win))
        target->memory = (char *)win->segment + data;
    if (rank != win->rank && !mur_settings.rma_direct)
        return;
    target->control = (struct mur_win_control *)((char *)win->segment + (size_t)number * control_bytes(win));
    if (rank != win->rank && part->region.token && (target->memory = mur_region_keep(&part->region)))
        target->kept = part->region.token;
    if (rank == win->rank || target->memory)
        target->way = MUR_WAY_LOADS;
    else if (mur_node_can_copy(peer->local))
        target->way = MUR_WAY_COPIES;
    if (rank != win->rank && target->way != MUR_WAY_MESSAGES && part->mailbox)
        target->mailbox = mur_node_shared(part->mailbox);
}

static void fill_targets(struct mur_win *win, const struct part *parts)
{
    bool is_contiguous = win->flavor == MPI_WIN_FLAVOR_SHARED && !(parts[0].hints & MUR_WIN_NONCONTIGUOUS);
    uint64_t data = page_up((uint64_t)win->near_count * control_bytes(win));
    int number = 0;

    for (int i = 0; i < win->size; i++) {
        struct mur_win_target *target = &win->targets[i];

        target->size = parts[i].size;
        target->unit = parts[i].unit;
        target->address = parts[i].address;
        target->way = MUR_WAY_MESSAGES;
        if (i == win->rank && !is_allocated(win))
            target->memory = (char *)(uintptr_t)target->address;
        if (is_near(win, i)) {
            fill_near(win, i, number++, data, &parts[i]);
            data += data_bytes(win, &parts[i], is_contiguous);
        }
        win->is_messaging |= target->way == MUR_WAY_MESSAGES;
    }
}

/* ---- making ---- */

static int check_part(int flavor, MPI_Aint size, MPI_Aint unit, const void *base)
{
    if (size < 0)
        return mur_error(MPI_ERR_SIZE, "size is %lld bytes, but must be 0 or more", (long long)size);
    if (unit <= 0)
        return mur_error(MPI_ERR_DISP, "disp_unit is %lld, but must be 1 or more", (long long)unit);
    if (flavor == MPI_WIN_FLAVOR_CREATE && size > 0 && !base)
        return mur_error(MPI_ERR_BUFFER, "base is NULL, but size is %lld bytes", (long long)size);
    return MPI_SUCCESS;
}

/* Gathers what the ranks say; an error of one is one of all. */
static int tell_parts(struct mur_win *win, struct part *parts, int rc)
{
    int gathered;

    parts[win->rank].error = rc ? mur_error_class(rc) : MPI_SUCCESS;
    gathered = gather(win->comm, parts, sizeof *parts);
    for (int i = 0; i < win->size && !rc && !gathered; i++)
        if (parts[i].error)
            rc = mur_error(parts[i].error, "the arguments of rank %d of the communicator are wrong", i);
    return rc ? rc : gathered;
}

static void set_base(struct mur_win *win, void **base_p)
{
    struct mur_win_target *self = &win->targets[win->rank];

    if (is_allocated(win))
        *base_p = self->memory;
    win->base = win->is_dynamic ? MPI_BOTTOM : *base_p;
    self->address = (uintptr_t)self->memory;
    win->unit = (int)self->unit;
}

/* Only for windows that somebody reaches. */
static uint64_t mailbox_of(const struct mur_win *win)
{
    bool is_reached = false;

    for (int i = 0; i < win->size; i++)
        is_reached |= i != win->rank && is_near(win, i);
    return is_reached && (mur_settings.rma_assist_max || mur_settings.rma_joint) ? mur_rma_mailbox_open() : 0;
}

static int build(struct mur_win *win, MPI_Aint size, MPI_Aint unit, const struct mur_info *info, int refused,
                 void **base_p, struct part *parts, uint64_t *tokens)
{
    int rc = refused ? refused : check_part(win->flavor, size, unit, *base_p), leader;

    mur_rma_set_hints(win, info);
    parts[win->rank] = (struct part){.mailbox = mailbox_of(win),
                                     .size = size,
                                     .unit = unit,
                                     .address = win->flavor == MPI_WIN_FLAVOR_CREATE ? (uintptr_t)*base_p : 0,
                                     .hints = (int32_t)win->hints};
    if (!rc && win->flavor == MPI_WIN_FLAVOR_CREATE && size)
        mur_region_find(*base_p, (size_t)size, &parts[win->rank].region);
    rc = tell_parts(win, parts, rc);
    if (rc)
        return rc;
    leader = count_near(win, parts);
    if (win->flavor == MPI_WIN_FLAVOR_SHARED && win->near_count < win->size)
        return mur_error(MPI_ERR_RMA_SHARED,
                         "only %d of the communicator's %d ranks share memory with this one; split "
                         "it by MPI_COMM_TYPE_SHARED first",
                         win->near_count, win->size);
    rc = map_segment(win, leader, tokens);
    if (!rc) {
        fill_targets(win, parts);
        set_base(win, base_p);
    }
    /* Others may send something as soon as this is over: nothing may follow. */
    return agree(win->comm, rc);
}

static void destroy(struct mur_win *win)
{
    unmap(win);
    for (int i = 0; i < win->size; i++) {
        mur_rma_queue_free(win->targets[i].queue);
        free(win->targets[i].bulk);
        if (win->targets[i].kept)
            mur_region_release(win->targets[i].kept);
    }
    mur_win_destroy(win);
}

static int create(struct mur_comm *own, int flavor, MPI_Aint size, MPI_Aint unit, const struct mur_info *info,
                  int refused, void **base_p, struct mur_win **win_p)
{
    struct part *parts = malloc((size_t)own->size * sizeof *parts);
    uint64_t *tokens = calloc((size_t)own->size, sizeof *tokens);
    struct mur_win *win = NULL;
    int rc = parts && tokens ? mur_win_create(own, flavor, &win) : mur_error(MPI_ERR_NO_MEM, "%s", agreeing);

    mur_comm_retain(own); /* for the agreement: the window goes with its own */
    rc = agree(own, rc);
    if (!rc)
        rc = build(win, size, unit, info, refused, base_p, parts, tokens);
    if (rc && win)
        destroy(win);
    else if (rc)
        mur_comm_release(own);
    if (!rc)
        *win_p = win;
    mur_comm_release(own);
    free(parts);
    free(tokens);
    return rc;
}

int mur_rma_create(struct mur_comm *comm, int flavor, MPI_Aint size, MPI_Aint unit, const struct mur_info *info,
                   int refused, void **base_p, struct mur_win **win_p)
{
    struct mur_comm *own;
    int rc;

    if (comm->remote)
        return mur_error(MPI_ERR_COMM, "comm is an intercommunicator, which cannot have a window");
    rc = mur_comm_create_from(comm, comm->group, false, &own);
    return rc ? rc : create(own, flavor, size, unit, info, refused, base_p, win_p);
}

/* What is on its way, unlocking in particular, must have arrived everywhere before anyone forgets the window. */
int mur_rma_free(struct mur_win *win, int failed)
{
    int rc = failed;

    for (int i = 0; i < win->size && !rc; i++)
        if (win->targets[i].is_dirty)
            rc = mur_rma_touch(win, i);
    rc = rc ? rc : mur_rma_settle(win, MUR_RMA_ALL);
    rc = agree(win->comm, rc);
    if (!rc)
        destroy(win);
    return rc;
}
