/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-phase collective access (after del Rosario, Bordawekar and Choudhary, "Improved parallel I/O via a two-phase
 * run-time access strategy", 1993) for ranks that share memory.
 *
 * The part of the file that the ranks want, from the first byte to the last, passes through a ring of collective
 * buffers in their shared file state. Writing, each rank copies what it has for a collective buffer straight to where
 * it belongs there; full collective buffers are written to the file one at a time, by whoever would otherwise have to
 * wait. Reading, whoever comes first reads a collective buffer, and each takes what it wants. So the file is accessed
 * in large pieces by whichever rank has time, while the others are some collective buffers ahead, and data moves once
 * between user and collective buffer, and once between collective buffer and file. */
#include "base/error.h"
#include "engine/lock.h"
#include "io/cb.h"
#include "object/comm.h"

enum { ENTER, ALONE, GATHER, PREPARE, DIRECT, WRITE, READ, FINISH };

enum {
    SPARSE = 2 /* only what is marked of collective buffers is read where less than one half of the range is wanted */
};

static void post_span(struct mur_access *access)
{
    struct mur_shared_state *shared = access->file->shared;
    struct mur_span span = mur_access_span(access);

    access->shared.number = access->shared.ticket + 1;
    if (shared->rank == 0)
        atomic_store_explicit(&shared->memory->verdict[access->shared.number % 2], 0, memory_order_relaxed);
    mur_shared_state_post(shared, access->shared.number, &span);
}

/* A part that a rank has accessed directly. */
static void tell_done(const struct mur_access *access)
{
    struct mur_shared_state *shared = access->file->shared;

    if (access->failed)
        mur_access_tell_failure(access, access->failed);
    atomic_fetch_add_explicit(&shared->memory->done, 1, memory_order_release); /* pairs with is_done */
    mur_shared_state_rouse(shared);
}

static int decide(struct mur_access *access)
{
    static const int stages[] = {[MUR_PLAN_NOTHING] = FINISH, [MUR_PLAN_DIRECT] = DIRECT, [MUR_PLAN_CBS] = PREPARE};
    struct mur_shared_state *shared = access->file->shared;
    struct mur_span spans[shared->size];
    int stage;

    for (int i = 0; i < shared->size; i++)
        spans[i] = shared->memory->entries[i].spans[access->shared.number % 2];
    stage = stages[mur_access_plan(access, spans, shared->size)];
    if (access->is_write) {
        shared->done += (uint64_t)access->plan.all.alone;
        if (access->plan.is_alone)
            tell_done(access);
    }
    return stage;
}

static size_t wanted_cb(const struct mur_hints *hints)
{
    long bytes = hints->cb_buffer_size / MUR_CBS;

    return (size_t)mur_stripes_cb(&hints->stripes, bytes < MUR_CB_MAX ? bytes : MUR_CB_MAX);
}

/* The collective buffers are there. Their boundaries are those of the file system's blocks, or of its stripes if they
 * fit. */
static int lay_out(struct mur_access *access)
{
    struct mur_file *file = access->file;
    MPI_Offset bytes, span;

    if (!file->shared->cbs)
        return DIRECT; /* no memory for them */
    bytes = mur_cb_ring(access)->bytes;
    access->plan.origin =
        access->plan.all.first - access->plan.all.first % mur_stripes_alignment(&file->hints.stripes, bytes);
    span = access->plan.all.end - access->plan.all.first;
    access->shared.cbs = (uint64_t)((access->plan.all.end - access->plan.origin + bytes - 1) / bytes);
    access->shared.is_exact = file->is_tiled && access->plan.all.bytes == span;
    access->shared.is_sparse = !access->is_write && access->plan.all.bytes * SPARSE < span;
    return access->is_write ? WRITE : READ;
}

/* True when complete. A nonblocking one goes on later after each piece. */
static bool access_directly(struct mur_access *access)
{
    while (!mur_independent_step(access))
        if (access->request)
            return false;
    return true;
}

static bool is_done(const struct mur_shared_state *shared)
{
    /* pairs with the releases that add to it, here and in cb_write.c */
    return atomic_load_explicit(&shared->memory->done, memory_order_acquire) >= shared->done;
}

/* Once all that belongs to a write is done, every rank learns of the first failure. */
static bool finish(struct mur_access *access)
{
    struct mur_shared_state *shared = access->file->shared;
    uint64_t verdict = 0;

    while (!is_done(shared))
        if (!access->shared.cbs || !mur_cbs_write_next(access))
            return false;
    if (access->is_write && (access->plan.all.bytes || access->plan.all.alone) && !access->plan.all.error)
        verdict = atomic_load_explicit(&shared->memory->verdict[access->shared.number % 2], memory_order_relaxed);
    if (verdict) {
        access->failed = (int)(verdict >> 32);
        access->shared.failed_rank = (int)(verdict & UINT32_MAX) - 1;
    }
    if (access->failed && !access->error)
        access->error = mur_file_error_at(access->failed, access->is_write ? "write" : "read", access->file->name,
                                          access->shared.failed_rank);
    shared->cbs_in += access->shared.cbs;
    shared->current++;
    mur_engine_notify(); /* another thread's access may rest until it is its turn */
    return true;
}

/* Everything up to the first thing that must be waited for. */
bool mur_two_phase_step(struct mur_access *access)
{
    struct mur_shared_state *shared = access->file->shared;

    if (access->shared.stage == ENTER) {
        if (shared->current != access->shared.ticket)
            return false;
        post_span(access);
        access->shared.stage = access->plan.is_alone ? ALONE : GATHER;
    }
    if (access->shared.stage == ALONE) {
        if (!access_directly(access))
            return false;
        access->shared.stage = GATHER;
    }
    if (access->shared.stage == GATHER) {
        if (!mur_shared_state_all_posted(shared, access->shared.number, &access->shared.next))
            return false;
        access->shared.stage = decide(access);
    }
    if (access->shared.stage == PREPARE) {
        if (!mur_shared_state_has_cbs(shared, wanted_cb(&access->file->hints)))
            return false;
        access->shared.stage = lay_out(access);
        if (access->is_write && access->shared.stage == WRITE)
            shared->done += access->shared.cbs;
    }
    if (access->shared.stage == DIRECT) {
        if (!access->plan.is_alone && !access_directly(access))
            return false;
        if (access->is_write) {
            shared->done += (uint64_t)(shared->size - access->plan.all.alone);
            if (!access->plan.is_alone)
                tell_done(access);
        }
        access->shared.stage = FINISH;
    }
    if ((access->shared.stage == WRITE && !mur_cbs_write(access)) ||
        (access->shared.stage == READ && !mur_cbs_read(access)))
        return false;
    access->shared.stage = FINISH;
    return finish(access);
}
