/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmurmur/holding.h"
#include "libmurmur/rank_file.h"
#include "libmurmur/snapshots.h"
#include "libmurmur/transfer.h"

/* ---- saving ---- */

/* The partner of a rank has its index in the next place; where that has fewer ranks, one serves several. */
static int partner_of(const struct mur_places *places, int rank)
{
    const int place = (places->place[rank] + 1) % places->places;

    return mur_places_rank(places, place, places->index[rank] % places->size[place]);
}

static void copy_to_partners(const struct mur_places *places, const char *path, MPI_Comm comm, struct mur_flaw *flaw)
{
    struct mur_file_transfer *list = calloc((size_t)places->ranks, sizeof *list);
    struct stat found = {0};
    char name[PATH_MAX];
    int64_t own, *bytes = calloc((size_t)places->ranks, sizeof *bytes);

    if (!list || !bytes) {
        mur_flaw_set(flaw, "there is no memory for copies");
        MPI_Abort(comm, 1);
    }
    mur_snapshots_print(name, "%s/rank-%d", path, places->rank);
    if (stat(name, &found) != 0)
        mur_flaw_set(flaw, "cannot find %s: %s", name, strerror(errno));
    own = found.st_size;
    MPI_Allgather(&own, 1, MPI_INT64_T, bytes, 1, MPI_INT64_T, comm);
    for (int i = 0; i < places->ranks; i++) {
        list[i] = (struct mur_file_transfer){.from = i, .to = partner_of(places, i), .bytes = bytes[i]};
        mur_holding_name(list[i].source, MUR_HOLDING_OWN, i);
        mur_holding_name(list[i].target, MUR_HOLDING_COPY, i);
    }
    mur_transfers_run(list, places->ranks, path, path, comm, flaw);
    free(list);
    free(bytes);
}

/* Ranks of one index, one of each place, form a row; a row is cut into groups of at most `most`, none of one rank
 * unless the row has no more. */
static int group_of(const struct mur_places *places, int rank, int most, int *position, int members[])
{
    int row[2] = {0, 0}, count, groups, group, first, last; /* row: its ranks, and those of them before this one */

    for (int i = 0; i < places->places; i++)
        if (places->size[i] > places->index[rank]) {
            row[0]++;
            row[1] += i < places->place[rank];
        }
    groups = (row[0] + most - 1) / most;
    group = (int)((int64_t)row[1] * groups / row[0]);
    while ((int64_t)row[0] * (group + 1) / groups <= row[1])
        group++;
    while ((int64_t)row[0] * group / groups > row[1])
        group--;
    first = (int)((int64_t)row[0] * group / groups);
    last = (int)((int64_t)row[0] * (group + 1) / groups);
    count = 0;
    for (int i = 0, at = 0; i < places->places; i++)
        if (places->size[i] > places->index[rank]) {
            if (at >= first && at < last)
                members[count++] = mur_places_rank(places, i, places->index[rank]);
            at++;
        }
    *position = row[1] - first;
    return count;
}

static void write_parity(const struct mur_places *places, const char *path, int most, MPI_Comm comm,
                         struct mur_flaw *flaw)
{
    struct mur_parity parity = {0};
    char own[PATH_MAX], target[PATH_MAX];
    MPI_Comm group;

    parity.count = group_of(places, places->rank, most, &parity.position, parity.members);
    mur_snapshots_print(own, "%s/rank-%d", path, places->rank);
    mur_snapshots_print(target, "%s/parity-%d", path, places->rank);
    MPI_Comm_split(comm, parity.members[0], parity.position, &group);
    if (parity.count > 1)
        mur_parity_write(target, own, &parity, group, flaw);
    else
        mur_flaw_set(flaw,
                     "MUR_CKPT_REDUNDANCY=xor: rank %d has no partner, since no other host has as many ranks as "
                     "its own; use partner, or as many ranks on each host",
                     places->rank);
    MPI_Comm_free(&group);
}

static void protect(const struct mur_ckpt_settings *settings, const struct mur_places *places, const char *path,
                    MPI_Comm comm, struct mur_flaw *flaw)
{
    if (settings->redundancy == MUR_REDUNDANCY_NONE)
        return;
    if (places->places < 2)
        mur_flaw_set(flaw, "copies on other hosts are asked for (MUR_CKPT_REDUNDANCY), but there is one host only");
    else if (settings->redundancy == MUR_REDUNDANCY_PARTNER)
        copy_to_partners(places, path, comm, flaw);
    else
        write_parity(places, path, settings->group, comm, flaw);
}

bool mur_local_save(const struct mur_ckpt_settings *settings, const struct mur_places *places, int64_t version,
                    MPI_Comm comm, struct mur_flaw *flaw)
{
    const struct mur_rank_file file = {version, places->rank, places->ranks, true};
    const bool is_first = mur_places_is_first(places);
    char path[PATH_MAX], name[PATH_MAX];

    mur_snapshots_path(path, settings->local, version, true, "");
    mur_snapshots_print(name, "%s/rank-%d", path, places->rank);
    if (mur_snapshots_make(path, flaw))
        mur_rank_file_write(name, &file, flaw);
    if (mur_flaw_agree(flaw, comm)) {
        protect(settings, places, path, comm, flaw);
        mur_flaw_agree(flaw, comm);
    }
    if (is_first && !flaw->text[0])
        mur_snapshots_finish(settings->local, version, flaw);
    if (!mur_flaw_agree(flaw, comm)) {
        if (is_first)
            mur_snapshots_discard(settings->local, version);
        return false;
    }
    if (is_first)
        mur_snapshots_prune(settings->local, settings->keep);
    return true;
}

/* ---- restoring ---- */

