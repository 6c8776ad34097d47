/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing through collective buffers.
 *
 * Holes. Where the views of all ranks tile the file, and there are as many bytes as the range has, collective buffers
 * are full. Else each rank also sets a bit for each byte that it brings, and only such bytes are written: stretch by
 * stretch, or, if they are small and near each other, together with what lies between, which is read before (behind the
 * gate). */
#include <errno.h>

#include "base/clock.h"
#include "base/copy.h"
#include "io/bitmap.h"
#include "io/lock.h"
#include "io/cb.h"

enum {
    PROBED = 8 << 10, /* bytes whose writing into a collective buffer is timed; */
    COSTLY_RINGS = 8  /* for how long it is taken to be costly after that was seen: it depends on who wrote last */
};

static mur_bitmap_word *cover_of(const struct mur_access *access, uint64_t number)
{
    return (mur_bitmap_word *)(void *)mur_cb_bitmap(access->file->shared, number);
}

static void write_cb(struct mur_access *access, uint64_t number)
{
    uint64_t index = number - access->file->shared->cbs_in;
    MPI_Offset start = mur_cb_start(access, index), end = mur_cb_end(access, index);
    struct mur_view_segment segment = mur_cb_segment(access, index);
    char *buffer = mur_cb_buffer(access->file->shared, number);
    int failed = 0;

    if (!access->shared.is_exact)
        failed = mur_bitmap_write(access->file, buffer, start, (size_t)(end - start), cover_of(access, number));
    else if (!mur_access_has_failed(access) &&
             mur_file_transfer(access->file, buffer + (segment.offset - start), segment, true) < 0)
        failed = errno;
    if (failed)
        mur_access_tell_failure(access, failed);
}

/* The first full collective buffer in the order of the file, as a number; false: there is none. All belong to this
 * access: none ends before its collective buffers are written. */
static bool find_full(const struct mur_access *access, uint64_t *number)
{
    bool is_found = false;

    for (int i = 0; i < MUR_CBS; i++) {
        uint64_t turn = atomic_load(&mur_cb_ring(access)->state[i].turn);

        if (turn % 4 == MUR_CB_FULL && (!is_found || turn / 4 < *number)) {
            *number = turn / 4;
            is_found = true;
        }
    }
    return is_found;
}

/* Writes one full collective buffer; false: there is none, or somebody writes. A file system lets one process write to
 * a file at a time, so who finds somebody writing leaves the others to them. That none is forgotten: who writes says
 * that they are done before they rouse the others, who then look again. */
bool mur_cbs_write_next(struct mur_access *access)
{
    struct mur_shared_state_memory *memory = access->file->shared->memory;
    uint64_t number;

    if (!find_full(access, &number) || atomic_exchange(&memory->is_writing, 1))
        return false;
    if (!find_full(access, &number)) {
        atomic_store(&memory->is_writing, 0);
        return false;
    }
    write_cb(access, number);
    atomic_store_explicit(&mur_cb_state(access, number)->arrived, 0, memory_order_relaxed);
    atomic_store(&mur_cb_state(access, number)->turn, (number + MUR_CBS) * 4 + MUR_CB_FREE);
    atomic_store(&memory->is_writing, 0);
    atomic_fetch_add_explicit(&memory->done, 1, memory_order_release); /* pairs with the acquire in is_done */
    mur_shared_state_rouse(access->file->shared);
    return true;
}

static void put_some(struct mur_access *access, uint64_t number, MPI_Offset start, size_t bytes, bool is_past)
{
    mur_view_put(access->file, access->start + (MPI_Offset)access->moved, bytes, &access->memory,
                 mur_cb_buffer(access->file->shared, number), start, is_past);
    access->moved += bytes;
}

/* Who wrote the buffer to the file last time read its lines, maybe on another processor: where it takes long to have
 * them back, data go past the caches. So once a ring some are written as ever, and timed. */
static void put_data(struct mur_access *access, uint64_t number, MPI_Offset start, size_t bytes)
{
    struct mur_shared_state *shared = access->file->shared;

    if (number % MUR_CBS == 0 && bytes >= PROBED) {
        uint64_t begin = mur_clock_ns();

        put_some(access, number, start, PROBED, false);
        if (mur_copy_was_costly(PROBED, mur_clock_ns() - begin))
            shared->costly = COSTLY_RINGS;
        else if (shared->costly)
            shared->costly--;
        bytes -= PROBED;
    }
    put_some(access, number, start, bytes, shared->costly > 0);
}

/* This rank's part of the collective buffer that it has come to. */
static void fill_cb(struct mur_access *access)
{
    struct mur_shared_state *shared = access->file->shared;
    uint64_t number = mur_cb_number(access, access->shared.cb);
    MPI_Offset start = mur_cb_start(access, access->shared.cb);
    size_t bytes = mur_cb_bytes(access, access->moved, mur_cb_end(access, access->shared.cb));

    if (bytes && !access->shared.is_exact)
        mur_bitmap_data(access, access->moved, bytes, start, 1, cover_of(access, number));
    if (bytes)
        put_data(access, number, start, bytes);
    access->shared.cb++;
    /* The last rank to arrive acquires the data of all others, which release here. */
    if (atomic_fetch_add_explicit(&mur_cb_state(access, number)->arrived, 1, memory_order_acq_rel) + 1 ==
        (uint32_t)shared->size)
        mur_cb_enter(access, number, MUR_CB_FULL);
}

/* A rank that has to wait writes what is full. So of ranks that share processors those write that are ahead, while the
 * others catch up. True when this rank has passed all collective buffers. */
bool mur_cbs_write(struct mur_access *access)
{
    mur_cbs_write_next(access);
    while (access->shared.cb < access->shared.cbs) {
        if (mur_cb_is_in(access, access->shared.cb, MUR_CB_FREE))
            fill_cb(access);
        else if (!mur_cbs_write_next(access))
            return false;
    }
    return true;
}
