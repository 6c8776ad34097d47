/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-phase collective access (after del Rosario, Bordawekar and Choudhary, "Improved parallel I/O via a two-phase
 * run-time access strategy", 1993) for ranks that share memory.
 *
 * The part of the file that the ranks want, from the first byte to the last, passes through a ring of panes in their
 * area. Writing, each rank copies what it has for a pane straight to where it belongs there; full panes are written to
 * the file one at a time, by whoever would otherwise have to wait. Reading, whoever comes first reads a pane, and each
 * takes what it wants. So the file is accessed in large pieces by whichever rank has time, while the others are some
 * panes ahead, and data moves once between user and pane, and once between pane and file.
 *
 * A pane's life (`turn` is its number times 4, plus the state):
 *   write   FREE -- all ranks have arrived --> FULL -- who waits writes it --> FREE for the pane a ring further
 *   read    FREE -- claimed by one rank --> READING -- it has read --> READY -- all have arrived --> FREE, as above
 *   sparse  FREE -- all ranks have marked what they want; the last reads that --> READY, as above
 *
 * Holes. Where the views of all ranks tile the file, and there are as many bytes as the range has, panes are full.
 * Else each rank also sets a bit for each byte that it brings, and only such bytes are written: stretch by stretch, or,
 * if they are small and near each other, together with what lies between, which is read before (behind the gate). */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/error.h"
#include "io/cover.h"
#include "object/comm.h"

enum { ENTER, ALONE, GATHER, PREPARE, DIRECT, WRITE, READ, FINISH };
enum { FREE, READING, READY, FULL };
enum {
    SPARSE = 2,       /* all of a pane is read where one half of the range or more is wanted */
    PROBED = 8 << 10, /* bytes whose writing into a pane is timed; */
    COSTLY_RINGS = 8, /* for how long it is taken to be costly after that was seen: it depends on who wrote last */
    TRIAL = 16        /* reads of panes, of which one is done in the other way */
};

static struct mur_panes *panes_of(const struct mur_access *access)
{
    return access->file->area->panes;
}

static struct mur_pane *state_of(const struct mur_access *access, uint64_t pane)
{
    return &panes_of(access)->state[pane % MUR_PANES];
}

/* Panes are numbered through all accesses. */
static uint64_t number_of(const struct mur_access *access, uint64_t pane)
{
    return access->file->area->panes_in + pane;
}

/* pairs with the releases that write `turn` */
static bool is_in(const struct mur_access *access, uint64_t pane, int state)
{
    uint64_t number = number_of(access, pane);

    return atomic_load_explicit(&state_of(access, number)->turn, memory_order_acquire) == number * 4 + (uint64_t)state;
}

static void enter_state(const struct mur_access *access, uint64_t number, int state)
{
    struct mur_pane *pane = state_of(access, number);

    atomic_store_explicit(&pane->turn, number * 4 + (uint64_t)state, memory_order_release);
    mur_area_rouse(access->file->area);
}

/* The part of the file that a pane is for. */
static MPI_Offset pane_start(const struct mur_access *access, uint64_t pane)
{
    return access->origin + (MPI_Offset)(pane * panes_of(access)->bytes);
}

static MPI_Offset pane_end(const struct mur_access *access, uint64_t pane)
{
    MPI_Offset end = pane_start(access, pane + 1);

    return end < access->all.end ? end : access->all.end;
}

/* Of this rank's data, the bytes that lie before a byte of the file, from `done` of them on. */
static size_t bytes_before(const struct mur_access *access, size_t done, MPI_Offset end)
{
    MPI_Offset position;

    if (access->is_alone || done == access->memory.bytes)
        return 0;
    position = mur_view_position(access->file, end) - access->start;
    if (position <= (MPI_Offset)done)
        return 0;
    return ((size_t)position < access->memory.bytes ? (size_t)position : access->memory.bytes) - done;
}

static void tell_failure(const struct mur_access *access, int number)
{
    struct mur_area *area = access->file->area;
    uint64_t none = 0, verdict = (uint64_t)number << 32 | (uint32_t)(area->rank + 1);

    atomic_compare_exchange_strong(&area->memory->verdict[access->number % 2], &none, verdict);
}

static bool has_failed(const struct mur_access *access)
{
    return atomic_load_explicit(&access->file->area->memory->verdict[access->number % 2], memory_order_relaxed) != 0;
}

/* ---- what all want ---- */

static void post_wish(struct mur_access *access)
{
    struct mur_area *area = access->file->area;
    struct mur_wish wish = mur_access_wish(access);

    access->number = access->ticket + 1;
    if (area->rank == 0)
        atomic_store_explicit(&area->memory->verdict[access->number % 2], 0, memory_order_relaxed);
    mur_area_post(area, access->number, &wish);
}

/* A part that a rank has accessed directly. */
static void tell_done(const struct mur_access *access)
{
    struct mur_area *area = access->file->area;

    if (access->failed)
        tell_failure(access, access->failed);
    atomic_fetch_add_explicit(&area->memory->done, 1, memory_order_release); /* pairs with is_done */
    mur_area_rouse(area);
}

static int decide(struct mur_access *access)
{
    static const int stages[] = {[MUR_PLAN_NOTHING] = FINISH, [MUR_PLAN_DIRECT] = DIRECT, [MUR_PLAN_PANES] = PREPARE};
    struct mur_area *area = access->file->area;
    struct mur_wish wishes[area->size];
    int stage;

    for (int i = 0; i < area->size; i++)
        wishes[i] = area->memory->entries[i].wishes[access->number % 2];
    stage = stages[mur_access_plan(access, wishes, area->size)];
    if (access->is_write) {
        area->done += (uint64_t)access->all.alone;
        if (access->is_alone)
            tell_done(access);
    }
    return stage;
}

static size_t wanted_pane(const struct mur_hints *hints)
{
    long bytes = hints->cb_buffer_size / MUR_PANES;

    return (size_t)mur_stripes_pane(&hints->stripes, bytes < MUR_PANE_MAX ? bytes : MUR_PANE_MAX);
}

/* The panes are there. Their boundaries are those of the file system's blocks, or of its stripes if they fit. */
static int lay_out(struct mur_access *access)
{
    struct mur_file *file = access->file;
    MPI_Offset bytes, span;

    if (!file->area->panes)
        return DIRECT; /* no memory for them */
    bytes = panes_of(access)->bytes;
    access->origin = access->all.first - access->all.first % mur_stripes_alignment(&file->hints.stripes, bytes);
    span = access->all.end - access->all.first;
    access->panes = (uint64_t)((access->all.end - access->origin + bytes - 1) / bytes);
    access->is_exact = file->is_tiled && access->all.bytes == span;
    access->is_sparse = !access->is_write && access->all.bytes * SPARSE < span;
    return access->is_write ? WRITE : READ;
}

/* ---- writing ---- */

static mur_cover_word *cover_of(const struct mur_access *access, uint64_t number)
{
    return (mur_cover_word *)(void *)mur_pane_cover(access->file->area, number);
}

static void write_pane(struct mur_access *access, uint64_t number)
{
    uint64_t index = number - access->file->area->panes_in;
    MPI_Offset start = pane_start(access, index), end = pane_end(access, index);
    MPI_Offset first = start > access->all.first ? start : access->all.first;
    char *buffer = mur_pane_buffer(access->file->area, number);
    int failed = 0;

    if (!access->is_exact)
        failed = mur_cover_write(access->file, buffer, start, (size_t)(end - start), cover_of(access, number));
    else if (!has_failed(access) && mur_file_transfer(access->file, buffer + (first - start),
                                                      (struct mur_segment){first, (size_t)(end - first)}, true) < 0)
        failed = errno;
    if (failed)
        tell_failure(access, failed);
}

/* The first full pane in the order of the file, as a number; false: there is none. All belong to this access: none
 * ends before its panes are written. */
static bool find_full(const struct mur_access *access, uint64_t *number)
{
    bool is_found = false;

    for (int i = 0; i < MUR_PANES; i++) {
        uint64_t turn = atomic_load(&panes_of(access)->state[i].turn);

        if (turn % 4 == FULL && (!is_found || turn / 4 < *number)) {
            *number = turn / 4;
            is_found = true;
        }
    }
    return is_found;
}

/* Writes one full pane; false: there is none, or somebody writes. A file system lets one process write to a file at a
 * time, so who finds somebody writing leaves the others to them. That none is forgotten: who writes says that they are
 * done before they rouse the others, who then look again. */
static bool write_next(struct mur_access *access)
{
    struct mur_area_memory *memory = access->file->area->memory;
    uint64_t number;

    if (!find_full(access, &number) || atomic_exchange(&memory->is_writing, 1))
        return false;
    if (!find_full(access, &number)) {
        atomic_store(&memory->is_writing, 0);
        return false;
    }
    write_pane(access, number);
    atomic_store_explicit(&state_of(access, number)->arrived, 0, memory_order_relaxed);
    atomic_store(&state_of(access, number)->turn, (number + MUR_PANES) * 4 + FREE);
    atomic_store(&memory->is_writing, 0);
    atomic_fetch_add_explicit(&memory->done, 1, memory_order_release); /* pairs with the acquire in is_done */
    mur_area_rouse(access->file->area);
    return true;
}

static void put_some(struct mur_access *access, uint64_t number, MPI_Offset start, size_t bytes, bool is_past)
{
    mur_view_put(access->file, access->start + (MPI_Offset)access->moved, bytes, &access->memory,
                 mur_pane_buffer(access->file->area, number), start, is_past);
    access->moved += bytes;
}

/* Who wrote the buffer to the file last time read its lines, maybe on another processor: where it takes long to have
 * them back, data go past the caches. So once a ring some are written as ever, and timed. */
static void put_data(struct mur_access *access, uint64_t number, MPI_Offset start, size_t bytes)
{
    struct mur_area *area = access->file->area;

    if (number % MUR_PANES == 0 && bytes >= PROBED) {
        uint64_t begin = mur_clock_ns();

        put_some(access, number, start, PROBED, false);
        if (mur_copy_was_costly(PROBED, mur_clock_ns() - begin))
            area->costly = COSTLY_RINGS;
        else if (area->costly)
            area->costly--;
        bytes -= PROBED;
    }
    put_some(access, number, start, bytes, area->costly > 0);
}

/* This rank's part of the pane that it has come to. */
static void fill_pane(struct mur_access *access)
{
    struct mur_area *area = access->file->area;
    uint64_t number = number_of(access, access->pane);
    MPI_Offset start = pane_start(access, access->pane);
    size_t bytes = bytes_before(access, access->moved, pane_end(access, access->pane));

    if (bytes && !access->is_exact)
        mur_cover_data(access, access->moved, bytes, start, 1, cover_of(access, number));
    put_data(access, number, start, bytes);
    access->pane++;
    if (atomic_fetch_add_explicit(&state_of(access, number)->arrived, 1, memory_order_acq_rel) + 1 ==
        (uint32_t)area->size)
        enter_state(access, number, FULL);
}

/* Who has to wait writes what is full. So of ranks that share processors those write that are ahead, while the others
 * catch up. True when this rank has passed all panes. */
static bool write_panes(struct mur_access *access)
{
    write_next(access);
    while (access->pane < access->panes) {
        if (is_in(access, access->pane, FREE))
            fill_pane(access);
        else if (!write_next(access))
            return false;
    }
    return true;
}

/* ---- reading ---- */

/* The lines of the buffer are in the caches of those who took data out of it last. Where it takes the system long to
 * have them back, they are better taken out of all caches before: which of the two is faster turns out by trying the
 * other one now and then. */
static ssize_t read_timed(struct mur_access *access, char *buffer, struct mur_segment segment)
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
    uint64_t number = number_of(access, index);
    struct mur_pane *pane = state_of(access, number);
    MPI_Offset start = pane_start(access, index), end = pane_end(access, index);
    MPI_Offset first = start > access->all.first ? start : access->all.first;
    ssize_t got = read_timed(access, mur_pane_buffer(access->file->area, number) + (first - start),
                             (struct mur_segment){first, (size_t)(end - first)});

    pane->number = got < 0 ? errno : 0;
    pane->rank = access->file->area->rank;
    pane->end = first + (got < 0 ? 0 : got);
    enter_state(access, number, READY);
}

