/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: from positions in the stream of data to places in the file. A datatype cursor over the filetype does the
 * walking, with file offsets in the place of addresses. */
#include "io/file.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { VECTORS = 64 };

void mur_view_start(const struct mur_file *file, MPI_Offset position, struct mur_cursor *walk)
{
    MPI_Count stride = file->filetype->extent > file->filetype->size ? file->filetype->extent : file->filetype->size;
    MPI_Count tiles = ((MPI_Count)1 << 62) / (stride > 0 ? stride : 1);

    mur_cursor_start(walk, (const void *)(uintptr_t)file->displacement, tiles, file->filetype);
    mur_cursor_seek(walk, (size_t)position);
}

int mur_view_segments(struct mur_cursor *walk, struct mur_segment *segments, int max, size_t bytes)
{
    struct iovec vectors[VECTORS];
    int count = mur_cursor_vectors(walk, vectors, max < VECTORS ? max : VECTORS, bytes);

    for (int i = 0; i < count; i++)
        segments[i] = (struct mur_segment){(MPI_Offset)(uintptr_t)vectors[i].iov_base, vectors[i].iov_len};
    return count;
}

/* Displacements of a filetype are not negative and never decrease; where the file may be written, no byte is
 * covered twice (§14.1.1). */
static int check_filetype(const struct mur_type *type, bool is_writable)
{
    struct mur_cursor walk;
    struct iovec vectors[VECTORS];
    MPI_Offset end = 0, last = 0;
    int count;

    mur_cursor_start(&walk, NULL, 1, type);
    while ((count = mur_cursor_vectors(&walk, vectors, VECTORS, SIZE_MAX)) > 0)
        for (int i = 0; i < count; i++) {
            MPI_Offset offset = (MPI_Offset)(intptr_t)vectors[i].iov_base;

            if (offset < last)
                return mur_error(MPI_ERR_TYPE,
                                 "filetype has displacement %lld after %lld, but they must be 0 or more and "
                                 "must not decrease",
                                 (long long)offset, (long long)last);
            if (is_writable && offset < end)
                return mur_error(MPI_ERR_TYPE,
                                 "filetype covers byte %lld twice, which is not allowed for a file that "
                                 "may be written",
                                 (long long)offset);
            last = offset;
            end = offset + (MPI_Offset)vectors[i].iov_len;
        }
    if (is_writable && type->extent < end - type->lb && type->size)
        return mur_error(MPI_ERR_TYPE,
                         "filetype's extent is %lld bytes, less than its data reach: its tiles would "
                         "overlap, which is not allowed for a file that may be written",
                         (long long)type->extent);
    return MPI_SUCCESS;
}

int mur_view_set(struct mur_file *file, MPI_Offset displacement, struct mur_type *etype, struct mur_type *filetype,
                 const char *datarep)
{
    int rc;

    if (displacement < 0)
        return mur_error(MPI_ERR_ARG, "disp is %lld, but must be 0 or more", (long long)displacement);
    if (strcmp(datarep, "native") != 0 && strcmp(datarep, "internal") != 0)
        return mur_error(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is '%s', but 'native' and 'internal' are what there is",
                         datarep);
    if (etype->size <= 0 || filetype->size % etype->size)
        return mur_error(MPI_ERR_ARG, "filetype has %lld bytes of data, but must consist of whole etypes of %lld bytes",
                         (long long)filetype->size, (long long)etype->size);
    rc = filetype->is_dense ? MPI_SUCCESS : check_filetype(filetype, !(file->amode & MPI_MODE_RDONLY));
    if (rc)
        return rc;
    mur_type_retain(etype);
    mur_type_retain(filetype);
    if (file->etype)
        mur_type_release(file->etype);
    if (file->filetype)
        mur_type_release(file->filetype);
    file->displacement = displacement;
    file->etype = etype;
    file->filetype = filetype;
    file->pointer = 0;
    snprintf(file->datarep, sizeof file->datarep, "%s", datarep);
    return MPI_SUCCESS;
}

MPI_Offset mur_view_position(const struct mur_file *file, MPI_Offset byte)
{
    const struct mur_type *type = file->filetype;
    MPI_Offset rest = byte - file->displacement, position;
    struct mur_cursor walk;
    struct iovec vectors[VECTORS];
    int count;

    if (rest <= 0 || !type->size || type->extent <= 0)
        return 0;
    position = rest / type->extent * type->size;
    rest %= type->extent;
    mur_cursor_start(&walk, NULL, 1, type);
    while ((count = mur_cursor_vectors(&walk, vectors, VECTORS, SIZE_MAX)) > 0)
        for (int i = 0; i < count; i++) {
            MPI_Offset offset = (MPI_Offset)(intptr_t)vectors[i].iov_base;
            MPI_Offset length = (MPI_Offset)vectors[i].iov_len;

            if (offset < rest)
                position += rest - offset < length ? rest - offset : length;
        }
    return position;
}