/* What a rank needs that its place has not: its own file; or, to rebuild that, its group's files and parities. */
struct mur_gathering {
    struct mur_file_transfer *at;
    int count;
};

static void add(struct mur_gathering *plan, const struct mur_holding *holding, int to, bool is_named_anew)
{
    struct mur_file_transfer *next = &plan->at[plan->count++];

    *next = (struct mur_file_transfer){.from = holding->holder, .to = to, .bytes = holding->bytes};
    mur_holding_name(next->source, (enum mur_holding_kind)holding->kind, holding->rank);
    if (is_named_anew)
        snprintf(next->target, sizeof next->target, "rank-%d", to);
    else
        snprintf(next->target, sizeof next->target, ".%s-for-%d", next->source, to);
}

/* False: too much is lost. */
static bool plan_rebuild(struct mur_gathering *plan, const struct mur_holdings *holdings,
                         const struct mur_places *places, int rank)
{
    int position;
    const struct mur_holding *group = mur_holdings_group(holdings, rank, &position);
    const int start = plan->count;

    for (int i = 0; group && i < group->parity.count; i++) {
        const int member = group->parity.members[i];
        const struct mur_holding *data, *parity;

        if (i == position)
            continue;
        data = mur_holdings_get(holdings, MUR_HOLDING_OWN, member, places, places->place[rank]);
        parity = mur_holdings_get(holdings, MUR_HOLDING_PARITY, member, places, places->place[rank]);
        if (!data || !parity) {
            plan->count = start;
            return false;
        }
        add(plan, data, rank, false);
        add(plan, parity, rank, false);
    }
    return group;
}

static bool plan_all(struct mur_gathering *plan, const struct mur_holdings *holdings, const struct mur_places *places,
                     struct mur_flaw *flaw)
{
    plan->at = calloc((size_t)places->ranks * 2 * MUR_PARITY_GROUP_MAX, sizeof *plan->at);
    if (!plan->at)
        return mur_flaw_set(flaw, "there is no memory to find what is left of a snapshot");
    for (int rank = 0; rank < places->ranks; rank++) {
        const int place = places->place[rank];
        const struct mur_holding *own = mur_holdings_get(holdings, MUR_HOLDING_OWN, rank, places, place);

        if (own && own->ranks != places->ranks)
            return mur_flaw_set(flaw, "it was written by %d ranks, but there are %d now", own->ranks, places->ranks);
        if (own && places->place[own->holder] == place)
            continue;
        own = own ? own : mur_holdings_get(holdings, MUR_HOLDING_COPY, rank, places, place);
        if (own)
            add(plan, own, rank, true);
        else if (!plan_rebuild(plan, holdings, places, rank))
            return mur_flaw_set(flaw, "the data of rank %d are lost: neither a whole file nor a copy is on any host",
                                rank);
    }
    return true;
}

static void rebuild_own(const char *path, const struct mur_holdings *holdings, int rank, struct mur_flaw *flaw)
{
    char files[MUR_PARITY_GROUP_MAX][PATH_MAX], parities[MUR_PARITY_GROUP_MAX][PATH_MAX], target[PATH_MAX];
    const char *file_at[MUR_PARITY_GROUP_MAX], *parity_at[MUR_PARITY_GROUP_MAX];
    int position;
    const struct mur_holding *group = mur_holdings_group(holdings, rank, &position);

    for (int i = 0; i < group->parity.count; i++) {
        mur_snapshots_print(files[i], "%s/.rank-%d-for-%d", path, group->parity.members[i], rank);
        mur_snapshots_print(parities[i], "%s/.parity-%d-for-%d", path, group->parity.members[i], rank);
        file_at[i] = files[i];
        parity_at[i] = parities[i];
    }
    mur_snapshots_print(target, "%s/rank-%d", path, rank);
    mur_parity_rebuild(target, position, &group->parity, file_at, parity_at, flaw);
    for (int i = 0; i < group->parity.count; i++) {
        unlink(files[i]);
        unlink(parities[i]);
    }
}

/* Each rank gets its file into its own place. */
static void gather(const char *path, const struct mur_holdings *holdings, const struct mur_places *places,
                   MPI_Comm comm, struct mur_flaw *flaw)
{
    struct mur_gathering plan = {NULL, 0};
    bool is_rebuilt = false;

    if (plan_all(&plan, holdings, places, flaw)) {
        mur_snapshots_make(path, flaw); /* a host that is new has none */
        mur_transfers_run(plan.at, plan.count, path, path, comm, flaw);
        for (int i = 0; i < plan.count; i++)
            is_rebuilt |= plan.at[i].to == places->rank && plan.at[i].target[0] == '.';
        if (is_rebuilt && !flaw->text[0])
            rebuild_own(path, holdings, places->rank, flaw);
    }
    free(plan.at);
}

bool mur_local_restore(const struct mur_ckpt_settings *settings, const struct mur_places *places, int64_t version,
                       MPI_Comm comm, struct mur_flaw *flaw)
{
    struct mur_holdings holdings;
    struct mur_rank_file file;
    char path[PATH_MAX], name[PATH_MAX];

    mur_snapshots_path(path, settings->local, version, false, "");
    mur_snapshots_print(name, "%s/rank-%d", path, places->rank);
    if (mur_holdings_find(&holdings, settings->local, version, places, comm))
        gather(path, &holdings, places, comm, flaw);
    else
        mur_flaw_set(flaw, "there is no memory to find what is left of a snapshot");
    free(holdings.at);
    if (mur_flaw_agree(flaw, comm) && mur_rank_file_check(name, &file, flaw))
        mur_rank_file_fits(name, false, flaw);
    if (!mur_flaw_agree(flaw, comm))
        return false;
    mur_rank_file_load(name, false, flaw);
    return mur_flaw_agree(flaw, comm);
}