static bool claim(struct mur_access *access, uint64_t index)
{
    uint64_t number = number_of(access, index), expected = number * 4 + FREE;

    if (index >= access->panes || !is_in(access, index, FREE) ||
        !atomic_compare_exchange_strong(&state_of(access, number)->turn, &expected, number * 4 + READING))
        return false;
    read_pane(access, index);
    return true;
}

/* The pane is READY when this returns true. While somebody else reads it, reads one of the next. */
static bool provide(struct mur_access *access)
{
    if (!claim(access, access->pane))
        for (uint64_t i = 1; i < MUR_PANES && !is_in(access, access->pane, READY); i++)
            claim(access, access->pane + i);
    return is_in(access, access->pane, READY);
}

static void read_marked(struct mur_access *access, uint64_t index)
{
    uint64_t number = number_of(access, index);
    struct mur_pane *pane = state_of(access, number);

    pane->number = mur_cover_read(access->file, mur_pane_buffer(access->file->area, number), pane_start(access, index),
                                  pane_end(access, index), pane->marks, &pane->end);
    pane->rank = access->file->area->rank;
    enter_state(access, number, READY);
}

/* Marks what this rank wants of as many panes as are free; the last rank to mark one reads it. */
static void mark_panes(struct mur_access *access)
{
    while (access->marked < access->panes && access->marked < access->pane + MUR_PANES &&
           is_in(access, access->marked, FREE)) {
        uint64_t index = access->marked++;
        struct mur_pane *pane = state_of(access, number_of(access, index));
        size_t bytes = bytes_before(access, access->ahead, pane_end(access, index));

        mur_cover_data(access, access->ahead, bytes, pane_start(access, index), MUR_MARKED, pane->marks);
        access->ahead += bytes;
        if (atomic_fetch_add_explicit(&pane->marked, 1, memory_order_acq_rel) + 1 == (uint32_t)access->file->area->size)
            read_marked(access, index);
    }
}

