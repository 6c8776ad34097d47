/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting cores: the union of the ranks' affinity masks, and the CPU quota of every control group above us
 * (cpu.max of version 2, cpu.cfs_quota_us of version 1). */
#include "node/cores.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"
#include "boot/process.h"
#include "node/node.h"

static int rounded_up(double quota, double period)
{
    int cores = (int)((quota + period - 1) / period);

    return cores < 1 ? 1 : cores;
}

/* The quota that the files of one group's directory set, or INT_MAX. */
static int quota_of(const char *directory)
{
    char path[PATH_MAX + 32];
    double quota = -1, period = 100000;
    FILE *file;

    snprintf(path, sizeof path, "%s/cpu.max", directory);
    file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%lf %lf", &quota, &period) != 2) /* "max 100000" has no number: no limit */
            quota = -1;
        fclose(file);
        return quota > 0 && period > 0 ? rounded_up(quota, period) : INT_MAX;
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    file = fopen(path, "re");
    if (!file)
        return INT_MAX;
    if (fscanf(file, "%lf", &quota) != 1)
        quota = -1;
    fclose(file);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%lf", &period) != 1)
            period = 100000;
        fclose(file);
    }
    return quota > 0 && period > 0 ? rounded_up(quota, period) : INT_MAX;
}

/* The least quota of a group and all groups above it, below the mount point of its hierarchy. */
static int quota_upwards(const char *mount, char *group)
{
    int least = INT_MAX;

    for (;;) {
        char directory[PATH_MAX];
        char *slash;
        int quota;

        snprintf(directory, sizeof directory, "%s%s", mount, group);
        quota = quota_of(directory);
        least = quota < least ? quota : least;
        slash = strrchr(group, '/');
        if (!slash || !*group)
            return least;
        *slash = '\0';
    }
}

int mur_cores_quota(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    int least = INT_MAX;

    if (!file)
        return INT_MAX;
    while (fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        int quota = INT_MAX;

        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        group[strcspn(group, "\n")] = '\0';
        if (!*controllers)
            quota = quota_upwards("/sys/fs/cgroup", group);
        else if (strcmp(controllers, "cpu") == 0 || strstr(controllers, "cpu,") || strstr(controllers, ",cpu"))
            quota = quota_upwards("/sys/fs/cgroup/cpu", group);
        least = quota < least ? quota : least;
    }
    fclose(file);
    return least;
}

bool mur_cores_suffice(bool *is_final)
{
    static int quota; /* asked once: reading it takes several files */
    uint64_t cpus[16] = {0};
    int cores = 0, ranks;

    ranks = __atomic_load_n(&mur_process.job->machine_ranks, __ATOMIC_RELAXED); /* stored by launch/agent/machine.c */
    *is_final = ranks > 0;
    for (int i = 0; i < mur_node.size; i++) {
        struct mur_rank_block *block = &mur_node.memory->ranks[i];

        /* pairs with the release in fill_rank_block (memory.c) */
        if (!atomic_load_explicit(&block->is_ready, memory_order_acquire)) {
            *is_final = false;
            continue;
        }
        for (int word = 0; word < 16; word++)
            cpus[word] |= block->cpus[word];
    }
    for (int word = 0; word < 16; word++)
        cores += __builtin_popcountll(cpus[word]);
    if (!quota)
        quota = mur_cores_quota();
    return (cores < quota ? cores : quota) >= mur_process.local_size && cores >= ranks;
}
