/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: making, searching and comparing them.
 *
 * The rank of a process is found by bisection. Most groups list their processes in ascending order and are searched
 * directly; any other gets a list of its ranks sorted by process when it is first searched. */
#define _GNU_SOURCE
#include "object/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "engine/foreign.h"
#include "object/session.h"

static struct mur_pool groups = MUR_POOL(MUR_KIND_GROUP, struct mur_group, "group");

/* MPI_Group_free takes references from it too, for it is what operations with an empty result return. */
struct mur_group mur_group_empty = {
    .object = {.kind = MUR_KIND_GROUP, .references = 1},
    .rank = MPI_UNDEFINED,
    .is_ascending = true,
};

int mur_group_setup(void)
{
    mur_group_empty.object.predefined = (uint32_t)(uintptr_t)MPI_GROUP_EMPTY;
    mur_predefined[mur_group_empty.object.predefined] = &mur_group_empty.object;
    return MPI_SUCCESS;
}

void mur_group_release(struct mur_group *group)
{
    if (--group->object.references > 0 || group == &mur_group_empty)
        return;
    if (group->has_foreign)
        mur_foreign_hold(group->processes, group->size, -1);
    free(group->processes);
    free(group->by_process);
    mur_session_release(group->session);
    mur_pool_put(&groups, group);
}

static bool is_ascending(const int *processes, int size)
{
    for (int i = 1; i < size; i++)
        if (processes[i] <= processes[i - 1])
            return false;
    return true;
}

int mur_group_create(const int *processes, int size, struct mur_group **group_p)
{
    struct mur_group *group;
    size_t bytes = (size_t)size * sizeof *processes;

    if (size == 0) {
        mur_group_retain(&mur_group_empty);
        *group_p = &mur_group_empty;
        return MPI_SUCCESS;
    }
    group = mur_pool_get(&groups);
    if (!group)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group");
    group->processes = malloc(bytes);
    if (!group->processes) {
        mur_pool_put(&groups, group);
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    }
    memcpy(group->processes, processes, bytes);
    group->size = size;
    group->is_ascending = is_ascending(processes, size);
    group->by_process = NULL;
    group->session = NULL;
    group->has_foreign = false;
    for (int i = 0; i < size; i++)
        group->has_foreign |= processes[i] >= mur_process.size;
    if (group->has_foreign)
        mur_foreign_hold(processes, size, 1);
    group->rank = mur_group_rank_of(group, mur_process.rank);
    *group_p = group;
    return MPI_SUCCESS;
}

static int compare_processes(const void *a, const void *b, void *processes_)
{
    const int *processes = processes_;
    int first = processes[*(const int *)a], second = processes[*(const int *)b];

    return (first > second) - (first < second);
}

/* False when memory is exhausted. */
static bool sort(struct mur_group *group)
{
    group->by_process = malloc((size_t)group->size * sizeof *group->by_process);
    if (!group->by_process)
        return false;
    for (int i = 0; i < group->size; i++)
        group->by_process[i] = i;
    qsort_r(group->by_process, (size_t)group->size, sizeof *group->by_process, compare_processes, group->processes);
    return true;
}

static int search_all(const struct mur_group *group, int process)
{
    for (int i = 0; i < group->size; i++)
        if (group->processes[i] == process)
            return i;
    return MPI_UNDEFINED;
}

int mur_group_rank_of(struct mur_group *group, int process)
{
    int low = 0, high = group->size;

    /* Groups like that of MPI_COMM_WORLD have each process at its own number. */
    if (process < group->size && group->processes[process] == process)
        return process;
    if (!group->is_ascending && !group->by_process && !sort(group))
        return search_all(group, process);
    while (low < high) {
        int middle = low + (high - low) / 2;
        int rank = group->is_ascending ? middle : group->by_process[middle];
        if (group->processes[rank] == process)
            return rank;
        if (group->processes[rank] < process)
            low = middle + 1;
        else
            high = middle;
    }
    return MPI_UNDEFINED;
}

int mur_group_compare(struct mur_group *a, struct mur_group *b)
{
    if (a == b)
        return MPI_IDENT;
    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (memcmp(a->processes, b->processes, (size_t)a->size * sizeof *a->processes) == 0)
        return MPI_IDENT;
    for (int i = 0; i < a->size; i++)
        if (mur_group_rank_of(b, a->processes[i]) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
    return MPI_SIMILAR;
}
