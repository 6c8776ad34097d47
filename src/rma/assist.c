/* SPDX-License-Identifier: BSD-3-Clause */
/* Small operations where the memory of the target is reached by copies. A copy is a system call, an accumulate two of
 * them; a target that is in MPI anyway and polls does the same in a tenth of the time. So the origin posts an assist on
 * the target's mailbox, a few lines of shared memory, and whoever gets there first has it:
 *
 *     free -> taken     an origin writes the assist           (one at a time; the others copy)
 *          -> posted    it may be claimed, or withdrawn
 *          -> claimed   the target has seen it in its progress, and performs it
 *          -> done, or failed, with what was fetched; the origin reads it, and frees the mailbox
 *
 * The origin waits for as long as the copy would have taken; if nobody has claimed the assist by then, it is withdrawn,
 * and the origin copies. (The rule of renting skis: what waits as long as the other way costs never loses more than
 * that.) That a target polls cannot be known, only tried. After a failure it is woken, in case that it sleeps in MPI,
 * and tried again some operations later; where nobody is there even then it computes, and is let be for long. So
 * assists cost next to nothing where they fail, and no target is ever needed. */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/counters.h"
#include "base/cpu.h"
#include "base/settings.h"
#include "datatype/basic.h"
#include "engine/engine.h"
#include "node/node.h"
#include "rma/mailbox.h"
#include "rma/rma.h"

enum { DATA_MAX = MUR_MAILBOX_DATA, LOOKS = 8 /* between two looks at the clock */, SPINS = 1000 };
enum { SKIPS_AWAKENING = 24, SKIPS_COMPUTING = 256 };

static struct mur_rma_mailbox *own;
static uint64_t own_token;

/* ---- the target ---- */

static bool perform(struct mur_rma_mailbox *mailbox)
{
    static unsigned char fetched[DATA_MAX] __attribute__((aligned(64)));
    struct mur_win *win = mur_win_of_context(mailbox->context);
    enum mur_rma_kind kind = (enum mur_rma_kind)mailbox->kind;
    size_t bytes = mailbox->bytes;
    bool brings = kind != MUR_RMA_GET && mailbox->reduction != MUR_REDUCE_NO_OP;
    bool fetches = kind != MUR_RMA_PUT && kind != MUR_RMA_ACCUMULATE;
    struct mur_rma_leaf leaf = {.bytes = 1};

    if (!win || bytes > DATA_MAX || mailbox->basic >= MUR_BASICS || mailbox->reduction >= MUR_REDUCTIONS)
        return false;
    if (kind == MUR_RMA_ACCUMULATE || kind == MUR_RMA_GET_ACCUMULATE)
        mur_rma_leaf_fill(&leaf, mur_type_find(mur_basics[mailbox->basic].handle),
                          (enum mur_reduction)mailbox->reduction);
    if (!mur_rma_perform(win, kind, &leaf, mailbox->place, bytes, brings ? mailbox->data : NULL,
                         fetches ? fetched : NULL))
        return false;
    if (fetches)
        mur_copy(mailbox->data, fetched, bytes);
    return true;
}

/* The acquire pairs with the release in post, the release with the acquire in is_done. */
static bool serve(void)
{
    uint32_t state = MUR_MAILBOX_POSTED;

    if (own && atomic_load_explicit(&own->state, memory_order_relaxed) == MUR_MAILBOX_JOINT)
        return mur_rma_joint_serve(&own->joint);
    /* pairs with the release of MUR_MAILBOX_POSTED by the origin */
    if (!own || !atomic_compare_exchange_strong_explicit(&own->state, &state, MUR_MAILBOX_CLAIMED, memory_order_acquire,
                                                         memory_order_relaxed))
        return false;
    /* pairs with the acquire of the origin, which waits for it */
    atomic_store_explicit(&own->state, perform(own) ? MUR_MAILBOX_DONE : MUR_MAILBOX_FAILED, memory_order_release);
    mur_counters.assists_done++;
    return true;
}

uint64_t mur_rma_mailbox_open(void)
{
    if (!own && (own = mur_node_share(sizeof *own, &own_token))) {
        mur_engine.bell = &own->state;
        mur_engine.answer_bell = serve;
    }
    return own ? own_token : 0;
}

/* ---- the origin ---- */

