/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing what is covered of a collective buffer touches no byte of the file outside of what lies between the first and
 * the last covered one, where others may be writing; reading what is marked goes on up to the file's end, and says
 * where that is. Beside a file in memory. */
#include "io/bitmap.h"

#include <errno.h>

#include "io/driver.h"
#include "unit.h"

enum { BYTES = 8192, MARKS = 12, START = 1000, FILE_BYTES = START + (MARKS + 2) * MUR_MARKED, CASES = 300 };

static char content[FILE_BYTES], cb[MARKS * MUR_MARKED];
static off_t from, to; /* what may be touched, and */
static off_t end;      /* the file's end */

static ssize_t pread_here(int fd, void *memory, size_t bytes, off_t offset)
{
    size_t got = offset < end ? (size_t)(end - offset) : 0;

    (void)fd;
    CHECK(offset >= from && offset + (off_t)bytes <= to);
    got = got < bytes ? got : bytes;
    memcpy(memory, content + offset, got);
    return (ssize_t)got;
}

static ssize_t pwrite_here(int fd, const void *memory, size_t bytes, off_t offset)
{
    (void)fd;
    CHECK(offset >= from && offset + (off_t)bytes <= to);
    memcpy(content + offset, memory, bytes);
    return (ssize_t)bytes;
}

static int lock_here(int fd, bool is_exclusive, off_t offset, off_t length)
{
    (void)fd;
    CHECK(is_exclusive && offset >= from && offset + length <= to);
    return 0;
}

static int unlock_here(int fd, off_t offset, off_t length)
{
    (void)fd;
    CHECK(offset >= from && offset + length <= to);
    return 0;
}

static const struct mur_driver driver = {
    .name = "memory", .read = pread_here, .write = pwrite_here, .lock = lock_here, .unlock = unlock_here};

/* Stretches of any number and distance: near ones are written together, far ones alone. */
static void write_some(struct mur_file *file)
{
    static mur_bitmap_word words[BYTES / 64];
    static char before[FILE_BYTES], wanted[FILE_BYTES];
    int at = (int)below(BYTES / 2), far = below(2) ? 20 : 600;

    for (int i = 0; i < FILE_BYTES; i++)
        before[i] = content[i] = (char)below(256);
    memcpy(wanted, before, sizeof wanted);
    from = START + at;
    do {
        int bytes = 1 + (int)below(30);

        mur_bitmap_set(words, (size_t)at, (size_t)(at + bytes));
        for (int i = at; i < at + bytes; i++)
            wanted[START + i] = cb[i] = (char)below(256);
        at += bytes;
        to = START + at;
        at += 1 + (int)below((size_t)far);
    } while (at < BYTES - 30 && below(20));
    CHECK(mur_bitmap_write(file, cb, START, BYTES, words) == 0);
    CHECK(memcmp(content, wanted, sizeof content) == 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK(atomic_load(&words[i]) == 0);
}

/* Of a file that ends before, within or behind what is marked: each marked byte is read, or lies past the end. */
static void read_some(struct mur_file *file)
{
    mur_bitmap_word words[1] = {0};
    MPI_Offset valid = -1, last = START + MARKS * MUR_MARKED - (MPI_Offset)below(MUR_MARKED);

    for (int i = 0; i < FILE_BYTES; i++)
        content[i] = (char)below(256);
    memset(cb, 0, sizeof cb);
    for (size_t i = below(MARKS); i < MARKS; i += 2 + below(MARKS))
        mur_bitmap_set(words, i, i + 1);
    from = 0;
    to = (off_t)last;
    end = (off_t)below(FILE_BYTES);
    errno = EIO; /* somebody else's */
    CHECK(mur_bitmap_read(file, cb, START, last, words, &valid) == 0);
    CHECK(valid >= START && valid <= last);
    for (MPI_Offset at = START; at < last; at++) {
        if (!(atomic_load(&words[0]) >> (at - START) / MUR_MARKED & 1))
            continue;
        CHECK((at < valid) == (at < end));
        CHECK(at >= end || cb[at - START] == content[at]);
    }
}

int main(void)
{
    struct mur_file file = {.amode = MPI_MODE_RDWR, .driver = &driver, .hints = {.ds_write = MUR_ENABLE}};

    unit_start();
    for (int i = 0; i < CASES; i++) {
        end = FILE_BYTES;
        write_some(&file);
        read_some(&file);
    }
    return unit_end();
}
