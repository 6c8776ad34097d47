/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup: many under way on one parent and on several, completed in any order, amid other communication; hints
 * come from the info that is given and not from the parent. */
#include "random.h"

enum { COPIES = 12 };

static int rank, size;

static const char *hint(MPI_Comm comm, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag;
    MPI_Info info;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, key, &length, value, &flag);
    CHECK(flag);
    MPI_Info_free(&info);
    return value;
}

static void many(MPI_Comm parents[], int count)
{
    MPI_Comm copies[COPIES];
    MPI_Request requests[COPIES + 1];
    int sum[COPIES], which;

    for (int i = 0; i < COPIES; i++)
        MPI_Comm_idup(parents[i % count], &copies[i], &requests[i]);
    MPI_Iallreduce(&rank, &sum[0], 1, MPI_INT, MPI_SUM, parents[0], &requests[COPIES]);
    for (int i = 0; i <= COPIES; i++)
        MPI_Waitany(COPIES + 1, requests, &which, MPI_STATUS_IGNORE);
    CHECK(sum[0] == size * (size - 1) / 2);
    /* The same message on all of them at once: none may take another's. */
    for (int i = 0; i < COPIES; i++)
        MPI_Irecv(&sum[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copies[i], &requests[i]);
    for (int i = COPIES - 1; i >= 0; i--)
        MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, 0, copies[i]);
    MPI_Waitall(COPIES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COPIES; i++) {
        CHECK(sum[i] == i);
        MPI_Comm_free(&copies[i]);
    }
}

static void hints(void)
{
    MPI_Comm with, without;
    MPI_Request request;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "no_such_hint", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with);
    CHECK(!strcmp(hint(with, "mpi_assert_no_any_tag"), "true"));
    CHECK(!strcmp(hint(with, "mpi_assert_no_any_source"), "false"));
    MPI_Comm_dup(with, &without);
    CHECK(!strcmp(hint(without, "mpi_assert_no_any_tag"), "false"));
    MPI_Comm_set_info(without, info);
    CHECK(!strcmp(hint(without, "mpi_assert_no_any_tag"), "true"));
    MPI_Comm_free(&without);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &without, &request);
    MPI_Info_free(&info);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!strcmp(hint(without, "mpi_assert_no_any_tag"), "true"));
    MPI_Comm_free(&without);
    MPI_Comm_free(&with);
}

int main(int argc, char **argv)
{
    MPI_Comm parents[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    parents[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &parents[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &parents[2]);
    for (int turn = 0; turn < 50; turn++)
        many(parents, 1 + turn % 3);
    hints();
    MPI_Comm_free(&parents[1]);
    MPI_Comm_free(&parents[2]);
    MPI_Finalize();
    return 0;
}
