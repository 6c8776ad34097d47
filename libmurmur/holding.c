/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/holding.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libmurmur/rank_file.h"
#include "libmurmur/snapshots.h"

static const char *const names[MUR_HOLDING_KINDS] = {
    [MUR_HOLDING_OWN] = "rank-", [MUR_HOLDING_COPY] = "copy-", [MUR_HOLDING_PARITY] = "parity-"};

void mur_holding_name(char name[MUR_HOLDING_NAME], enum mur_holding_kind kind, int rank)
{
    snprintf(name, MUR_HOLDING_NAME, "%s%d", names[kind], rank);
}

static bool parse_name(const char *name, struct mur_holding *holding)
{
    for (int kind = 0; kind < MUR_HOLDING_KINDS; kind++) {
        const size_t length = strlen(names[kind]);
        char *end;

        if (strncmp(name, names[kind], length) != 0)
            continue;
        holding->kind = kind;
        holding->rank = (int)strtol(name + length, &end, 10);
        return end != name + length && *end == '\0';
    }
    return false;
}

/* A file that is not whole is none. */
static bool check(const char *path, struct mur_holding *holding)
{
    struct mur_flaw flaw = {0};
    struct mur_rank_file file;
    struct stat found;

    if (stat(path, &found) != 0)
        return false;
    holding->bytes = found.st_size;
    if (holding->kind == MUR_HOLDING_PARITY)
        return mur_parity_check(path, &holding->parity, &flaw) &&
               holding->parity.members[holding->parity.position] == holding->rank;
    if (!mur_rank_file_check(path, &file, &flaw) || file.rank != holding->rank)
        return false;
    holding->ranks = file.ranks;
    return true;
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The ranks of a place see the same files, in the same order: each checks every so manieth. */
static struct mur_holding *find_own(const char *path, const struct mur_places *places, int *count)
{
    const int stride = places->size[places->place[places->rank]];
    struct dirent **files = NULL;
    int files_count = scandir(path, &files, is_file, alphasort);
    struct mur_holding *found = calloc((size_t)(files_count > 0 ? files_count : 0) + 1, sizeof *found);

    *count = 0;
    for (int i = 0; i < files_count; i++) {
        struct mur_holding *next = found ? &found[*count] : NULL;
        char name[PATH_MAX];

        mur_snapshots_print(name, "%s/%s", path, files[i]->d_name);
        if (next && i % stride == places->index[places->rank] && parse_name(files[i]->d_name, next) &&
            check(name, next)) {
            next->holder = places->rank;
            (*count)++;
        }
        free(files[i]);
    }
    free(files);
    return found;
}

bool mur_holdings_find(struct mur_holdings *holdings, const char *directory, int64_t version,
                       const struct mur_places *places, MPI_Comm comm)
{
    char path[PATH_MAX];
    struct mur_holding *own;
    MPI_Datatype row;
    int count, *counts = calloc((size_t)places->ranks + 1, sizeof *counts),
               *starts = calloc((size_t)places->ranks + 1, sizeof *starts);
    int is_fine;

    mur_snapshots_path(path, directory, version, false, "");
    own = find_own(path, places, &count);
    *holdings = (struct mur_holdings){0};
    is_fine = own && counts && starts;
    MPI_Allreduce(MPI_IN_PLACE, &is_fine, 1, MPI_INT, MPI_MIN, comm);
    if (is_fine) {
        MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm);
        for (int i = 0; i < places->ranks; i++) {
            starts[i] = holdings->count;
            holdings->count += counts[i];
        }
        holdings->at = calloc((size_t)holdings->count + 1, sizeof *holdings->at);
        is_fine = holdings->at != NULL;
        MPI_Allreduce(MPI_IN_PLACE, &is_fine, 1, MPI_INT, MPI_MIN, comm);
    }
    if (is_fine) {
        MPI_Type_contiguous(sizeof *own, MPI_BYTE, &row);
        MPI_Type_commit(&row);
        MPI_Allgatherv(own, count, row, holdings->at, counts, starts, row, comm);
        MPI_Type_free(&row);
    }
    free(own);
    free(counts);
    free(starts);
    return is_fine;
}

const struct mur_holding *mur_holdings_get(const struct mur_holdings *holdings, enum mur_holding_kind kind, int rank,
                                           const struct mur_places *places, int place)
{
    const struct mur_holding *found = NULL;

    for (int i = 0; i < holdings->count; i++) {
        const struct mur_holding *holding = &holdings->at[i];

        if (holding->kind != (int)kind || holding->rank != rank)
            continue;
        if (places->place[holding->holder] == place)
            return holding;
        found = found ? found : holding;
    }
    return found;
}

const struct mur_holding *mur_holdings_group(const struct mur_holdings *holdings, int rank, int *position)
{
    for (int i = 0; i < holdings->count; i++) {
        const struct mur_holding *holding = &holdings->at[i];

        if (holding->kind != MUR_HOLDING_PARITY)
            continue;
        for (*position = 0; *position < holding->parity.count; (*position)++)
            if (holding->parity.members[*position] == rank)
                return holding;
    }
    return NULL;
}
