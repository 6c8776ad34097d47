/* SPDX-License-Identifier: BSD-3-Clause */
/* Large operations by two cores, where the memory of the target is reached by copies, which the system makes slower
 * than loads and stores are. The origin can do them alone; but a target that is in MPI anyway, waiting on a core of its
 * own, takes a share: both claim chunks of one description in shared memory, the origin from the front, the target from
 * the back, until none is left. What is only copied is claimed in large chunks first and then in smaller ones, so that
 * few system calls do and both end together; what is computed with passes through a buffer that stays in the core's own
 * cache. A target that comes too late finds nothing left; until it has said so, it is not asked
 * again. (Loads and stores of one core are as fast as those of two that take lines from each other: not shared.) */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "datatype/basic.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "node/node.h"
#include "rma/rma.h"

enum { PAGE = 4096, STRIDE = 64 << 10 /* of computing */ };

struct help {
    _Atomic uint32_t is_asked __attribute__((aligned(64))); /* until the target is done with it: its release pairs with
                                                             * the acquire in mur_rma_share */
    int32_t asker;                                          /* the process that this belongs to */
    uint64_t token;
    uint64_t bytes;
    uint64_t origin, result, place; /* addresses at the origin, and in the window */
    uint32_t kind, reduction, basic;
    int32_t asked;                                       /* the process that this is for */
    struct mur_claim claim __attribute__((aligned(64))); /* in units of pages, or several of them; the target counts
                                                          * what it has done */
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

static bool computes(const struct help *help)
{
    return help->kind == MUR_RMA_ACCUMULATE || help->kind == MUR_RMA_GET_ACCUMULATE;
}

/* Takes the next chunk from a side's end; 0 units: none is left. */
static struct mur_claim_part claim(struct help *help, enum mur_claim_side side, uint64_t *offset, size_t *bytes)
{
    uint64_t unit = mur_claim_unit(help->bytes, PAGE);
    struct mur_claim_chunks chunks = mur_claim_chunks_of(computes(help) ? STRIDE : 0, unit);
    struct mur_claim_part part = mur_claim_take(&help->claim, 0, mur_claim_count(help->bytes, unit), side, &chunks);

    *offset = part.start * unit;
    *bytes = part.units ? mur_claim_bytes(help->bytes, unit, part.start, part.units) : 0;
    return part;
}

/* ---- the origin ---- */

/* The target copies its last chunk. */
static int wait_for_rest(struct help *help, int rank)
{
    mur_claim_wait(&help->claim, mur_claim_taken(mur_claim_look(&help->claim), MUR_CLAIM_BACK));
    return mur_claim_has_failed(&help->claim) ? mur_error(MPI_ERR_BUFFER,
                                                          "rank %d could not reach the origin's buffer: is it smaller "
                                                          "than its count says?",
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
    int one;

    if (!mur_wait_polls())
        return false;
    help = help_of(peer);
    /* pairs with the release in run, at the target: it uses the memory no more */
    if (!help || atomic_load_explicit(&help->is_asked, memory_order_acquire))
        return false;
    help->bytes = bytes;
    help->origin = (uintptr_t)a->origin;
    help->result = (uintptr_t)a->result;
    help->place = a->place;
    help->kind = kind;
    help->reduction = leaf ? leaf->reduction : 0;
    help->basic = leaf ? (uint32_t)leaf->type->basic : 0;
    mur_claim_open(&help->claim, 0);
    atomic_store_explicit(&help->is_asked, 1, memory_order_relaxed);
    if (!ask(a, peer, help)) { /* the frame publishes all of it */
        atomic_store_explicit(&help->is_asked, 0, memory_order_relaxed);
        return false;
    }
    *rc = MPI_SUCCESS;
    while (claim(help, MUR_CLAIM_FRONT, &offset, &piece).units) {
        one = mur_rma_do_piece(a, kind, leaf, offset, piece);
        *rc = *rc ? *rc : one;
    }
    one = wait_for_rest(help, a->rank);
    *rc = *rc ? *rc : one;
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

/* A unit of very large data may be more than a stride. */
static bool accumulate_all(struct mur_win *win, struct mur_peer *peer, const struct help *help, uint64_t offset,
                           size_t bytes)
{
    for (size_t done = 0; done < bytes; done += STRIDE)
        if (!accumulate(win, peer, help, offset + done, bytes - done < STRIDE ? bytes - done : STRIDE))
            return false;
    return true;
}

/* The window lives as long as there are chunks: the origin waits for them. */
static bool help_with_chunk(struct helper *helper, uint64_t offset, size_t bytes)
{
    struct mur_win *win = mur_win_of_context(helper->context);
    struct help *help = helper->help;
    char *memory = (char *)((uintptr_t)win->targets[win->rank].memory + help->place + offset);

    if (computes(help))
        return accumulate_all(win, helper->peer, help, offset, bytes);
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
    struct mur_claim_part part = claim(help, MUR_CLAIM_BACK, &offset, &bytes);

    if (part.units) {
        if (!help_with_chunk(helper, offset, bytes))
            mur_claim_fail(&help->claim);
        mur_claim_finish(&help->claim, part.units);
        return true;
    }
    *is_over = true;
    free(helper);
    /* pairs with the acquire in mur_rma_share, at the origin */
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
        mur_engine_task_add(&helper->task);
    return true;
}
