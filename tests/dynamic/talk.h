/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes of two jobs do with each other in these tests, checked on both sides. */
#ifndef MUR_TEST_DYNAMIC_TALK_H
#define MUR_TEST_DYNAMIC_TALK_H

#include "descriptors.h"
#include "test.h"

/* Every rank sends each remote rank `count` numbers and receives as many. */
static inline void talk_pairs(MPI_Comm inter, int count)
{
    int size, rank;
    int *out = malloc((size_t)count * sizeof *out), *in = malloc((size_t)count * sizeof *in);

    MPI_Comm_remote_size(inter, &size);
    MPI_Comm_rank(inter, &rank);
    for (int peer = 0; peer < size; peer++) {
        MPI_Request request;
        MPI_Status status;

        for (int i = 0; i < count; i++)
            out[i] = rank * 1000003 + peer * 7919 + i;
        MPI_Irecv(in, count, MPI_INT, peer, 5, inter, &request);
        CHECK(MPI_Send(out, count, MPI_INT, peer, 5, inter) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && status.MPI_SOURCE == peer);
        for (int i = 0; i < count; i++)
            CHECK(in[i] == peer * 1000003 + rank * 7919 + i);
    }
    free(out);
    free(in);
}

/* All collectives that an intercommunicator has, with what each rank must get. `is_first` differs between the sides. */
static inline void talk_collectives(MPI_Comm inter, int is_first)
{
    int size, other, rank, value, sum = 0, expected = 0, *all, *some;

    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &other);
    MPI_Comm_rank(inter, &rank);
    all = malloc(sizeof(int) * (size_t)(size + other));
    some = malloc(sizeof(int) * (size_t)(size + other));
    for (int i = 0; i < other; i++)
        expected += 10 * i + !is_first;
    value = 10 * rank + is_first;
    CHECK(MPI_Barrier(inter) == MPI_SUCCESS);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == expected);
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < other; i++)
        CHECK(all[i] == 10 * i + !is_first);
    for (int i = 0; i < other; i++)
        some[i] = 100 * rank + i;
    MPI_Alltoall(some, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < other; i++)
        CHECK(all[i] == 100 * i + rank);
    /* rooted: rank 0 of the first side */
    value = is_first ? 77 : 0;
    MPI_Bcast(&value, 1, MPI_INT, is_first ? (rank ? MPI_PROC_NULL : MPI_ROOT) : 0, inter);
    CHECK(value == 77);
    value = 10 * rank + is_first;
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, is_first ? (rank ? MPI_PROC_NULL : MPI_ROOT) : 0, inter);
    for (int i = 0; is_first && !rank && i < other; i++)
        CHECK(all[i] == 10 * i);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, is_first ? (rank ? MPI_PROC_NULL : MPI_ROOT) : 0, inter);
    CHECK(!is_first || rank || sum == expected);
    for (int i = 0; i < other; i++)
        all[i] = 31 * i;
    value = -1;
    MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, is_first ? (rank ? MPI_PROC_NULL : MPI_ROOT) : 0, inter);
    CHECK(is_first || value == 31 * rank);
    free(all);
    free(some);
}

/* Merges, makes communicators out of the result, and talks in them. */
static inline void talk_merged(MPI_Comm inter, int is_first)
{
    int mine, theirs, rank, size, value = 1, sum, result;
    MPI_Comm merged, half, inter_again, copy;
    MPI_Group group, other;

    MPI_Comm_size(inter, &mine);
    MPI_Comm_remote_size(inter, &theirs);
    CHECK(MPI_Intercomm_merge(inter, !is_first, &merged) == MPI_SUCCESS);
    MPI_Comm_size(merged, &size);
    MPI_Comm_rank(merged, &rank);
    CHECK(size == mine + theirs);
    CHECK(is_first ? rank < mine : rank >= theirs);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == size * (size - 1) / 2);
    /* both sides see the same processes */
    MPI_Comm_remote_group(inter, &other);
    MPI_Comm_group(merged, &group);
    for (int i = 0; i < theirs; i++) {
        MPI_Group_translate_ranks(other, 1, &i, group, &result);
        CHECK(result == (is_first ? mine + i : i));
    }
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    /* groups that each have processes of both jobs, where there are enough */
    MPI_Comm_split(merged, rank % 2, 0, &half);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK(sum == (size + 1 - rank % 2) / 2);
    CHECK(MPI_Intercomm_create(half, 0, merged, 1 - rank % 2, 9, &inter_again) == MPI_SUCCESS);
    talk_pairs(inter_again, 3);
    CHECK(MPI_Comm_dup(inter, &copy) == MPI_SUCCESS);
    talk_pairs(copy, 10);
    MPI_Comm_disconnect(&copy);
    MPI_Comm_disconnect(&inter_again);
    MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &copy);
    MPI_Comm_size(copy, &sum);
    CHECK(sum <= mine); /* memory is shared within a job */
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Comm_disconnect(&merged);
}

#endif
