/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of processes (MPI-5.0 §7.3). The operations collect processes in an array and make a group of it. */
#include "object/group.h"

#include <stdlib.h>

#include "base/error.h"
#include "mpi/bodies.h"
#include "object/comm.h"
#include "object/session.h"

/* Processes collected for a new group. */
struct collection {
    int *processes;
    int size;
};

static int collection_start(struct collection *collection, int64_t capacity)
{
    collection->size = 0;
    collection->processes = malloc((size_t)(capacity > 0 ? capacity : 1) * sizeof *collection->processes);
    if (!collection->processes)
        return mur_error(MPI_ERR_NO_MEM, "no memory for a group of up to %lld processes", (long long)capacity);
    return MPI_SUCCESS;
}

static void collection_add(struct collection *collection, int process)
{
    collection->processes[collection->size++] = process;
}

/* The new group belongs to the session of the one it was made from. */
static int collection_finish(struct collection *collection, const struct mur_group *from, MPI_Group *handle)
{
    struct mur_group *group = NULL;
    int rc = mur_group_create(collection->processes, collection->size, &group);

    free(collection->processes);
    if (rc)
        return rc;
    if (!group->object.predefined) {
        group->session = from->session;
        mur_session_retain(group->session);
    }
    *handle = mur_object_handle(group);
    return MPI_SUCCESS;
}

/* One mark for each rank of a group. */
static int marks_start(const struct mur_group *group, bool **marks_p)
{
    *marks_p = calloc((size_t)group->size + 1, sizeof **marks_p);
    return *marks_p ? MPI_SUCCESS : mur_error(MPI_ERR_NO_MEM, "no memory for %d marks", group->size);
}

/* Marks a rank that the caller named. */
static int mark(const struct mur_group *group, bool *marks, int rank)
{
    if (rank < 0 || rank >= group->size)
        return mur_error(MPI_ERR_RANK, "rank %d is not in the group, whose ranks are 0 to %d", rank, group->size - 1);
    if (marks[rank])
        return mur_error(MPI_ERR_RANK, "rank %d is named twice, but must be named once", rank);
    marks[rank] = true;
    return MPI_SUCCESS;
}

/* The ranks that a triplet of first rank, last rank and stride names: how many. */
static int range_length(const int range[3], int64_t *length)
{
    int64_t first = range[0], last = range[1], stride = range[2];

    if (stride == 0)
        return mur_error(MPI_ERR_ARG, "the stride of the range %d to %d is 0", range[0], range[1]);
    *length = (stride > 0) == (last >= first) || first == last ? (last - first) / stride + 1 : 0;
    return MPI_SUCCESS;
}

/* Lists the ranks of all triplets, in order, each checked to be in the group once. The caller frees *ranks_p. */
static int expand_ranges(const struct mur_group *group, int n, int ranges[][3], int **ranks_p, int *count_p)
{
    bool *marks = NULL;
    int count = 0, rc = marks_start(group, &marks);
    int *ranks;

    if (rc)
        return rc;
    ranks = malloc(((size_t)group->size + 1) * sizeof *ranks);
    if (!ranks)
        rc = mur_error(MPI_ERR_NO_MEM, "no memory for %d ranks", group->size);
    for (int i = 0; !rc && i < n; i++) {
        int64_t length = 0;
        rc = range_length(ranges[i], &length);
        for (int64_t k = 0; !rc && k < length; k++) {
            int rank = (int)(ranges[i][0] + k * ranges[i][2]);
            rc = mark(group, marks, rank);
            if (!rc)
                ranks[count++] = rank;
        }
    }
    free(marks);
    if (rc) {
        free(ranks);
        return rc;
    }
    *ranks_p = ranks;
    *count_p = count;
    return MPI_SUCCESS;
}

int mur_mpi_comm_group(struct mur_comm *comm, MPI_Group *group)
{
    mur_group_retain(comm->group);
    *group = mur_object_handle(comm->group);
    return MPI_SUCCESS;
}

int mur_mpi_group_size(struct mur_group *group, int *size)
{
    *size = group->size;
    return MPI_SUCCESS;
}

int mur_mpi_group_rank(struct mur_group *group, int *rank)
{
    *rank = group->rank;
    return MPI_SUCCESS;
}

