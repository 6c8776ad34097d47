/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a collective access. Each rank says what it wants; all decide alike, from the same spans. Exchange
 * pays where the stretches of the ranks interleave. It does not for ranks that each have one run, or whose parts of the
 * file lie one after the other, or where the stretches are large or far apart: those access the file directly.
 *
 * A rank that can tell by itself that exchange will not pay, since its own stretches are large, is alone: it waits for
 * nobody's span before it accesses the file, and takes part in what the others do without data. */
#include "base/error.h"
#include "io/access.h"
#include "object/comm.h"

enum {
    DIRECT_SPARSE = 32,     /* the ranks want less than one byte in this many */
    DIRECT_RUN = 128 << 10, /* bytes of a stretch for which a call of its own costs less than one more copy */
    SEGMENTS = 16           /* are looked at to know what stretches are like */
};

static MPI_Offset mean_run(const struct mur_access *access)
{
    struct mur_view_segment segments[SEGMENTS];
    struct mur_cursor walk;
    MPI_Offset bytes = 0;
    int count;

    mur_view_start(access->file, access->start, &walk);
    count = mur_view_segments(&walk, segments, SEGMENTS, access->memory.bytes);
    for (int i = 0; i < count; i++)
        bytes += (MPI_Offset)segments[i].bytes;
    return count ? bytes / count : 0;
}

static long choice_of(const struct mur_access *access)
{
    return access->is_write ? access->file->hints.cb_write : access->file->hints.cb_read;
}

/* Collective buffers are passed in the order of the file, which is not for views that go back. */
bool mur_access_is_alone(const struct mur_access *access)
{
    if (!access->memory.bytes)
        return false;
    if (!mur_access_is_ordered(access) || access->file->is_atomic || choice_of(access) == MUR_DISABLE)
        return true;
    return choice_of(access) == MUR_AUTOMATIC && mean_run(access) >= DIRECT_RUN;
}

struct mur_span mur_access_span(struct mur_access *access)
{
    struct mur_span span = {0};

    if (access->error) {
        span.error = mur_error_class(access->error);
    } else if (mur_access_is_alone(access)) {
        span.alone = 1;
        access->plan.is_alone = access->plan.is_at_end = true;
        access->shared.ahead = access->memory.bytes;
    } else if (access->memory.bytes) {
        span.bytes = (MPI_Offset)access->memory.bytes;
        span.first = mur_view_byte(access->file, access->start);
        span.end = mur_view_byte(access->file, access->start + span.bytes - 1) + 1;
        span.is_one_run = span.end - span.first == span.bytes;
    }
    return span;
}

/* Adds all spans up; returns whether stretches of different ranks may interleave. */
static bool add_up(struct mur_span *all, const struct mur_span *spans, int ranks, int *failed)
{
    bool interleaves = false;

    *all = (struct mur_span){.is_one_run = 1};
    *failed = -1;
    for (int i = 0; i < ranks; i++) {
        const struct mur_span *span = &spans[i];

        if (span->error && *failed < 0) {
            *failed = i;
            all->error = span->error;
        }
        all->alone += span->alone;
        if (!span->bytes)
            continue;
        interleaves |= all->bytes && span->first < all->end;
        all->first = all->bytes && all->first < span->first ? all->first : span->first;
        all->end = all->end > span->end ? all->end : span->end;
        all->bytes += span->bytes;
        all->is_one_run &= span->is_one_run;
    }
    return interleaves;
}

static bool is_direct(const struct mur_access *access, bool interleaves)
{
    const struct mur_span *all = &access->plan.all;

    if ((all->end - all->first) / DIRECT_SPARSE > all->bytes)
        return true;
    return choice_of(access) != MUR_ENABLE && (all->is_one_run || !interleaves);
}

enum mur_plan mur_access_plan(struct mur_access *access, const struct mur_span *spans, int ranks)
{
    int failed;
    bool interleaves = add_up(&access->plan.all, spans, ranks, &failed);

    if (failed >= 0) {
        if (!access->error)
            access->error = mur_error(access->plan.all.error, "cannot %s file '%s': rank %d of its communicator failed",
                                      access->is_write ? "write" : "read", access->file->name, failed);
        return MUR_PLAN_NOTHING;
    }
    if (!access->plan.all.bytes)
        return MUR_PLAN_NOTHING;
    return is_direct(access, interleaves) ? MUR_PLAN_DIRECT : MUR_PLAN_CBS;
}
