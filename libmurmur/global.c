/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/global.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmurmur/array_file.h"
#include "libmurmur/hash.h"
#include "libmurmur/rank_file.h"
#include "libmurmur/snapshots.h"

enum { MANIFEST_FORMAT = 1 };

static void path_of_array(char path[PATH_MAX], const char *directory, int64_t version, bool is_partial, int region)
{
    char name[32];

    snprintf(name, sizeof name, "array-%d", region);
    mur_snapshots_path(path, directory, version, is_partial, name);
}

static void path_of_rank(char path[PATH_MAX], const char *directory, int64_t version, bool is_partial, int rank)
{
    char name[32];

    snprintf(name, sizeof name, "rank-%d", rank);
    mur_snapshots_path(path, directory, version, is_partial, name);
}

/* ---- saving ---- */

static void write_manifest(const char *path, int64_t version, int ranks, const uint64_t *hashes, struct mur_flaw *flaw)
{
    FILE *file = fopen(path, "we");

    if (!file) {
        mur_flaw_set(flaw, "cannot open %s: %s", path, strerror(errno));
        return;
    }
    fprintf(file, "murmur-checkpoint %d\nkind app\nversion %" PRId64 "\nranks %d\nregions %d\n", MANIFEST_FORMAT,
            version, ranks, mur_data_regions.count);
    for (int i = 0; i < mur_data_regions.count; i++)
        if (mur_data_regions.at[i].kind == MUR_REGION_ARRAY)
            fprintf(file, "array %d %lld %016" PRIx64 "\n", i, (long long)mur_array_file_bytes(&mur_data_regions.at[i]),
                    hashes[i]);
    fprintf(file, "end\n");
    if (fflush(file) != 0 || fsync(fileno(file)) != 0 || ferror(file))
        mur_flaw_set(flaw, "cannot write %s: %s", path, strerror(errno));
    fclose(file);
}

static bool write_arrays(const char *directory, int64_t version, uint64_t *hashes, MPI_Comm comm, struct mur_flaw *flaw)
{
    char path[PATH_MAX];

    for (int i = 0; i < mur_data_regions.count; i++) {
        if (mur_data_regions.at[i].kind != MUR_REGION_ARRAY)
            continue;
        path_of_array(path, directory, version, true, i);
        if (!mur_array_file_write(path, &mur_data_regions.at[i], comm, &hashes[i], flaw))
            return false;
    }
    return true;
}

bool mur_global_save(const struct mur_ckpt_settings *settings, int64_t version, MPI_Comm comm, struct mur_flaw *flaw)
{
    struct mur_rank_file file = {.version = version};
    uint64_t *hashes = calloc((size_t)mur_data_regions.count + 1, sizeof *hashes);
    char path[PATH_MAX];

    MPI_Comm_rank(comm, &file.rank);
    MPI_Comm_size(comm, &file.ranks);
    mur_snapshots_path(path, settings->prefix, version, true, "");
    if (!hashes)
        mur_flaw_set(flaw, "there is no memory for a snapshot");
    if (file.rank == 0)
        mur_snapshots_make(path, flaw);
    if (mur_flaw_agree(flaw, comm)) {
        path_of_rank(path, settings->prefix, version, true, file.rank);
        mur_rank_file_write(path, &file, flaw);
        if (mur_flaw_agree(flaw, comm))
            write_arrays(settings->prefix, version, hashes, comm, flaw);
        mur_snapshots_path(path, settings->prefix, version, true, "manifest");
        if (file.rank == 0 && !flaw->text[0])
            write_manifest(path, version, file.ranks, hashes, flaw);
        if (file.rank == 0 && !flaw->text[0])
            mur_snapshots_finish(settings->prefix, version, flaw);
        mur_flaw_agree(flaw, comm);
    }
    if (file.rank == 0 && flaw->text[0])
        mur_snapshots_discard(settings->prefix, version);
    else if (file.rank == 0)
        mur_snapshots_prune(settings->prefix, settings->keep);
    free(hashes);
    return !flaw->text[0];
}

/* ---- restoring ---- */

/* Rank 0 reads it. */
static void read_manifest(const char *path, int *ranks, uint64_t *hashes, struct mur_flaw *flaw)
{
    FILE *file = fopen(path, "re");
    char line[200];
    int format = 0, regions = -1, number;
    long long bytes;
    uint64_t hash;
    bool has_end = false;

    if (!file) {
        mur_flaw_set(flaw, "cannot open %s: %s", path, strerror(errno));
        return;
    }
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "murmur-checkpoint %d", &format);
        sscanf(line, "ranks %d", ranks);
        sscanf(line, "regions %d", &regions);
        if (sscanf(line, "array %d %lld %" SCNx64, &number, &bytes, &hash) == 3 && number >= 0 &&
            number < mur_data_regions.count)
            hashes[number] = hash;
        has_end |= strcmp(line, "end\n") == 0;
    }
    fclose(file);
    if (format != MANIFEST_FORMAT || !has_end)
        mur_flaw_set(flaw, "%s is no whole manifest of this version of Murmur", path);
    else if (regions != mur_data_regions.count)
        mur_flaw_set(flaw, "it has %d regions, but %d are registered", regions, mur_data_regions.count);
}