int mur_mpi_group_free(MPI_Group *handle)
{
    struct mur_group *group = mur_group_find(*handle);

    if (!group)
        return mur_error(MPI_ERR_GROUP, "%s, but must be a live group",
                         *handle == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL" : "the handle is not a group's");
    mur_group_release(group);
    *handle = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_group_translate_ranks(struct mur_group *group1, int n, const int ranks1[], struct mur_group *group2,
                                  int ranks2[])
{
    for (int i = 0; i < n; i++)
        if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= group1->size))
            return mur_error(MPI_ERR_RANK, "rank %d is %d, but must be from 0 to %d or MPI_PROC_NULL", i, ranks1[i],
                             group1->size - 1);
    for (int i = 0; i < n; i++)
        ranks2[i] =
            ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : mur_group_rank_of(group2, group1->processes[ranks1[i]]);
    return MPI_SUCCESS;
}

int mur_mpi_group_compare(struct mur_group *group1, struct mur_group *group2, int *result)
{
    *result = mur_group_compare(group1, group2);
    return MPI_SUCCESS;
}

int mur_mpi_group_union(struct mur_group *group1, struct mur_group *group2, MPI_Group *newgroup)
{
    struct collection collection;
    int rc = collection_start(&collection, (int64_t)group1->size + group2->size);

    if (rc)
        return rc;
    for (int i = 0; i < group1->size; i++)
        collection_add(&collection, group1->processes[i]);
    for (int i = 0; i < group2->size; i++)
        if (mur_group_rank_of(group1, group2->processes[i]) == MPI_UNDEFINED)
            collection_add(&collection, group2->processes[i]);
    return collection_finish(&collection, group1, newgroup);
}

/* The processes of group1 that are (or are not) in group2. */
static int select_processes(struct mur_group *group1, struct mur_group *group2, bool want_members, MPI_Group *newgroup)
{
    struct collection collection;
    int rc = collection_start(&collection, group1->size);

    if (rc)
        return rc;
    for (int i = 0; i < group1->size; i++)
        if ((mur_group_rank_of(group2, group1->processes[i]) != MPI_UNDEFINED) == want_members)
            collection_add(&collection, group1->processes[i]);
    return collection_finish(&collection, group1, newgroup);
}

int mur_mpi_group_intersection(struct mur_group *group1, struct mur_group *group2, MPI_Group *newgroup)
{
    return select_processes(group1, group2, true, newgroup);
}

int mur_mpi_group_difference(struct mur_group *group1, struct mur_group *group2, MPI_Group *newgroup)
{
    return select_processes(group1, group2, false, newgroup);
}

int mur_mpi_group_incl(struct mur_group *group, int n, const int ranks[], MPI_Group *newgroup)
{
    struct collection collection;
    bool *marks = NULL;
    int rc = marks_start(group, &marks);

    for (int i = 0; !rc && i < n; i++)
        rc = mark(group, marks, ranks[i]);
    free(marks);
    if (!rc)
        rc = collection_start(&collection, n);
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        collection_add(&collection, group->processes[ranks[i]]);
    return collection_finish(&collection, group, newgroup);
}

int mur_mpi_group_excl(struct mur_group *group, int n, const int ranks[], MPI_Group *newgroup)
{
    struct collection collection;
    bool *marks = NULL;
    int rc = marks_start(group, &marks);

    for (int i = 0; !rc && i < n; i++)
        rc = mark(group, marks, ranks[i]);
    if (!rc)
        rc = collection_start(&collection, group->size);
    for (int i = 0; !rc && i < group->size; i++)
        if (!marks[i])
            collection_add(&collection, group->processes[i]);
    free(marks);
    return rc ? rc : collection_finish(&collection, group, newgroup);
}

int mur_mpi_group_range_incl(struct mur_group *group, int n, int ranges[][3], MPI_Group *newgroup)
{
    int *ranks = NULL, count = 0, rc = expand_ranges(group, n, ranges, &ranks, &count);

    if (rc)
        return rc;
    rc = mur_mpi_group_incl(group, count, ranks, newgroup);
    free(ranks);
    return rc;
}

int mur_mpi_group_range_excl(struct mur_group *group, int n, int ranges[][3], MPI_Group *newgroup)
{
    int *ranks = NULL, count = 0, rc = expand_ranges(group, n, ranges, &ranks, &count);

    if (rc)
        return rc;
    rc = mur_mpi_group_excl(group, count, ranks, newgroup);
    free(ranks);
    return rc;
}
