/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading through panes: whoever comes first reads one, and reads on while others read those before. Where the ranks
 * want little of the range, each marks what it wants, and only that is read. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "io/cover.h"
#include "io/lock.h"
#include "io/panes.h"

enum { TRIAL = 16 /* reads of panes, of which one is done in the other way */ };

/* The lines of the buffer are in the caches of those who took data out of it last. Where it takes the system long to
 * have them back, they are better taken out of all caches before: which of the two is faster turns out by trying the
 * other one now and then. */
static ssize_t read_timed(struct mur_access *access, char *buffer, struct mur_view_segment segment)
{
    struct mur_area *area = access->file->area;
    bool forget = (area->read_ns[true] < area->read_ns[false]) != (++area->reads % TRIAL == 0);
    uint64_t start = mur_clock_ns(), ns;
    ssize_t got;

    if (forget)
        mur_copy_forget(buffer, segment.bytes);
    got = mur_file_transfer(access->file, buffer, segment, false);
    ns = (mur_clock_ns() - start) * MUR_PANE_MIN / segment.bytes;
    area->read_ns[forget] = area->read_ns[forget] ? (3 * area->read_ns[forget] + ns) / 4 : ns;
    return got;
}

static void read_pane(struct mur_access *access, uint64_t index)
{
    uint64_t number = mur_pane_number(access, index);
    struct mur_pane *pane = mur_pane_state(access, number);
    struct mur_view_segment segment = mur_pane_segment(access, index);
    char *buffer = mur_pane_buffer(access->file->area, number) + (segment.offset - mur_pane_start(access, index));
    ssize_t got = read_timed(access, buffer, segment);

    pane->number = got < 0 ? errno : 0;
    pane->rank = access->file->area->rank;
    pane->end = segment.offset + (got < 0 ? 0 : got);
    mur_pane_enter(access, number, MUR_PANE_READY);
}

static bool claim(struct mur_access *access, uint64_t index)
{
    uint64_t number = mur_pane_number(access, index), expected = number * 4 + MUR_PANE_FREE;

    if (index >= access->shared.panes || !mur_pane_is_in(access, index, MUR_PANE_FREE) ||
        !atomic_compare_exchange_strong(&mur_pane_state(access, number)->turn, &expected,
                                        number * 4 + MUR_PANE_READING))
        return false;
    read_pane(access, index);
    return true;
}

/* The pane is MUR_PANE_READY when this returns true. While somebody else reads it, reads one of the next. */
static bool provide(struct mur_access *access)
{
    if (!claim(access, access->shared.pane))
        for (uint64_t i = 1; i < MUR_PANES && !mur_pane_is_in(access, access->shared.pane, MUR_PANE_READY); i++)
            claim(access, access->shared.pane + i);
    return mur_pane_is_in(access, access->shared.pane, MUR_PANE_READY);
}

static void read_marked(struct mur_access *access, uint64_t index)
{
    uint64_t number = mur_pane_number(access, index);
    struct mur_pane *pane = mur_pane_state(access, number);

    pane->number = mur_cover_read(access->file, mur_pane_buffer(access->file->area, number),
                                  mur_pane_start(access, index), mur_pane_end(access, index), pane->marks, &pane->end);
    pane->rank = access->file->area->rank;
    mur_pane_enter(access, number, MUR_PANE_READY);
}

/* Marks what this rank wants of as many panes as are free; the last rank to mark one reads it. */
static void mark_panes(struct mur_access *access)
{
    while (access->shared.marked < access->shared.panes && access->shared.marked < access->shared.pane + MUR_PANES &&
           mur_pane_is_in(access, access->shared.marked, MUR_PANE_FREE)) {
        uint64_t index = access->shared.marked++;
        struct mur_pane *pane = mur_pane_state(access, mur_pane_number(access, index));
        size_t bytes = mur_pane_bytes(access, access->shared.ahead, mur_pane_end(access, index));

        mur_cover_data(access, access->shared.ahead, bytes, mur_pane_start(access, index), MUR_MARKED, pane->marks);
        access->shared.ahead += bytes;
        if (atomic_fetch_add_explicit(&pane->marked, 1, memory_order_acq_rel) + 1 == (uint32_t)access->file->area->size)
            read_marked(access, index);
    }
}

static void take_data(struct mur_access *access, size_t bytes)
{
    const struct mur_pane *pane = mur_pane_state(access, mur_pane_number(access, access->shared.pane));
    MPI_Offset end = mur_pane_end(access, access->shared.pane);

    if (pane->number && !access->failed) {
        access->failed = pane->number;
        access->shared.failed_rank = pane->rank;
    }
    if (pane->end < end) {
        bytes = mur_pane_bytes(access, access->moved, pane->end);
        access->plan.is_at_end = true;
    }
    mur_view_get(access->file, access->start + (MPI_Offset)access->moved, bytes, &access->memory,
                 mur_pane_buffer(access->file->area, mur_pane_number(access, access->shared.pane)),
                 mur_pane_start(access, access->shared.pane));
    access->moved += bytes;
}

/* The last rank to arrive frees the pane. */
static void leave_pane(struct mur_access *access)
{
    uint64_t number = mur_pane_number(access, access->shared.pane);
    struct mur_pane *pane = mur_pane_state(access, number);

    if (atomic_fetch_add_explicit(&pane->arrived, 1, memory_order_acq_rel) + 1 != (uint32_t)access->file->area->size)
        return;
    if (access->shared.is_sparse)
        memset((void *)pane->marks, 0, sizeof pane->marks);
    atomic_store_explicit(&pane->marked, 0, memory_order_relaxed);
    atomic_store_explicit(&pane->arrived, 0, memory_order_relaxed);
    mur_pane_enter(access, number + MUR_PANES, MUR_PANE_FREE);
}

static bool is_turn(const struct mur_access *access)
{
    uint64_t number = mur_pane_number(access, access->shared.pane);

    return atomic_load_explicit(&mur_pane_state(access, number)->turn, memory_order_acquire) / 4 == number;
}

bool mur_panes_read(struct mur_access *access)
{
    for (; access->shared.pane < access->shared.panes; access->shared.pane++) {
        size_t bytes;

        if (!is_turn(access)) /* the ring's last turn is not over */
            return false;
        if (access->shared.is_sparse)
            mark_panes(access);
        bytes = access->plan.is_at_end
                    ? 0
                    : mur_pane_bytes(access, access->moved, mur_pane_end(access, access->shared.pane));
        if (bytes &&
            !(access->shared.is_sparse ? mur_pane_is_in(access, access->shared.pane, MUR_PANE_READY) : provide(access)))
            return false;
        if (bytes)
            take_data(access, bytes);
        leave_pane(access);
    }
    return true;
}
