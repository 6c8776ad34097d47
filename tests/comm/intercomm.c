/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: made from random halves with random leaders, through a communicator on which user messages are
 * under way; sizes, groups, compare, point-to-point, dup, split, create, merge in both orders; misuse gives its error
 * class. */
#include "random.h"

static int rank, size;

/* Random halves of the world, both with at least one rank; those of side 0 in reverse order. */
static MPI_Comm halve(int side[], MPI_Comm *local, int counts[2])
{
    int leaders[2], local_rank;
    MPI_Comm inter;

    do {
        counts[0] = counts[1] = 0;
        for (int i = 0; i < size; i++)
            counts[side[i] = random_below(2)]++;
    } while (!counts[0] || !counts[1]);
    leaders[0] = random_below(counts[0]);
    leaders[1] = random_below(counts[1]);
    MPI_Comm_split(MPI_COMM_WORLD, side[rank], side[rank] ? rank : -rank, local);
    MPI_Comm_rank(*local, &local_rank);
    int world_leaders[2] = {-1, -1}, mine[2] = {-1, -1};
    if (local_rank == leaders[side[rank]])
        mine[side[rank]] = rank;
    MPI_Allreduce(mine, world_leaders, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(MPI_Intercomm_create(*local, leaders[side[rank]],
                               local_rank == leaders[side[rank]] ? MPI_COMM_WORLD : MPI_COMM_NULL,
                               world_leaders[!side[rank]], 5, &inter) == MPI_SUCCESS);
    return inter;
}

static int world_rank_of(const int side[], int which, int position, int count)
{
    for (int i = 0, seen = 0; i < size; i++)
        if (side[i] == which && seen++ == (which ? position : count - 1 - position))
            return i;
    return -1;
}

/* Each rank sends its world rank to all of the other side, with wildcards at the receivers. */
static void exchange(MPI_Comm inter, const int side[], const int counts[2])
{
    int other = !side[rank];
    MPI_Request requests[64];
    MPI_Status status;

    for (int i = 0; i < counts[other]; i++)
        MPI_Isend(&rank, 1, MPI_INT, i, 9, inter, &requests[i]);
    for (int i = 0; i < counts[other]; i++) {
        int got;

        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 9, inter, &status);
        CHECK(got == world_rank_of(side, other, status.MPI_SOURCE, counts[other]));
    }
    MPI_Waitall(counts[other], requests, MPI_STATUSES_IGNORE);
}

static void queries(MPI_Comm inter, MPI_Comm local, const int side[], const int counts[2])
{
    int flag, got, result;
    MPI_Group mine, theirs, own;
    MPI_Comm copy;

    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    MPI_Comm_test_inter(local, &flag);
    CHECK(!flag);
    MPI_Comm_size(inter, &got);
    CHECK(got == counts[side[rank]]);
    MPI_Comm_remote_size(inter, &got);
    CHECK(got == counts[!side[rank]]);
    MPI_Comm_rank(inter, &got);
    CHECK(world_rank_of(side, side[rank], got, counts[side[rank]]) == rank);
    MPI_Comm_group(inter, &mine);
    MPI_Comm_group(local, &own);
    MPI_Comm_remote_group(inter, &theirs);
    MPI_Group_compare(mine, own, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_size(theirs, &got);
    CHECK(got == counts[!side[rank]]);
    MPI_Group_free(&mine);
    MPI_Group_free(&own);
    MPI_Group_free(&theirs);
    MPI_Comm_compare(inter, local, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_compare(inter, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(inter, inter, &result);
    CHECK(result == MPI_IDENT);
    exchange(copy, side, counts);
    MPI_Comm_disconnect(&copy);
    CHECK(copy == MPI_COMM_NULL);
}

static void merge(MPI_Comm inter, const int side[], const int counts[2])
{
    for (int first = 0; first < 3; first++) { /* 2: both say the same */
        int high = first == 2 ? 1 : side[rank] != first, got, inter_rank, sum, first_side;
        MPI_Comm merged;

        CHECK(MPI_Intercomm_merge(inter, high, &merged) == MPI_SUCCESS);
        MPI_Comm_size(merged, &got);
        CHECK(got == size);
        MPI_Comm_rank(merged, &got);
        MPI_Comm_rank(inter, &inter_rank);
        first_side = first < 2 ? first : (got < counts[side[rank]] && got == inter_rank) ? side[rank] : !side[rank];
        CHECK(got == inter_rank + (side[rank] == first_side ? 0 : counts[!side[rank]]));
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
        CHECK(sum == size * (size - 1) / 2);
        MPI_Comm_free(&merged);
    }
}

/* Parts by random colours: there is one where both sides have the colour. */
static void split(MPI_Comm inter, const int side[])
{
    int colors[64] = {0}, there[2] = {0, 0}, got;
    MPI_Comm part;

    for (int i = 0; i < size; i++)
        colors[i] = random_below(4) ? random_below(2) : MPI_UNDEFINED;
    for (int i = 0; i < size; i++)
        if (colors[i] == colors[rank])
            there[side[i]]++;
    MPI_Comm_split(inter, colors[rank], -rank, &part);
    if (colors[rank] == MPI_UNDEFINED || !there[0] || !there[1]) {
        CHECK(part == MPI_COMM_NULL);
        return;
    }
    MPI_Comm_size(part, &got);
    CHECK(got == there[side[rank]]);
    MPI_Comm_remote_size(part, &got);
    CHECK(got == there[!side[rank]]);
    MPI_Barrier(part);
    MPI_Comm_free(&part);
}

/* A communicator of the first rank of my side and all of the other: each side passes its own group. */
static void create(MPI_Comm inter, const int side[], const int counts[2])
{
    int first[1] = {0}, got, inter_rank;
    MPI_Group all, group;
    MPI_Comm part;

    MPI_Comm_group(inter, &all);
    MPI_Comm_rank(inter, &inter_rank);
    if (side[rank])
        MPI_Group_incl(all, 1, first, &group);
    else
        group = all;
    MPI_Comm_create(inter, group, &part);
    if (side[rank] && inter_rank) {
        CHECK(part == MPI_COMM_NULL);
    } else {
        MPI_Comm_remote_size(part, &got);
        CHECK(got == (side[rank] ? counts[0] : 1));
        MPI_Comm_free(&part);
    }
    if (side[rank])
        MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void misuse(MPI_Comm inter, MPI_Comm local)
{
    int value = 0, result;
    MPI_Comm made;
    MPI_Group group;

    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Scan(&value, &result, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, 1000, inter)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, MPI_ROOT, local)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Comm_remote_size(local, &value)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_remote_group(local, &group)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_merge(local, 0, &made)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_create(local, -1, MPI_COMM_WORLD, 0, 0, &made)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made)) == MPI_ERR_COMM);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int turn = 0; turn < 30 && size > 1; turn++) {
        int side[64], counts[2], pending, answer = -1;
        MPI_Comm local, inter;
        MPI_Request request;

        /* a message of the user's on the communicator and tag where the leaders meet */
        MPI_Irecv(&pending, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        inter = halve(side, &local, counts);
        MPI_Send(&turn, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(pending == turn);
        exchange(inter, side, counts);
        queries(inter, local, side, counts);
        merge(inter, side, counts);
        split(inter, side);
        create(inter, side, counts);
        misuse(inter, local);
        MPI_Allreduce(&rank, &answer, 1, MPI_INT, MPI_MIN, inter);
        CHECK(side[answer] != side[rank]);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
