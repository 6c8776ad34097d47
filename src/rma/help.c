/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations by two cores, where the memory of the target is reached by copies, which the system makes slower
 * than loads and stores are. The origin can do them alone; but a target that is in MPI anyway, waiting on a core of its
 * own, takes a share: both claim chunks of one description in shared memory, the origin from the front, the target from
 * the back, until none is left. What is only copied is claimed in large chunks first and then in smaller ones, so that
 * few system calls do and both end together; what is computed with passes through a buffer that stays in the core's own
 * cache. A target that comes too late finds nothing left; until it has said so, it is not asked
 * again. (Loads and stores of one core are as fast as those of two that take lines from each other: not shared.) */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "boot/process.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "node/node.h"
#include "rma/rma.h"

enum { PAGE = 4096, CHUNK_MIN = 32 << 10, CHUNK_MAX = 512 << 10, STRIDE = 64 << 10 /* of computing */, SPINS = 1000 };

struct help {
    _Atomic uint32_t is_asked __attribute__((aligned(64))); /* until the target is done with it: its release pairs with
                                                             * the acquire in mur_rma_share */
    int32_t asker;                                          /* the process that this belongs to */
    uint64_t token;
    uint64_t bytes;
    uint64_t origin, result, place; /* addresses at the origin, and in the window */
    uint32_t kind, reduction, basic;
    int32_t asked;                                         /* the process that this is for */
    _Atomic uint64_t claimed __attribute__((aligned(64))); /* pages: front in the low half, back in the high half */
    _Atomic uint64_t done; /* bytes; released; pairs with the acquire in wait_for_rest */
    _Atomic uint32_t has_failed;
};
_Static_assert(sizeof(struct help) == 128, "as much as there is at any token");

/* One for each process that was ever asked. */
static struct help **helps;
static int help_count;

static struct help *help_of(const struct mur_peer *peer)
{
    uint64_t token;

    if (peer->process >= help_count) {
        struct help **more = realloc(helps, (size_t)(peer->process + 1) * sizeof *more);

        if (!more)
            return NULL;
        memset(more + help_count, 0, (size_t)(peer->process + 1 - help_count) * sizeof *more);
        helps = more;
        help_count = peer->process + 1;
    }
    if (!helps[peer->process] && (helps[peer->process] = mur_node_share(sizeof(struct help), &token))) {
        helps[peer->process]->token = token;
        helps[peer->process]->asker = mur_process.rank;
        helps[peer->process]->asked = peer->process;
    }
    return helps[peer->process];
}

/* How many of all pages to take when `left` are left: nearly half first, then less and less. */
static uint64_t chunk_pages(const struct help *help, uint64_t all, uint64_t left, bool is_first)
{
    uint64_t pages = is_first ? all * 7 / 16 : left / 4;

    if (help->kind == MUR_RMA_ACCUMULATE || help->kind == MUR_RMA_GET_ACCUMULATE)
        pages = STRIDE / PAGE;
    pages = pages < CHUNK_MIN / PAGE ? CHUNK_MIN / PAGE : pages > CHUNK_MAX / PAGE ? CHUNK_MAX / PAGE : pages;
    return pages < left ? pages : left;
}

/* The offset of a chunk that nobody else has; false: none is left. */
static bool claim(struct help *help, bool from_back, uint64_t *offset, size_t *bytes)
{
    uint64_t before = atomic_load_explicit(&help->claimed, memory_order_relaxed), front, back, pages;
    uint64_t all = (help->bytes + PAGE - 1) / PAGE, start;

    do {
        front = before & UINT32_MAX;
        back = before >> 32;
        if (front + back >= all)
            return false;
        pages = chunk_pages(help, all, all - front - back, from_back ? !back : !front);
    } while (!atomic_compare_exchange_weak_explicit(&help->claimed, &before, before + (from_back ? pages << 32 : pages),
                                                    memory_order_relaxed, memory_order_relaxed));
    start = from_back ? all - back - pages : front;
    *offset = start * PAGE;
    *bytes = help->bytes - *offset < pages * PAGE ? help->bytes - *offset : pages * PAGE;
    return true;
}

/* ---- the origin ---- */

/* The target copies its last chunk; it needs nothing from here for that. */
static int wait_for_rest(struct help *help, int rank)
{
    for (int spins = 0; atomic_load_explicit(&help->done, memory_order_acquire) < help->bytes; spins++)
        if (spins < SPINS)
            mur_cpu_relax();
        else
            sched_yield();
    return atomic_load_explicit(&help->has_failed, memory_order_relaxed)
               ? mur_error(MPI_ERR_BUFFER,
                           "rank %d could not reach the origin's buffer: is it smaller than its count "
                           "says?",
                           rank)
               : MPI_SUCCESS;
}

static bool ask(const struct mur_rma_arguments *a, struct mur_peer *peer, const struct help *help)
{
    struct mur_frame frame = {.kind = MUR_FRAME_SYNC,
                              .context = a->win->comm->context,
                              .source = a->win->rank,
                              .tag = MUR_SYNC_HELP,
                              .bytes = sizeof help->token};

    return mur_send_frame(peer, &frame, &help->token);
}