static void post(struct mur_rma_mailbox *mailbox, const struct mur_rma_arguments *a, enum mur_rma_kind kind,
                 const struct mur_rma_leaf *leaf, size_t bytes)
{
    mailbox->context = a->win->comm->context;
    mailbox->bytes = (uint32_t)bytes;
    mailbox->kind = (uint16_t)kind;
    mailbox->reduction = leaf ? (uint16_t)leaf->reduction : MUR_REDUCE_REPLACE;
    mailbox->place = a->place;
    mailbox->basic = leaf ? (uint32_t)leaf->type->basic : 0;
    if (kind == MUR_RMA_SWAP) {
        mur_copy(mailbox->data, a->compare, bytes);
        mur_copy(mailbox->data + bytes, a->origin, bytes);
    } else if (kind != MUR_RMA_GET && mailbox->reduction != MUR_REDUCE_NO_OP) {
        mur_copy(mailbox->data, a->origin, bytes);
    }
    /* pairs with the acquire of the target, which claims it */
    atomic_store_explicit(&mailbox->state, MUR_MAILBOX_POSTED, memory_order_release);
}

/* False: nobody has come for it. Meanwhile others may want the same from this process. */
static bool is_claimed(struct mur_rma_mailbox *mailbox)
{
    uint64_t start = 0, now;
    uint32_t state;

    for (int looks = 1;; looks++) {
        state = atomic_load_explicit(&mailbox->state, memory_order_relaxed);
        if (state != MUR_MAILBOX_POSTED)
            return true;
        mur_cpu_relax();
        if (looks % LOOKS)
            continue;
        serve();
        now = mur_clock_ns();
        if (!start)
            start = now;
        if (now - start >= (uint64_t)mur_settings.rma_patience)
            return !atomic_compare_exchange_strong_explicit(&mailbox->state, &state, MUR_MAILBOX_FREE,
                                                            memory_order_relaxed, memory_order_relaxed);
    }
}

/* It needs nothing from here for that, but may have lost its core. */
static bool is_done(struct mur_rma_mailbox *mailbox)
{
    uint32_t state;

    /* pairs with the release of the target when it is done */
    for (int spins = 0; (state = atomic_load_explicit(&mailbox->state, memory_order_acquire)) == MUR_MAILBOX_CLAIMED;
         spins++)
        if (spins < SPINS)
            mur_cpu_relax();
        else
            sched_yield();
    return state == MUR_MAILBOX_DONE;
}

static void take_result(const struct mur_rma_mailbox *mailbox, const struct mur_rma_arguments *a,
                        enum mur_rma_kind kind, size_t bytes)
{
    if (kind == MUR_RMA_GET)
        mur_copy((void *)(uintptr_t)a->origin, mailbox->data, bytes);
    else if (kind == MUR_RMA_GET_ACCUMULATE || kind == MUR_RMA_SWAP)
        mur_copy(a->result, mailbox->data, bytes);
}

static bool run(struct mur_rma_mailbox *mailbox, const struct mur_rma_arguments *a, enum mur_rma_kind kind,
                const struct mur_rma_leaf *leaf, size_t bytes)
{
    uint32_t nobody = MUR_MAILBOX_FREE;
    bool is_good;

    /* pairs with the release of MUR_MAILBOX_FREE by the origin before */
    if (!atomic_compare_exchange_strong_explicit(&mailbox->state, &nobody, MUR_MAILBOX_TAKEN, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    post(mailbox, a, kind, leaf, bytes);
    if (!is_claimed(mailbox))
        return false;
    is_good = is_done(mailbox);
    if (is_good)
        take_result(mailbox, a, kind, bytes);
    atomic_store_explicit(&mailbox->state, MUR_MAILBOX_FREE, memory_order_release); /* pairs with the acquire above */
    return is_good;
}

/* The peer was not there: it sleeps, and is soon awake, or it computes. */
static void try_later(struct mur_win_target *target, const struct mur_peer *peer)
{
    target->is_woken = !target->is_woken;
    target->skips = target->is_woken ? SKIPS_AWAKENING : SKIPS_COMPUTING;
    if (target->is_woken)
        mur_node_rouse(&peer->process, 1);
}

bool mur_rma_assist(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                    size_t bytes, int *rc)
{
    struct mur_win_target *target = &a->win->targets[a->rank];

    if (!target->mailbox || bytes > (size_t)mur_settings.rma_assist_max || !mur_wait_polls())
        return false;
    if (target->skips) {
        target->skips--;
        return false;
    }
    if (run(target->mailbox, a, kind, leaf, bytes)) {
        target->is_woken = false;
        mur_counters.assists++;
        *rc = MPI_SUCCESS;
        return true;
    }
    try_later(target, &mur_engine.peers[a->win->comm->processes[a->rank]]);
    return false;
}
