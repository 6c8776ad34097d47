/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/rank_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmurmur/hash.h"
#include "libmurmur/data_region.h"

enum { FORMAT = 1, BUFFER_BYTES = 1 << 20 };

static const char magic[8] = "MURCKPT";

struct mur_rank_head {
    char magic[8];
    int32_t format, rank, ranks, regions, has_arrays, unused;
    int64_t version, bytes; /* of the whole file */
};

struct mur_rank_row {
    int32_t kind, ndims;
    int64_t bytes, element_bytes;
    int64_t sizes[MUR_REGION_DIMS_MAX], subsizes[MUR_REGION_DIMS_MAX], starts[MUR_REGION_DIMS_MAX];
};

/* A file as it is written or read. */
struct mur_rank_stream {
    FILE *file;
    const char *path;
    XXH3_state_t *hash;
};

static bool open_stream(struct mur_rank_stream *stream, const char *path, const char *mode, struct mur_flaw *flaw)
{
    *stream = (struct mur_rank_stream){.path = path, .hash = XXH3_createState(), .file = fopen(path, mode)};
    if (!stream->file)
        mur_flaw_set(flaw, "cannot open %s: %s", path, strerror(errno));
    if (!stream->hash)
        mur_flaw_set(flaw, "there is no memory to read or write %s", path);
    else
        XXH3_64bits_reset(stream->hash);
    return stream->file && stream->hash;
}

static void close_stream(struct mur_rank_stream *stream)
{
    if (stream->file)
        fclose(stream->file);
    XXH3_freeState(stream->hash);
}

static bool put(void *owner, void *data, size_t bytes, struct mur_flaw *flaw)
{
    struct mur_rank_stream *stream = owner;

    XXH3_64bits_update(stream->hash, data, bytes);
    return fwrite(data, 1, bytes, stream->file) == bytes ||
           mur_flaw_set(flaw, "cannot write %s: %s", stream->path, strerror(errno));
}

static bool get(void *owner, void *data, size_t bytes, struct mur_flaw *flaw)
{
    struct mur_rank_stream *stream = owner;

    if (fread(data, 1, bytes, stream->file) != bytes)
        return mur_flaw_set(flaw, "cannot read %s: %s", stream->path,
                            ferror(stream->file) ? strerror(errno) : "it is shorter than it was");
    XXH3_64bits_update(stream->hash, data, bytes);
    return true;
}

static void fill_row(struct mur_rank_row *row, const struct mur_data_region *region, bool has_data)
{
    memset(row, 0, sizeof *row);
    row->kind = region->kind;
    row->ndims = region->ndims;
    row->bytes = has_data ? mur_data_region_bytes(region) : 0;
    row->element_bytes = region->element_bytes;
    for (int i = 0; i < region->ndims; i++) {
        row->sizes[i] = region->sizes[i];
        row->subsizes[i] = has_data ? region->subsizes[i] : 0;
        row->starts[i] = has_data ? region->starts[i] : 0;
    }
}

static bool has_data(const struct mur_data_region *region, bool has_arrays)
{
    return has_arrays || region->kind != MUR_REGION_ARRAY;
}

static bool write_all(struct mur_rank_stream *stream, const struct mur_rank_file *file, struct mur_flaw *flaw)
{
    struct mur_rank_head head = {.format = FORMAT,
                                 .rank = file->rank,
                                 .ranks = file->ranks,
                                 .regions = mur_data_regions.count,
                                 .has_arrays = file->has_arrays,
                                 .version = file->version,
                                 .bytes = sizeof head + sizeof(uint64_t)};
    struct mur_rank_row row;
    uint64_t hash;

    memcpy(head.magic, magic, sizeof magic);
    for (int i = 0; i < mur_data_regions.count; i++) {
        fill_row(&row, &mur_data_regions.at[i], has_data(&mur_data_regions.at[i], file->has_arrays));
        head.bytes += (int64_t)sizeof row + row.bytes;
    }
    if (!put(stream, &head, sizeof head, flaw))
        return false;
    for (int i = 0; i < mur_data_regions.count; i++) {
        fill_row(&row, &mur_data_regions.at[i], has_data(&mur_data_regions.at[i], file->has_arrays));
        if (!put(stream, &row, sizeof row, flaw))
            return false;
    }
    for (int i = 0; i < mur_data_regions.count; i++)
        if (has_data(&mur_data_regions.at[i], file->has_arrays) &&
            !mur_data_region_read(&mur_data_regions.at[i], put, stream, flaw))
            return false;
    hash = XXH3_64bits_digest(stream->hash);
    return put(stream, &hash, sizeof hash, flaw);
}

bool mur_rank_file_write(const char *path, const struct mur_rank_file *file, struct mur_flaw *flaw)
{
    struct mur_rank_stream stream;
    bool is_written = open_stream(&stream, path, "we", flaw);

    if (is_written)
        setvbuf(stream.file, NULL, _IOFBF, BUFFER_BYTES);
    is_written = is_written && write_all(&stream, file, flaw);
    if (is_written && (fflush(stream.file) != 0 || fsync(fileno(stream.file)) != 0))
        is_written = mur_flaw_set(flaw, "cannot write %s: %s", path, strerror(errno));
    close_stream(&stream);
    return is_written;
}