bool mur_rma_share(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                   size_t bytes, int *rc)
{
    struct mur_peer *peer = &mur_engine.peers[a->win->comm->processes[a->rank]];
    struct help *help;
    uint64_t offset;
    size_t piece;

    if (a->win->targets[a->rank].way != MUR_WAY_COPIES || !mur_wait_polls())
        return false;
    help = help_of(peer);
    if (!help || atomic_load_explicit(&help->is_asked, memory_order_acquire))
        return false;
    help->bytes = bytes;
    help->origin = (uintptr_t)a->origin;
    help->result = (uintptr_t)a->result;
    help->place = a->place;
    help->kind = kind;
    help->reduction = leaf ? leaf->reduction : 0;
    help->basic = leaf ? (uint32_t)leaf->type->basic : 0;
    atomic_store_explicit(&help->done, 0, memory_order_relaxed);
    atomic_store_explicit(&help->has_failed, 0, memory_order_relaxed);
    atomic_store_explicit(&help->claimed, 0, memory_order_relaxed);
    atomic_store_explicit(&help->is_asked, 1, memory_order_relaxed);
    if (!ask(a, peer, help)) { /* the frame publishes all of it */
        atomic_store_explicit(&help->is_asked, 0, memory_order_relaxed);
        return false;
    }
    *rc = MPI_SUCCESS;
    while (claim(help, false, &offset, &piece)) {
        int one = mur_rma_do_piece(a, kind, leaf, offset, piece);

        *rc = *rc ? *rc : one;
        atomic_fetch_add_explicit(&help->done, piece, memory_order_relaxed);
    }
    piece = (size_t)wait_for_rest(help, a->rank);
    *rc = *rc ? *rc : (int)piece;
    return true;
}

/* ---- the target ---- */

struct helper {
    struct mur_task task;
    struct mur_peer *peer;
    struct help *help;
    uint32_t context;
};

static bool accumulate(struct mur_win *win, struct mur_peer *peer, const struct help *help, uint64_t offset,
                       size_t bytes)
{
    static unsigned char in[STRIDE] __attribute__((aligned(64))), out[STRIDE] __attribute__((aligned(64)));
    struct iovec there = {(void *)(uintptr_t)(help->place + offset), bytes};
    bool brings = help->reduction != MUR_REDUCE_NO_OP, fetches = help->kind == MUR_RMA_GET_ACCUMULATE;
    struct mur_rma_leaf leaf;

    if (brings && !mur_node_read(peer->local, in, help->origin + offset, bytes))
        return false;
    mur_rma_leaf_fill(&leaf, mur_type_find(mur_basics[help->basic].handle), (enum mur_reduction)help->reduction);
    if (mur_rma_apply(win, win->rank, &there, 1, &leaf, brings ? in : NULL, fetches ? out : NULL))
        return false;
    return !fetches || mur_node_write(peer->local, out, help->result + offset, bytes);
}

/* The window lives as long as there are chunks: the origin waits for them. */
static bool help_with_chunk(struct helper *helper, uint64_t offset, size_t bytes)
{
    struct mur_win *win = mur_win_of_context(helper->context);
    struct help *help = helper->help;
    char *memory = (char *)((uintptr_t)win->targets[win->rank].memory + help->place + offset);

    if (help->kind == MUR_RMA_ACCUMULATE || help->kind == MUR_RMA_GET_ACCUMULATE)
        return accumulate(win, helper->peer, help, offset, bytes);
    if (help->kind == MUR_RMA_PUT)
        return mur_node_read(helper->peer->local, memory, help->origin + offset, bytes);
    return mur_node_write(helper->peer->local, memory, help->origin + offset, bytes);
}

static bool run(struct mur_task *task, bool *is_over)
{
    struct helper *helper = (struct helper *)task;
    struct help *help = helper->help;
    uint64_t offset;
    size_t bytes;

    if (claim(help, true, &offset, &bytes)) {
        if (!help_with_chunk(helper, offset, bytes))
            atomic_store_explicit(&help->has_failed, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&help->done, bytes, memory_order_release);
        return true;
    }
    *is_over = true;
    free(helper);
    atomic_store_explicit(&help->is_asked, 0, memory_order_release);
    return true;
}

/* A process that cannot help does not answer, and is not asked again. */
bool mur_rma_help_asked(struct mur_peer *peer, uint32_t context, uint64_t token)
{
    struct help *help = peer->local >= 0 ? mur_node_shared(token) : NULL;
    struct helper *helper;
    bool is_over = false;

    if (!help || help->token != token || help->asker != peer->process || help->asked != mur_process.rank)
        return false;
    helper = mur_node_can_copy(peer->local) ? malloc(sizeof *helper) : NULL;
    if (!helper)
        return true;
    *helper = (struct helper){.task.run = run, .peer = peer, .help = help, .context = context};
    run(&helper->task, &is_over);
    if (!is_over)
        mur_task_add(&helper->task);
    return true;
}
