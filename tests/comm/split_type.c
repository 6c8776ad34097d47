/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type: by node, by named and by the next level of the machine, by sets of processes, with ranks that
 * stay out, keys, and what is unknown or asked for differently. */
#define _GNU_SOURCE
#include <sched.h>

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
    nothing();
    by_core();
    MPI_Finalize();
    return 0;
}