static bool get_head(struct mur_rank_stream *stream, struct mur_rank_head *head, struct mur_flaw *flaw)
{
    if (!get(stream, head, sizeof *head, flaw))
        return false;
    if (memcmp(head->magic, magic, sizeof magic) != 0 || head->format != FORMAT || head->regions < 0 ||
        head->bytes < (int64_t)(sizeof *head + sizeof(uint64_t)))
        return mur_flaw_set(flaw, "%s is no file of a snapshot, or of another version of Murmur", stream->path);
    return true;
}

bool mur_rank_file_check(const char *path, struct mur_rank_file *file, struct mur_flaw *flaw)
{
    struct mur_rank_stream stream;
    struct mur_rank_head head;
    char *piece = malloc(BUFFER_BYTES);
    uint64_t hash, expected;
    bool is_whole =
        (piece || mur_flaw_set(flaw, "there is no memory to read %s", path)) && open_stream(&stream, path, "re", flaw);

    if (!is_whole) {
        free(piece);
        return false;
    }
    is_whole = get_head(&stream, &head, flaw);
    for (int64_t left = is_whole ? head.bytes - (int64_t)(sizeof head + sizeof hash) : 0; is_whole && left > 0;) {
        const size_t bytes = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;

        is_whole = get(&stream, piece, bytes, flaw);
        left -= (int64_t)bytes;
    }
    expected = XXH3_64bits_digest(stream.hash);
    is_whole = is_whole && get(&stream, &hash, sizeof hash, flaw);
    if (is_whole && (hash != expected || fgetc(stream.file) != EOF))
        is_whole = mur_flaw_set(flaw, "%s was altered: its checksum does not fit", path);
    if (is_whole)
        *file = (struct mur_rank_file){head.version, head.rank, head.ranks, head.has_arrays};
    close_stream(&stream);
    free(piece);
    return is_whole;
}

static bool row_fits(const struct mur_rank_row *row, const struct mur_data_region *region, int number, bool has_arrays,
                     bool shared_only, const char *path, struct mur_flaw *flaw)
{
    struct mur_rank_row expected;
    const bool counts = has_data(region, has_arrays) && (!shared_only || region->kind == MUR_REGION_SHARED);

    fill_row(&expected, region, counts);
    if (row->kind != expected.kind || row->ndims != expected.ndims || row->element_bytes != expected.element_bytes ||
        memcmp(row->sizes, expected.sizes, sizeof row->sizes) != 0)
        return mur_flaw_set(flaw, "region %d of %s is of another kind or shape than what is registered as number %d",
                            number, path, number);
    if (counts && row->bytes != expected.bytes)
        return mur_flaw_set(flaw, "region %d of %s has %lld bytes, but %lld are registered", number, path,
                            (long long)row->bytes, (long long)expected.bytes);
    if (counts && (memcmp(row->starts, expected.starts, sizeof row->starts) != 0 ||
                   memcmp(row->subsizes, expected.subsizes, sizeof row->subsizes) != 0))
        return mur_flaw_set(flaw, "region %d of %s is another block of its array than what is registered", number,
                            path);
    return true;
}

/* Both go through the rows; then one stops, and the other fills the regions. */
static bool read_all(const char *path, bool is_load, bool shared_only, struct mur_flaw *flaw)
{
    struct mur_rank_stream stream;
    struct mur_rank_head head;
    struct mur_rank_row *rows = NULL;
    bool is_fine = open_stream(&stream, path, "re", flaw) && get_head(&stream, &head, flaw);

    if (is_fine && head.regions != mur_data_regions.count)
        is_fine =
            mur_flaw_set(flaw, "%s has %d regions, but %d are registered", path, head.regions, mur_data_regions.count);
    if (is_fine) {
        rows = calloc((size_t)head.regions + 1, sizeof *rows);
        is_fine = (rows || mur_flaw_set(flaw, "there is no memory to read %s", path)) &&
                  get(&stream, rows, (size_t)head.regions * sizeof *rows, flaw);
    }
    for (int i = 0; is_fine && i < head.regions; i++)
        is_fine = row_fits(&rows[i], &mur_data_regions.at[i], i, head.has_arrays, shared_only, path, flaw);
    for (int i = 0; is_fine && is_load && i < head.regions; i++) {
        const struct mur_data_region *region = &mur_data_regions.at[i];

        if (shared_only && region->kind != MUR_REGION_SHARED)
            is_fine = fseeko(stream.file, (off_t)rows[i].bytes, SEEK_CUR) == 0 ||
                      mur_flaw_set(flaw, "cannot read %s: %s", path, strerror(errno));
        else if (has_data(region, head.has_arrays))
            is_fine = mur_data_region_write(region, get, &stream, flaw);
    }
    free(rows);
    close_stream(&stream);
    return is_fine;
}

bool mur_rank_file_fits(const char *path, bool shared_only, struct mur_flaw *flaw)
{
    return read_all(path, false, shared_only, flaw);
}

bool mur_rank_file_load(const char *path, bool shared_only, struct mur_flaw *flaw)
{
    return read_all(path, true, shared_only, flaw);
}
