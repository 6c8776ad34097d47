/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/bitmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/driver.h"
#include "io/lock.h"

enum {
    FEW_STRETCHES = 4,     /* are written one by one, */
    NEAR_STRIDE = 2 << 10, /* and so are those that are farther apart */
    GAP = 1,               /* marks between two marked pieces that are read along */
    NOT_NOW = -1           /* holes cannot be filled while somebody writes in the background */
};

/* Ranks set bits of one word at the same time, but words within a stretch have one writer, or the same value. */
void mur_bitmap_set(mur_bitmap_word *words, size_t from, size_t to)
{
    size_t first = from / 64, last = (to - 1) / 64;
    uint64_t head = ~UINT64_C(0) << from % 64, tail = ~UINT64_C(0) >> (63 - (to - 1) % 64);

    if (first == last) {
        atomic_fetch_or_explicit(&words[first], head & tail, memory_order_relaxed);
        return;
    }
    atomic_fetch_or_explicit(&words[first], head, memory_order_relaxed);
    for (size_t i = first + 1; i < last; i++)
        atomic_store_explicit(&words[i], ~UINT64_C(0), memory_order_relaxed);
    atomic_fetch_or_explicit(&words[last], tail, memory_order_relaxed);
}

/* The next bit from `from` on that is set, or not set; `end` where there is none. */
static size_t find_bit(const mur_bitmap_word *words, size_t from, size_t end, bool is_set)
{
    while (from < end) {
        uint64_t word = atomic_load_explicit(&words[from / 64], memory_order_relaxed);

        word = (is_set ? word : ~word) >> from % 64;
        if (word) {
            from += (size_t)__builtin_ctzll(word);
            break;
        }
        from = from / 64 * 64 + 64;
    }
    return from < end ? from : end;
}

bool mur_bitmap_next(const mur_bitmap_word *words, size_t end, size_t *from, size_t *to)
{
    *from = find_bit(words, *to, end, true);
    *to = find_bit(words, *from, end, false);
    return *from < end;
}

void mur_bitmap_data(const struct mur_access *access, size_t done, size_t bytes, MPI_Offset start, size_t grain,
                     mur_bitmap_word *words)
{
    enum { SEGMENTS = 64 };
    struct mur_view_segment segments[SEGMENTS];
    struct mur_cursor walk;
    int count;

    mur_view_start(access->file, access->start + (MPI_Offset)done, &walk);
    while (bytes > 0 && (count = mur_view_segments(&walk, segments, SEGMENTS, bytes)) > 0)
        for (int i = 0; i < count; i++) {
            size_t from = (size_t)(segments[i].offset - start), to = from + segments[i].bytes;

            mur_bitmap_set(words, from / grain, (to - 1) / grain + 1);
            bytes -= segments[i].bytes;
        }
}

struct survey {
    size_t stretches, first, end;
};

static struct survey look(const mur_bitmap_word *words, size_t bytes)
{
    struct survey found = {0};
    size_t from, to = 0;

    while (mur_bitmap_next(words, bytes, &from, &to)) {
        found.first = found.stretches++ ? found.first : from;
        found.end = to;
    }
    return found;
}

static bool may_fill_holes(const struct mur_file *file, const struct survey *found)
{
    return mur_file_may_sieve_writes(file) && found->stretches > FEW_STRETCHES &&
           (found->end - found->first) / found->stretches <= NEAR_STRIDE;
}

/* Reads what lies between the stretches, and writes all of it; nobody else may write there meanwhile. Returns errno. */
static int write_filled(struct mur_file *file, char *buffer, MPI_Offset start, const mur_bitmap_word *words,
                        const struct survey *found)
{
    size_t span = found->end - found->first, from, to = found->first, hole = found->first;
    off_t offset = (off_t)start + (off_t)found->first;
    char *old = calloc(1, span);
    bool is_locked;
    ssize_t done;
    int number;

    if (!old)
        return ENOMEM;
    if (!mur_shared_state_gate_enter(file->shared, offset, offset + (off_t)span, true)) {
        free(old);
        return NOT_NOW;
    }
    done = mur_io_lock_sieve(file, offset, span, &is_locked);
    if (done >= 0)
        done = file->driver->read(file->fd, old, span, offset);
    while (done >= 0 && mur_bitmap_next(words, found->end, &from, &to)) {
        memcpy(buffer + hole, old + (hole - found->first), from - hole);
        hole = to;
    }
    if (done >= 0)
        done = file->driver->write(file->fd, buffer + found->first, span, offset);
    number = done < 0 ? errno : 0;
    if (is_locked)
        mur_file_unlock(file, offset, (MPI_Offset)span);
    mur_shared_state_gate_leave(file->shared);
    free(old);
    return number;
}

static int write_stretches(struct mur_file *file, const char *buffer, MPI_Offset start, const mur_bitmap_word *words,
                           const struct survey *found)
{
    MPI_Offset first = start + (MPI_Offset)found->first, end = start + (MPI_Offset)found->end;
    size_t from, to = found->first;
    int number = 0;
    bool is_locked;

    if (!found->stretches)
        return 0;
    if (mur_io_lock_writes_begin(file, first, end, &is_locked))
        return errno;
    while (!number && mur_bitmap_next(words, found->end, &from, &to)) {
        struct mur_view_segment segment = {start + (MPI_Offset)from, to - from};

        number = mur_io_lock_writes_one(file, buffer + from, segment, is_locked) < 0 ? errno : 0;
    }
    mur_io_lock_writes_end(file, first, end, is_locked);
    return number;
}

int mur_bitmap_write(struct mur_file *file, char *buffer, MPI_Offset start, size_t bytes, mur_bitmap_word *words)
{
    struct survey found = look(words, bytes);
    int number;

    number = may_fill_holes(file, &found) ? write_filled(file, buffer, start, words, &found) : NOT_NOW;
    if (number == NOT_NOW)
        number = write_stretches(file, buffer, start, words, &found);
    memset((void *)words, 0, (bytes + 63) / 64 * 8);
    return number;
}

int mur_bitmap_read(struct mur_file *file, char *buffer, MPI_Offset start, MPI_Offset end, const mur_bitmap_word *words,
                    MPI_Offset *valid)
{
    size_t marks = (size_t)((end - start + MUR_MARKED - 1) / MUR_MARKED), from, to = 0, next, next_to;

    *valid = end;
    while (mur_bitmap_next(words, marks, &from, &to)) {
        struct mur_view_segment segment = {.offset = start + (MPI_Offset)(from * MUR_MARKED)};
        MPI_Offset last;
        ssize_t got;

        for (next_to = to; mur_bitmap_next(words, marks, &next, &next_to) && next - to <= GAP;)
            to = next_to;
        last = start + (MPI_Offset)(to * MUR_MARKED);
        segment.bytes = (size_t)((last < end ? last : end) - segment.offset);
        got = mur_file_transfer(file, buffer + (segment.offset - start), segment, false);
        if (got == (ssize_t)segment.bytes)
            continue;
        *valid = segment.offset + (got < 0 ? 0 : got);
        return got < 0 ? errno : 0;
    }
    return 0;
}