static void take_data(struct mur_access *access, size_t bytes)
{
    const struct mur_pane *pane = state_of(access, number_of(access, access->pane));
    MPI_Offset end = pane_end(access, access->pane);

    if (pane->number && !access->failed) {
        access->failed = pane->number;
        access->failed_rank = pane->rank;
    }
    if (pane->end < end) {
        bytes = bytes_before(access, access->moved, pane->end);
        access->is_at_end = true;
    }
    mur_view_get(access->file, access->start + (MPI_Offset)access->moved, bytes, &access->memory,
                 mur_pane_buffer(access->file->area, number_of(access, access->pane)),
                 pane_start(access, access->pane));
    access->moved += bytes;
}

/* The last rank to arrive frees the pane. */
static void leave_pane(struct mur_access *access)
{
    uint64_t number = number_of(access, access->pane);
    struct mur_pane *pane = state_of(access, number);

    if (atomic_fetch_add_explicit(&pane->arrived, 1, memory_order_acq_rel) + 1 != (uint32_t)access->file->area->size)
        return;
    if (access->is_sparse)
        memset((void *)pane->marks, 0, sizeof pane->marks);
    atomic_store_explicit(&pane->marked, 0, memory_order_relaxed);
    atomic_store_explicit(&pane->arrived, 0, memory_order_relaxed);
    enter_state(access, number + MUR_PANES, FREE);
}

