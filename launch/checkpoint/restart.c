/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a restart has no program: that, the ranks, their environment and the labels of their output are
 * those of the snapshot. Hosts may be others. Ranks that shared a host stay together, for they share memory; the hosts
 * of the command line, or of whatever lists hosts (hosts/placement.h), take their groups in turn. Without a list it is
 * this machine, for ranks of one host, or the hosts of before. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/checkpoint/manifest.h"
#include "launch/checkpoint/restart.h"
#include "launch/hosts/placement.h"
#include "launch/say.h"
#include "launch/tree/spec.h"

static _Noreturn void refuse(const char *snapshot, const char *text)
{
    mur_quit(MUR_EXIT_USAGE, "the snapshot '%s' cannot be restarted: %s", snapshot, text);
}

/* The one with this number, or the latest one that is whole. */
static char *find_snapshot(const struct mur_checkpointing *checkpointing, struct mur_manifest *manifest,
                           char text[MUR_PACK_TEXT])
{
    int *numbers, count;

    if (checkpointing->number >= 0) {
        char *folder = mur_snapshot_folder(checkpointing->prefix, checkpointing->number);

        if (!mur_manifest_read(folder, manifest, text))
            refuse(folder, text);
        return folder;
    }
    count = mur_snapshots_list(checkpointing->prefix, &numbers);
    while (count--) {
        char *folder = mur_snapshot_folder(checkpointing->prefix, numbers[count]);

        if (mur_manifest_read(folder, manifest, text))
            return folder;
        mur_say("note: %s; an older snapshot is looked for", text);
    }
    mur_quit(MUR_EXIT_USAGE, "there is no whole snapshot in '%s'", checkpointing->prefix);
}

static char *read_job(const char *snapshot, const struct mur_manifest *manifest, size_t *bytes)
{
    char *path = mur_alloc_text("%s/job", snapshot), *data = NULL, text[MUR_PACK_TEXT];
    uint64_t sum, length;
    FILE *file;

    if (!mur_pack_sum(path, &sum, &length, text))
        refuse(snapshot, text);
    if (sum != manifest->job_sum)
        refuse(snapshot, "the file 'job' is not what was saved: its checksum is wrong");
    file = fopen(path, "re");
    data = mur_alloc((size_t)length + 1, 1);
    *bytes = file ? fread(data, 1, (size_t)length, file) : 0;
    if (file)
        fclose(file);
    free(path);
    return data;
}

static void check_build(const char *snapshot, const struct mur_manifest *manifest)
{
    char build[80], text[MUR_PACK_TEXT];

    if (!mur_manifest_build(build, text))
        refuse(snapshot, text);
    if (strcmp(build, manifest->build) == 0)
        return;
    snprintf(text, sizeof text, "it was made by another build of Murmur (%.100s; this is %s)", manifest->build, build);
    refuse(snapshot, text);
}

/* What a restart may say anew stays as the command line has it. */
static void take_over(struct mur_jobspec *job, const struct mur_jobspec *old)
{
    job->contexts = old->contexts;
    job->context_count = old->context_count;
    job->size = old->size;
    job->environment = old->environment;
    job->inheritance = old->inheritance;
    job->binding = old->binding;
    job->starting = old->starting;
    job->stdin_rank = old->stdin_rank;
    job->abi = old->abi;
    job->universe = old->universe;
    job->is_torch = old->is_torch;
    job->keeps_going |= old->keeps_going;
    job->shows_exits |= old->shows_exits;
    job->formats = old->formats;
}

static struct mur_jobspec old_job;

void mur_restart_prepare(struct mur_jobspec *job)
{
    struct mur_checkpointing *checkpointing = &job->checkpointing;
    char text[MUR_PACK_TEXT], *directory, **environment, *data;
    struct mur_manifest manifest;
    size_t bytes;

    if (!mur_pack_load(text))
        mur_quit(MUR_EXIT_TROUBLE, "%s", text);
    checkpointing->snapshot = find_snapshot(checkpointing, &manifest, text);
    check_build(checkpointing->snapshot, &manifest);
    data = read_job(checkpointing->snapshot, &manifest, &bytes);
    if (!mur_spec_read(data, bytes, &old_job, &directory, &environment) || old_job.hosts.count != manifest.nodes)
        refuse(checkpointing->snapshot, "the file 'job' cannot be understood");
    free(data);
    take_over(job, &old_job);
}

static void name_host(struct mur_host *host, const struct mur_host *other)
{
    host->name = other->name;
    host->user = other->user;
    host->port = other->port;
    host->is_local = other->is_local;
}

bool mur_restart_place(struct mur_jobspec *job, mur_part_counter *counter, struct mur_problem *problem)
{
    struct mur_hosts own = {0};

    if (!mur_placement_make(job, counter, problem))
        return false;
    own = job->offered;
    job->hosts = old_job.hosts;
    job->node_of = old_job.node_of;
    job->local_of = old_job.local_of;
    if (job->has_list || job->hosts.count == 1) {
        for (int i = 0; i < job->hosts.count; i++)
            name_host(&job->hosts.items[i], &own.items[i % own.count]);
        return true;
    }
    mur_hosts_find_local(&job->hosts, job->host);
    if (job->hosts.count == old_job.hosts.count)
        return true;
    return mur_problem_set(problem, "two of the hosts of the snapshot have become this machine; -host names others");
}
