/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher writes names and ranks in turns, "ocean 0-3,8-9 land 4-7". The list is read once and then stays, since
 * sessions of all times see the same sets. */
#include "boot/psets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "boot/job.h"
#include "boot/process.h"
#include "mpi.h"

_Static_assert(MUR_PSET_NAME_MAX == MPI_MAX_PSET_NAME_LEN, "the launcher allows as much as MPI does");

static struct {
    struct mur_pset *sets;
    int count;
} table;

static void count_members(struct mur_pset *set)
{
    set->size = 0;
    for (int i = 0; i < set->range_count; i++) {
        set->size += set->ranges[i].last - set->ranges[i].first + 1;
        set->has_me |= mur_process.rank >= set->ranges[i].first && mur_process.rank <= set->ranges[i].last;
    }
}

/* "0-3,8-9", ascending, all of them ranks of the job. */
static bool read_ranges(char *text, struct mur_pset *set)
{
    int before = -1, room = 1;

    for (const char *at = text; *at; at++)
        room += *at == ',';
    set->ranges = malloc((size_t)room * sizeof *set->ranges);
    if (!set->ranges)
        return false;
    for (char *at = text;; at++) {
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &at, 10) : -1;

        if (first <= before || last < first || last >= mur_process.size || (*at && *at != ','))
            return false;
        set->ranges[set->range_count++] = (struct mur_ranks){(int)first, (int)last};
        before = (int)last;
        if (!*at)
            break;
    }
    count_members(set);
    return true;
}

static struct mur_pset *add(const char *name)
{
    struct mur_pset *sets = realloc(table.sets, ((size_t)table.count + 1) * sizeof *sets);

    if (!sets)
        return NULL;
    table.sets = sets;
    sets[table.count] = (struct mur_pset){.name = name};
    return &sets[table.count++];
}

static bool add_own(const char *name, int first, int last)
{
    struct mur_pset *set = add(name);

    if (!set || !(set->ranges = malloc(sizeof *set->ranges)))
        return false;
    set->ranges[set->range_count++] = (struct mur_ranks){first, last};
    count_members(set);
    return true;
}

int mur_psets_setup(void)
{
    const char *text = getenv(MUR_ENV_PSETS);
    char *copy, *rest;

    if (table.count)
        return MPI_SUCCESS;
    if (!add_own("mpi://WORLD", 0, mur_process.size - 1) || !add_own("mpi://SELF", mur_process.rank, mur_process.rank))
        return mur_error(MPI_ERR_NO_MEM, "no memory for the process sets");
    if (!text || mur_process.control_fd < 0) /* what another launcher's job inherited says nothing of it */
        return MPI_SUCCESS;
    copy = strdup(text);
    if (!copy)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the process sets");
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char *ranks = strtok_r(NULL, " ", &rest);
        struct mur_pset *set = ranks ? add(name) : NULL;

        if (!set || strlen(name) >= MUR_PSET_NAME_MAX || !read_ranges(ranks, set))
            return mur_error(MPI_ERR_OTHER, "the launcher's variable %s is '%s', which is no list of names and ranks",
                             MUR_ENV_PSETS, text);
    }
    return MPI_SUCCESS;
}

int mur_psets_count(void)
{
    int count = 0;

    for (int i = 0; i < table.count; i++)
        count += table.sets[i].has_me;
    return count;
}

const struct mur_pset *mur_pset_nth(int n)
{
    for (int i = 0; i < table.count; i++)
        if (table.sets[i].has_me && n-- == 0)
            return &table.sets[i];
    return NULL;
}

/* The standard's own names are alike in upper and lower case. */
const struct mur_pset *mur_pset_find(const char *name)
{
    for (int i = 0; i < table.count; i++)
        if (i < 2 ? !strcasecmp(name, table.sets[i].name) : !strcmp(name, table.sets[i].name))
            return &table.sets[i];
    return NULL;
}

int mur_pset_number(const struct mur_pset *set)
{
    return (int)(set - table.sets);
}

const struct mur_pset *mur_pset_numbered(int number)
{
    return &table.sets[number];
}