static bool is_turn(const struct mur_access *access)
{
    uint64_t number = number_of(access, access->pane);

    return atomic_load_explicit(&state_of(access, number)->turn, memory_order_acquire) / 4 == number;
}

static bool read_panes(struct mur_access *access)
{
    for (; access->pane < access->panes; access->pane++) {
        size_t bytes;

        if (!is_turn(access)) /* the ring's last turn is not over */
            return false;
        if (access->is_sparse)
            mark_panes(access);
        bytes = access->is_at_end ? 0 : bytes_before(access, access->moved, pane_end(access, access->pane));
        if (bytes && !(access->is_sparse ? is_in(access, access->pane, READY) : provide(access)))
            return false;
        if (bytes)
            take_data(access, bytes);
        leave_pane(access);
    }
    return true;
}

/* ---- the whole ---- */

/* True when complete. A nonblocking one goes on later after each piece. */
static bool access_directly(struct mur_access *access)
{
    while (!mur_access_step(access))
        if (access->request)
            return false;
    return true;
}

static bool is_done(const struct mur_area *area)
{
    return atomic_load_explicit(&area->memory->done, memory_order_acquire) >= area->done;
}

/* Once all that belongs to a write is done, every rank learns of the first failure. */
static bool finish(struct mur_access *access)
{
    struct mur_area *area = access->file->area;
    uint64_t verdict = 0;

    while (!is_done(area))
        if (!access->panes || !write_next(access))
            return false;
    if (access->is_write && (access->all.bytes || access->all.alone) && !access->all.error)
        verdict = atomic_load_explicit(&area->memory->verdict[access->number % 2], memory_order_relaxed);
    if (verdict) {
        access->failed = (int)(verdict >> 32);
        access->failed_rank = (int)(verdict & UINT32_MAX) - 1;
    }
    if (access->failed && !access->error)
        access->error = mur_file_error_at(access->failed, access->is_write ? "write" : "read", access->file->name,
                                          access->failed_rank);
    area->panes_in += access->panes;
    area->current++;
    return true;
}

/* Everything up to the first thing that must be waited for. */
bool mur_two_phase_step(struct mur_access *access)
{
    struct mur_area *area = access->file->area;

    if (access->stage == ENTER) {
        if (area->current != access->ticket)
            return false;
        post_wish(access);
        access->stage = access->is_alone ? ALONE : GATHER;
    }
    if (access->stage == ALONE) {
        if (!access_directly(access))
            return false;
        access->stage = GATHER;
    }
    if (access->stage == GATHER) {
        if (!mur_area_all_posted(area, access->number, &access->next))
            return false;
        access->stage = decide(access);
    }
    if (access->stage == PREPARE) {
        if (!mur_area_has_panes(area, wanted_pane(&access->file->hints)))
            return false;
        access->stage = lay_out(access);
        if (access->is_write && access->stage == WRITE)
            area->done += access->panes;
    }
    if (access->stage == DIRECT) {
        if (!access->is_alone && !access_directly(access))
            return false;
        if (access->is_write) {
            area->done += (uint64_t)(area->size - access->all.alone);
            if (!access->is_alone)
                tell_done(access);
        }
        access->stage = FINISH;
    }
    if ((access->stage == WRITE && !write_panes(access)) || (access->stage == READ && !read_panes(access)))
        return false;
    access->stage = FINISH;
    return finish(access);
}
