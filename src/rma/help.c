/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations by two cores, where the memory of the target is reached by copies, which the system makes slower
 * than loads and stores are. The origin can do them alone; but a target that is in MPI anyway, waiting on a core of its
 * own, takes a share: both claim chunks of one description in shared memory, the origin from the front, the target from
 * the back, until none is left. A target that comes too late finds nothing left; until it has said so, it is not asked
 * again. (Loads and stores of one core are as fast as those of two that take lines from each other: not shared.) */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "rma/rma.h"

enum { CHUNK = 64 << 10, SPINS = 1000 };

struct help {
    _Atomic uint32_t is_asked __attribute__((aligned(64))); /* until the target is done with it: its release pairs with
                                                             * the acquire in mur_rma_share */
    uint64_t token;
    uint64_t bytes, chunks;
    uint64_t origin, place; /* addresses at the origin, and in the window */
    uint32_t kind, reduction, basic;
    _Atomic uint64_t claimed __attribute__((aligned(64))); /* chunks: front in the low half, back in the high half */
    _Atomic uint64_t done;                                 /* released; pairs with the acquire in wait_for_rest */
    _Atomic uint32_t has_failed;
};

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
    if (!helps[peer->process] && (helps[peer->process] = peer->transport->share(sizeof(struct help), &token)))
        helps[peer->process]->token = token;
    return helps[peer->process];
}

/* The offset of a chunk that nobody else has; false: none is left. */
static bool claim(struct help *help, bool from_back, uint64_t *offset, size_t *bytes)
{
    uint64_t before = atomic_load_explicit(&help->claimed, memory_order_relaxed), front, back, number;

    do {
        front = before & UINT32_MAX;
        back = before >> 32;
        if (front + back >= help->chunks)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&help->claimed, &before,
                                                    before + (from_back ? UINT64_C(1) << 32 : 1), memory_order_relaxed,
                                                    memory_order_relaxed));
    number = from_back ? help->chunks - 1 - back : front;
    *offset = number * CHUNK;
    *bytes = help->bytes - *offset < CHUNK ? help->bytes - *offset : CHUNK;
    return true;
}

/* ---- the origin ---- */

static int do_chunk(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                    uint64_t offset, size_t bytes)
{
    char *here = (char *)(uintptr_t)a->origin + offset;
    struct iovec local = {here, bytes}, there = {(void *)(uintptr_t)(a->place + offset), bytes};

    if (kind == MUR_RMA_ACCUMULATE)
        return mur_rma_apply(a->win, a->rank, &there, 1, leaf, here, NULL);
    return mur_rma_copy(a->win, a->rank, kind == MUR_RMA_PUT, &local, 1, &there, 1);
}

/* The target copies its last chunk; it needs nothing from here for that. */
static int wait_for_rest(struct help *help, int rank)
{
    for (int spins = 0; atomic_load_explicit(&help->done, memory_order_acquire) < help->chunks; spins++)
        if (spins < SPINS)
            mur_wait_relax();
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
    help->chunks = (bytes + CHUNK - 1) / CHUNK;
    help->origin = (uintptr_t)a->origin;
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
        int one = do_chunk(a, kind, leaf, offset, piece);

        *rc = *rc ? *rc : one;
        atomic_fetch_add_explicit(&help->done, 1, memory_order_relaxed);
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
    static unsigned char piece[CHUNK] __attribute__((aligned(64)));
    struct iovec there = {(void *)(uintptr_t)(help->place + offset), bytes};
    struct mur_rma_leaf leaf;

    if (!peer->transport->read(peer, piece, help->origin + offset, bytes))
        return false;
    mur_rma_leaf_fill(&leaf, mur_type_find(mur_basics[help->basic].handle), (enum mur_reduction)help->reduction);
    return mur_rma_apply(win, win->rank, &there, 1, &leaf, piece, NULL) == MPI_SUCCESS;
}

/* The window lives as long as there are chunks: the origin waits for them. */
static bool help_with_chunk(struct helper *helper, uint64_t offset, size_t bytes)
{
    struct mur_win *win = mur_win_of_context(helper->context);
    struct help *help = helper->help;
    char *memory = (char *)((uintptr_t)win->targets[win->rank].memory + help->place + offset);

    if (help->kind == MUR_RMA_ACCUMULATE)
        return accumulate(win, helper->peer, help, offset, bytes);
    if (help->kind == MUR_RMA_PUT)
        return helper->peer->transport->read(helper->peer, memory, help->origin + offset, bytes);
    return helper->peer->transport->write(helper->peer, memory, help->origin + offset, bytes);
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
        atomic_fetch_add_explicit(&help->done, 1, memory_order_release);
        return true;
    }
    *is_over = true;
    free(helper);
    atomic_store_explicit(&help->is_asked, 0, memory_order_release);
    return true;
}

/* Who cannot help does not answer, and is not asked again. */
void mur_rma_help_asked(struct mur_peer *peer, uint32_t context, uint64_t token)
{
    struct helper *helper = peer->transport->can_copy(peer) ? malloc(sizeof *helper) : NULL;
    bool is_over = false;

    if (!helper)
        return;
    *helper =
        (struct helper){.task.run = run, .peer = peer, .help = peer->transport->shared(token), .context = context};
    run(&helper->task, &is_over);
    if (!is_over)
        mur_task_add(&helper->task);
}
