/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing through a view: the stream is taken a piece at a time; each piece's segments of the file are
 * read or written, straight from the user's buffer where that is one run of bytes, else through a staging buffer. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "io/file.h"

enum { PIECE = 4 << 20, SEGMENTS = 64 };

/* All bytes, or up to the end of the file when reading. Returns how many; -1 with errno set. */
static ssize_t transfer_segment(int fd, char *memory, struct mur_segment segment, bool is_write)
{
    size_t done = 0;

    while (done < segment.bytes) {
        off_t offset = (off_t)segment.offset + (off_t)done;
        ssize_t moved = is_write ? pwrite(fd, memory + done, segment.bytes - done, offset)
                                 : pread(fd, memory + done, segment.bytes - done, offset);

        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return -1;
        if (moved == 0)
            break;
        done += (size_t)moved;
    }
    return (ssize_t)done;
}

/* One piece of the stream between `memory` and the file. *moved may be less than the piece at the end of the file. */
static int transfer_piece(const struct mur_file *file, struct mur_cursor *walk, char *memory, size_t bytes,
                          bool is_write, size_t *moved)
{
    struct mur_segment segments[SEGMENTS];

    *moved = 0;
    while (*moved < bytes) {
        int count = mur_view_segments(walk, segments, SEGMENTS, bytes - *moved);

        for (int i = 0; i < count; i++) {
            ssize_t done = transfer_segment(file->fd, memory + *moved, segments[i], is_write);

            if (done < 0)
                return mur_file_error(errno, is_write ? "write" : "read", file->name);
            *moved += (size_t)done;
            if ((size_t)done < segments[i].bytes)
                return MPI_SUCCESS;
        }
        if (!count)
            break;
    }
    return MPI_SUCCESS;
}

static int transfer(struct mur_file *file, MPI_Offset offset, char *buffer, MPI_Count count, struct mur_type *type,
                    bool is_write, size_t *moved)
{
    struct mur_cursor memory, walk;
    char *staging = NULL;
    int rc = MPI_SUCCESS;

    *moved = 0;
    mur_cursor_start(&memory, buffer, count, type);
    if (!memory.bytes || !file->filetype->size)
        return MPI_SUCCESS;
    mur_view_start(file, offset * file->etype->size, &walk);
    if (!type->is_dense) {
        staging = malloc(memory.bytes < PIECE ? memory.bytes : PIECE);
        if (!staging)
            return mur_error(MPI_ERR_NO_MEM, "no memory to gather data for file '%s'", file->name);
    }
    while (!rc && *moved < memory.bytes) {
        size_t piece = memory.bytes - *moved < PIECE ? memory.bytes - *moved : PIECE, done;

        if (staging && is_write)
            mur_cursor_pack(&memory, staging, piece);
        rc = transfer_piece(file, &walk, staging ? staging : buffer + *moved, piece, is_write, &done);
        if (staging && !is_write)
            mur_cursor_unpack(&memory, staging, done);
        *moved += done;
        if (done < piece)
            break;
    }
    free(staging);
    return rc;
}

int mur_file_read(struct mur_file *file, MPI_Offset offset, void *buffer, MPI_Count count, struct mur_type *type,
                  size_t *moved)
{
    return transfer(file, offset, buffer, count, type, false, moved);
}

int mur_file_write(struct mur_file *file, MPI_Offset offset, const void *buffer, MPI_Count count, struct mur_type *type,
                   size_t *moved)
{
    return transfer(file, offset, (char *)buffer, count, type, true, moved);
}
