/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type: by node, by named and by the next level of the machine, by sets of processes, with ranks that
 * stay out, keys, and what is unknown or asked for differently. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "test.h"

static int rank, size;

static int split(int type, int key, const char *name, const char *value, MPI_Comm *part)
{
    MPI_Info info = MPI_INFO_NULL;
    int rc;

    if (name) {
        MPI_Info_create(&info);
        MPI_Info_set(info, name, value);
    }
    rc = MPI_Comm_split_type(MPI_COMM_WORLD, type, key, info, part);
    if (name)
        MPI_Info_free(&info);
    return rc;
}

static void expect_all(MPI_Comm *part, int wanted_rank)
{
    int got;

    CHECK(*part != MPI_COMM_NULL);
    MPI_Comm_size(*part, &got);
    CHECK(got == size);
    MPI_Comm_rank(*part, &got);
    CHECK(got == wanted_rank);
    MPI_Comm_free(part);
}

static void by_node(void)
{
    MPI_Comm part;
    int got;

    split(MPI_COMM_TYPE_SHARED, -rank, NULL, NULL, &part);
    expect_all(&part, size - 1 - rank);
    split(rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0, NULL, NULL, &part);
    CHECK((part == MPI_COMM_NULL) == !rank);
    if (rank) {
        MPI_Comm_size(part, &got);
        CHECK(got == size - 1);
        MPI_Comm_free(&part);
    }
    split(MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_hw_resource_type", "mpi_shared_memory", &part);
    expect_all(&part, rank);
    split(MPI_COMM_TYPE_RESOURCE_GUIDED, 0, "mpi_pset_name", "mpi://WORLD", &part);
    expect_all(&part, rank);
    split(MPI_COMM_TYPE_RESOURCE_GUIDED, 0, "mpi_pset_name", "mpi://SELF", &part);
    MPI_Comm_size(part, &got);
    CHECK(got == 1);
    MPI_Comm_free(&part);
}

/* Of an intercommunicator: the ranks of both groups that have something in common. `ours` and `theirs` are the expected
 * sizes, 0 for no part. */
static void expect_between(MPI_Comm part, int ours, int theirs)
{
    int is_inter, got, sum, one = 1;

    CHECK((part == MPI_COMM_NULL) == !(ours && theirs));
    if (part == MPI_COMM_NULL)
        return;
    MPI_Comm_test_inter(part, &is_inter);
    CHECK(is_inter);
    MPI_Comm_size(part, &got);
    CHECK(got == ours);
    MPI_Comm_remote_size(part, &got);
    CHECK(got == theirs);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
    CHECK(sum == theirs);
    MPI_Comm_free(&part);
}

static void between(void)
{
    int side = rank % 2, ours = (size + 1 - side) / 2, theirs = size - ours, is_alone;
    MPI_Comm half, both, part;
    MPI_Info info;

    if (size == 1)
        return;
    split(MPI_COMM_TYPE_SHARED, 0, NULL, NULL, &part);
    MPI_Comm_size(part, &is_alone);
    is_alone = is_alone < size; /* without shared memory each is a node of its own */
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
    MPI_Comm_split_type(both, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &part);
    expect_between(part, is_alone ? 0 : ours, theirs);
    MPI_Comm_split_type(both, side ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_split_type(both, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part);
    expect_between(part, ours, theirs);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    MPI_Comm_split_type(both, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_free(&info);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void nothing(void)
{
    MPI_Comm part;

    split(MPI_COMM_TYPE_HW_GUIDED, 0, NULL, NULL, &part);
    CHECK(part == MPI_COMM_NULL);
    split(MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_hw_resource_type", "hwloc://NoSuchThing", &part);
    CHECK(part == MPI_COMM_NULL);
    split(MPI_COMM_TYPE_RESOURCE_GUIDED, 0, "mpi_pset_name", "no://such.set", &part);
    CHECK(part == MPI_COMM_NULL);
    if (size > 1) {
        split(MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_hw_resource_type", rank ? "hwloc://PU" : "mpi_shared_memory", &part);
        CHECK(part == MPI_COMM_NULL);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(split(12345, 0, NULL, NULL, &part) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Ranks bound to one processor each, in turns. */
static void by_core(void)
{
    cpu_set_t before, one;
    int cpus[CPU_SETSIZE], count = 0, mine, least, most, length = 64, flag;
    char value[64];
    MPI_Info info;
    MPI_Comm part;

    if (access("/sys/devices/system/cpu", F_OK)) {
        puts("NOT TESTED: parts of the machine, since /sys is not there");
        return;
    }
    sched_getaffinity(0, sizeof before, &before);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before))
            cpus[count++] = cpu;
    mine = rank % count;
    CPU_ZERO(&one);
    CPU_SET(cpus[mine], &one);
    sched_setaffinity(0, sizeof one, &one);
    split(MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_hw_resource_type", "hwloc://PU", &part);
    CHECK(part != MPI_COMM_NULL);
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, part);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, part);
    CHECK(least == mine && most == mine);
    MPI_Comm_free(&part);

    MPI_Info_create(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
    MPI_Info_get_string(info, "mpi_hw_resource_type", &length, value, &flag);
    CHECK((part != MPI_COMM_NULL) == (size > 1 && count > 1) && (!flag || !strncmp(value, "hwloc://", 8)));
    if (part != MPI_COMM_NULL) {
        int got;

        MPI_Comm_size(part, &got);
        CHECK(flag && got < size);
        MPI_Comm_free(&part);
    }
    MPI_Info_free(&info);
    sched_setaffinity(0, sizeof before, &before);
    split(MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_hw_resource_type", "hwloc://PU", &part);
    CHECK((part == MPI_COMM_NULL) == (count > 1)); /* confined to none */
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    by_node();
    between();
    nothing();
    by_core();
    MPI_Finalize();
    return 0;
}
