/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading through collective buffers: the first rank to come reads one, and goes on to the next while others read those
 * before. Where the ranks want little of the range, each marks what it wants, and only that is read. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "io/bitmap.h"
#include "io/lock.h"
#include "io/cb.h"

enum { TRIAL = 16 /* reads of collective buffers, of which one is done in the other way */ };

/* The lines of the buffer are in the caches of those who took data out of it last. Where it takes the system long to
 * have them back, they are better taken out of all caches before: which of the two is faster turns out by trying the
 * other one now and then. */
static ssize_t read_timed(struct mur_access *access, char *buffer, struct mur_view_segment segment)
{
    struct mur_shared_state *shared = access->file->shared;
    bool forget = (shared->read_ns[true] < shared->read_ns[false]) != (++shared->reads % TRIAL == 0);
    uint64_t start = mur_clock_ns(), ns;
    ssize_t got;

    if (forget)
        mur_copy_forget(buffer, segment.bytes);
    got = mur_file_transfer(access->file, buffer, segment, false);
    ns = (mur_clock_ns() - start) * MUR_CB_MIN / segment.bytes;
    shared->read_ns[forget] = shared->read_ns[forget] ? (3 * shared->read_ns[forget] + ns) / 4 : ns;
    return got;
}

static void read_cb(struct mur_access *access, uint64_t index)
{
    uint64_t number = mur_cb_number(access, index);
    struct mur_cb *cb = mur_cb_state(access, number);
    struct mur_view_segment segment = mur_cb_segment(access, index);
    char *buffer = mur_cb_buffer(access->file->shared, number) + (segment.offset - mur_cb_start(access, index));
    ssize_t got = read_timed(access, buffer, segment);

    cb->number = got < 0 ? errno : 0;
    cb->rank = access->file->shared->rank;
    cb->end = segment.offset + (got < 0 ? 0 : got);
    mur_cb_enter(access, number, MUR_CB_READY);
}

static bool claim(struct mur_access *access, uint64_t index)
{
    uint64_t number = mur_cb_number(access, index), expected = number * 4 + MUR_CB_FREE;

    if (index >= access->shared.cbs || !mur_cb_is_in(access, index, MUR_CB_FREE) ||
        !atomic_compare_exchange_strong(&mur_cb_state(access, number)->turn, &expected, number * 4 + MUR_CB_READING))
        return false;
    read_cb(access, index);
    return true;
}

/* The collective buffer is MUR_CB_READY when this returns true. While somebody else reads it, reads one of the next. */
static bool provide(struct mur_access *access)
{
    if (!claim(access, access->shared.cb))
        for (uint64_t i = 1; i < MUR_CBS && !mur_cb_is_in(access, access->shared.cb, MUR_CB_READY); i++)
            claim(access, access->shared.cb + i);
    return mur_cb_is_in(access, access->shared.cb, MUR_CB_READY);
}

static void read_marked(struct mur_access *access, uint64_t index)
{
    uint64_t number = mur_cb_number(access, index);
    struct mur_cb *cb = mur_cb_state(access, number);

    cb->number = mur_bitmap_read(access->file, mur_cb_buffer(access->file->shared, number), mur_cb_start(access, index),
                                 mur_cb_end(access, index), cb->marks, &cb->end);
    cb->rank = access->file->shared->rank;
    mur_cb_enter(access, number, MUR_CB_READY);
}

/* Marks what this rank wants of as many collective buffers as are free; the last rank to mark one reads it. */
static void mark_cbs(struct mur_access *access)
{
    while (access->shared.marked < access->shared.cbs && access->shared.marked < access->shared.cb + MUR_CBS &&
           mur_cb_is_in(access, access->shared.marked, MUR_CB_FREE)) {
        uint64_t index = access->shared.marked++;
        struct mur_cb *cb = mur_cb_state(access, mur_cb_number(access, index));
        size_t bytes = mur_cb_bytes(access, access->shared.ahead, mur_cb_end(access, index));

        mur_bitmap_data(access, access->shared.ahead, bytes, mur_cb_start(access, index), MUR_MARKED, cb->marks);
        access->shared.ahead += bytes;
        /* The last rank to mark acquires what the others, which release here, have marked. */
        if (atomic_fetch_add_explicit(&cb->marked, 1, memory_order_acq_rel) + 1 == (uint32_t)access->file->shared->size)
            read_marked(access, index);
    }
}

static void take_data(struct mur_access *access, size_t bytes)
{
    const struct mur_cb *cb = mur_cb_state(access, mur_cb_number(access, access->shared.cb));
    MPI_Offset end = mur_cb_end(access, access->shared.cb);

    if (cb->number && !access->failed) {
        access->failed = cb->number;
        access->shared.failed_rank = cb->rank;
    }
    if (cb->end < end) {
        bytes = mur_cb_bytes(access, access->moved, cb->end);
        access->plan.is_at_end = true;
    }
    mur_view_get(access->file, access->start + (MPI_Offset)access->moved, bytes, &access->memory,
                 mur_cb_buffer(access->file->shared, mur_cb_number(access, access->shared.cb)),
                 mur_cb_start(access, access->shared.cb));
    access->moved += bytes;
}

/* The last rank to arrive frees the collective buffer. */
static void leave_cb(struct mur_access *access)
{
    uint64_t number = mur_cb_number(access, access->shared.cb);
    struct mur_cb *cb = mur_cb_state(access, number);

    /* The last rank to arrive acquires that all others, which release here, have read. */
    if (atomic_fetch_add_explicit(&cb->arrived, 1, memory_order_acq_rel) + 1 != (uint32_t)access->file->shared->size)
        return;
    if (access->shared.is_sparse)
        memset((void *)cb->marks, 0, sizeof cb->marks);
    atomic_store_explicit(&cb->marked, 0, memory_order_relaxed);
    atomic_store_explicit(&cb->arrived, 0, memory_order_relaxed);
    mur_cb_enter(access, number + MUR_CBS, MUR_CB_FREE);
}

static bool is_turn(const struct mur_access *access)
{
    uint64_t number = mur_cb_number(access, access->shared.cb);

    /* pairs with the release in mur_cb_enter */
    return atomic_load_explicit(&mur_cb_state(access, number)->turn, memory_order_acquire) / 4 == number;
}

bool mur_cbs_read(struct mur_access *access)
{
    for (; access->shared.cb < access->shared.cbs; access->shared.cb++) {
        size_t bytes;

        if (!is_turn(access)) /* the ring's last turn is not over */
            return false;
        if (access->shared.is_sparse)
            mark_cbs(access);
        bytes = access->plan.is_at_end ? 0 : mur_cb_bytes(access, access->moved, mur_cb_end(access, access->shared.cb));
        if (bytes &&
            !(access->shared.is_sparse ? mur_cb_is_in(access, access->shared.cb, MUR_CB_READY) : provide(access)))
            return false;
        if (bytes)
            take_data(access, bytes);
        leave_cb(access);
    }
    return true;
}