static void check_arrays(const char *directory, int64_t version, const uint64_t *hashes, MPI_Comm comm,
                         struct mur_flaw *flaw)
{
    char path[PATH_MAX];
    uint64_t hash;

    for (int i = 0; i < mur_data_regions.count && !flaw->text[0]; i++) {
        if (mur_data_regions.at[i].kind != MUR_REGION_ARRAY)
            continue;
        path_of_array(path, directory, version, false, i);
        if (mur_array_file_hash(path, mur_array_file_bytes(&mur_data_regions.at[i]), comm, &hash, flaw) &&
            hash != hashes[i])
            mur_flaw_set(flaw, "%s was altered: its checksum does not fit", path);
    }
}

static void refuse_private(int ranks, int ranks_now, struct mur_flaw *flaw)
{
    for (int i = 0; i < mur_data_regions.count; i++)
        if (mur_data_regions.at[i].kind == MUR_REGION_PRIVATE) {
            mur_flaw_set(flaw,
                         "it was written by %d ranks, and there are %d now; region %d belongs to single ranks "
                         "(MPIX_Ckpt_register), and only shared data and arrays can be divided anew",
                         ranks, ranks_now, i);
            return;
        }
}

/* Where there are as many ranks as there were each reads its own file; else rank 0 reads its own, which has what all
 * share, and tells the others. */
static void load_ranks(const char *path, bool is_same, MPI_Comm comm, struct mur_flaw *flaw)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (is_same || rank == 0)
        mur_rank_file_load(path, !is_same, flaw);
    if (is_same || !mur_flaw_agree(flaw, comm))
        return;
    for (int i = 0; i < mur_data_regions.count; i++) {
        const struct mur_data_region *region = &mur_data_regions.at[i];

        if (region->kind == MUR_REGION_SHARED)
            MPI_Bcast_c(region->address, region->count, region->datatype, 0, comm);
    }
}

static void load_arrays(const char *directory, int64_t version, MPI_Comm comm, struct mur_flaw *flaw)
{
    char path[PATH_MAX];

    for (int i = 0; i < mur_data_regions.count; i++)
        if (mur_data_regions.at[i].kind == MUR_REGION_ARRAY) {
            path_of_array(path, directory, version, false, i);
            mur_array_file_read(path, &mur_data_regions.at[i], comm, flaw);
        }
}

/* Everything is checked before anything is restored: the program's data are those of one snapshot, or untouched. */
bool mur_global_restore(const struct mur_ckpt_settings *settings, int64_t version, MPI_Comm comm, struct mur_flaw *flaw)
{
    uint64_t *hashes = calloc((size_t)mur_data_regions.count + 1, sizeof *hashes);
    struct mur_rank_file file;
    char path[PATH_MAX];
    int rank, ranks_now, ranks = 0;
    bool is_same;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks_now);
    mur_snapshots_path(path, settings->prefix, version, false, "manifest");
    if (!hashes)
        mur_flaw_set(flaw, "there is no memory for a snapshot");
    else if (rank == 0)
        read_manifest(path, &ranks, hashes, flaw);
    if (!mur_flaw_agree(flaw, comm)) {
        free(hashes);
        return false;
    }
    MPI_Bcast(&ranks, 1, MPI_INT, 0, comm);
    MPI_Bcast(hashes, mur_data_regions.count, MPI_UINT64_T, 0, comm);
    is_same = ranks == ranks_now;
    if (!is_same)
        refuse_private(ranks, ranks_now, flaw);
    path_of_rank(path, settings->prefix, version, false, rank);
    if (!flaw->text[0] && (is_same || rank == 0) && mur_rank_file_check(path, &file, flaw))
        mur_rank_file_fits(path, !is_same, flaw);
    if (mur_flaw_agree(flaw, comm))
        check_arrays(settings->prefix, version, hashes, comm, flaw);
    free(hashes);
    if (!mur_flaw_agree(flaw, comm))
        return false;
    load_ranks(path, is_same, comm, flaw);
    load_arrays(settings->prefix, version, comm, flaw);
    return mur_flaw_agree(flaw, comm);
}
