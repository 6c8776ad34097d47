/* SPDX-License-Identifier: BSD-3-Clause */
/* Binding by itself, on made-up machines: the CPUs of each rank by hand; and hwloc's view of one it makes up. */

#include <unistd.h>

#include "environment.h"
#include "launch/alloc.h"
#include "launch/hosts/binding.h"
#include "launch/hosts/hosts.h"
#include "launch/options/options.h"

/* Two sockets, three cores each, two threads a core: core c has the CPUs c and c + 6. The first two cores of a socket
 * share an L2 cache, the third has one for itself. */
static struct mur_hardware machine;

static void add_set(enum mur_part part, const char *cpus)
{
    struct mur_binding_request request = {0};
    struct mur_problem problem;
    char *text = mur_alloc_text("user:%s", cpus);

    CHECK(mur_binding_read(&request, text, &problem));
    machine.parts[part].sets = mur_alloc_again(machine.parts[part].sets, (size_t)machine.parts[part].count + 1,
                                               sizeof *machine.parts[part].sets);
    machine.parts[part].sets[machine.parts[part].count++] = request.list[0];
}

static void make_machine(void)
{
    static const char *const threads[] = {"0", "6", "1", "7", "2", "8", "3", "9", "4", "10", "5", "11"};
    static const char *const cores[] = {"0+6", "1+7", "2+8", "3+9", "4+10", "5+11"};
    static const char *const caches[] = {"0-1+6-7", "2+8", "3-4+9-10", "5+11"};
    static const char *const sockets[] = {"0-2+6-8", "3-5+9-11"};

    for (int i = 0; i < 12; i++)
        add_set(MUR_PART_HWTHREAD, threads[i]);
    for (int i = 0; i < 6; i++)
        add_set(MUR_PART_CORE, cores[i]);
    for (int i = 0; i < 4; i++)
        add_set(MUR_PART_L2, caches[i]);
    for (int i = 0; i < 2; i++)
        add_set(MUR_PART_SOCKET, sockets[i]);
    add_set(MUR_PART_MACHINE, "0-11");
}

/* Parses options and compares the CPUs of the first ranks: "0,6 1,7 -" where '-' is not bound. */
static void check(const char *options, const char *expected)
{
    char *words = mur_alloc_text("mpiexec %s p", options);
    char **argv = mur_alloc(strlen(words) + 2, sizeof *argv);
    char seen[1024] = "";
    char error[256] = "";
    struct mur_jobspec job;
    int ranks = 1;
    int count = 0;

    for (const char *c = expected; *c; c++)
        ranks += *c == ' ';
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[count++] = word;
    if (mur_options_parse(argv, &job, error, sizeof error)) {
        fprintf(stderr, "'%s': %s\n", options, error);
        failures++;
        return;
    }
    for (int rank = 0; rank < ranks; rank++) {
        char text[256];
        cpu_set_t set;
        bool is_bound = mur_binding_choose(&machine, &job.binding, rank, &set);

        if (rank)
            strcat(seen, " ");
        strcat(seen, is_bound ? mur_binding_text(&set, text, sizeof text) : "-");
    }
    if (strcmp(seen, expected) != 0) {
        fprintf(stderr, "'%s': expected '%s', saw '%s'\n", options, expected, seen);
        failures++;
    }
}

static void test_choices(void)
{
    check("", "- -");
    check("-bind-to none", "- -");
    check("-map-by core", "- -");
    check("-bind-to core", "0,6 1,7 2,8 3,9 4,10 5,11 0,6");
    check("-bind-to-core", "0,6 1,7");
    check("-bind-to hwthread", "0 6 1 7 2 8 3 9 4 10 5 11 0");
    check("-bind-to socket", "0-2,6-8 3-5,9-11 0-2,6-8");
    check("-bind-to l2cache", "0-1,6-7 2,8 3-4,9-10 5,11 0-1,6-7");
    check("-bind-to machine", "0-11 0-11");
    check("-bind-to core:2", "0-1,6-7 2-3,8-9 4-5,10-11 0-1,6-7");
    check("-bind-to core:4", "0-3,6-9 0-1,4-7,10-11 2-5,8-11");
    check("-bind-to core:99", "0-11 0-11");
    check("-bind-to core:overload-allowed", "0,6 1,7");
    check("-map-by socket -bind-to core", "0,6 3,9 1,7 4,10 2,8 5,11 0,6");
    check("-map-by socket -bind-to core:2", "0-1,6-7 3-4,9-10 0,2,6,8 3,5,9,11");
    check("-map-by socket -bind-to hwthread", "0 3 6 9 1 4");
    check("-map-by core -bind-to hwthread", "0 1 2 3 4 5 6 7 8 9 10 11 0");
    check("-map-by core -bind-to socket", "0-2,6-8 0-2,6-8 0-2,6-8 3-5,9-11 3-5,9-11 3-5,9-11 0-2,6-8");
    check("-map-by l2cache -bind-to core", "0,6 2,8 3,9 5,11 1,7 2,8 4,10 5,11");
    check("-map-by node -bind-to core", "0,6 1,7");
    check("-map-by slot -bind-to socket", "0-2,6-8 3-5,9-11");
    check("-map-by slot:PE=2", "0-1,6-7 2-3,8-9");
    check("-map-by socket:PE=3", "0-2,6-8 3-5,9-11");
    check("-map-by socket:PE=2,HWTCPUS", "0,6 3,9 1,7 4,10");
    check("-map-by slot:PE=2 -bind-to none", "- -");
    check("-bind-to none -cpus-per-rank 2", "- -");
    check("-cpus-per-proc 2", "0-1,6-7 2-3,8-9");
    check("-map-by ppr:2:socket -bind-to core", "0,6 1,7 3,9 4,10");
    check("-map-by ppr:2:node -bind-to core", "0,6 1,7");
    check("-npersocket 1 -bind-to socket", "0-2,6-8 3-5,9-11");
    check("-bind-to user:3,1+2,4-6", "3 1-2 4-6 3");
}

/* A machine without sockets or NUMA nodes is one of each; CPUs outside the mask are in no set. */
static void test_missing(void)
{
    machine = (struct mur_hardware){0};
    add_set(MUR_PART_HWTHREAD, "2");
    add_set(MUR_PART_HWTHREAD, "5");
    add_set(MUR_PART_MACHINE, "2+5");
    check("-bind-to core", "2 5 2");
    check("-bind-to socket", "2,5 2,5");
    check("-bind-to numa", "2,5");
    check("-map-by socket -bind-to core", "2 5");
    check("-bind-to l3cache", "- -");
}

static void test_bad(void)
{
    static const char *const bad[] = {"",          "cores",        "core:",  "core:0",   "core:x",
                                      "user:",     "user:1,",      "user:x", "user:3-1", "user:1++2",
                                      "user:1024", "user:0-99999", "slot",   "ppr"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mur_binding_request request = {0};
        struct mur_problem problem = {""};
        bool is_good = mur_binding_read(&request, bad[i], &problem);

        if (strcmp(bad[i], "cores") == 0)
            CHECK(is_good);
        else
            CHECK(!is_good && problem.text[0]);
    }
}

/* Random requests: sets are never empty, and lie within the machine and, below it, within the object mapped to. */
static void test_random(void)
{
    for (int round = 0; round < 20000; round++) {
        struct mur_binding_request request = {.bind = below(MUR_PART_COUNT),
                                              .map = below(MUR_PART_COUNT),
                                              .width = (int)below(5),
                                              .block = (int)below(4)};
        cpu_set_t set;
        cpu_set_t common;

        if (!mur_binding_choose(&machine, &request, (int)below(1000), &set))
            continue;
        CPU_AND(&common, &set, &machine.parts[MUR_PART_MACHINE].sets[0]);
        CHECK(CPU_COUNT(&set) > 0 && CPU_EQUAL(&common, &set));
    }
}

/* What /sys says holds together: the parts of a kind are disjoint, and all cores together are all CPUs. */
static void test_sys(void)
{
    struct mur_hardware topology = {0};
    cpu_set_t mask;

    if (access("/sys/devices/system/cpu", F_OK)) {
        puts("NOT TESTED: /sys, which is not there");
        return;
    }
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    mur_topology_read_sys(&topology, &mask);
    CHECK(topology.parts[MUR_PART_HWTHREAD].count == CPU_COUNT(&mask));
    for (int part = MUR_PART_HWTHREAD; part < MUR_PART_COUNT; part++) {
        int cpus = 0;

        for (int i = 0; i < topology.parts[part].count; i++)
            cpus += CPU_COUNT(&topology.parts[part].sets[i]);
        CHECK(cpus <= CPU_COUNT(&mask) && (part != MUR_PART_CORE || cpus == 0 || cpus == CPU_COUNT(&mask)));
    }
    mur_topology_free(&topology);
}

/* hwloc makes up machines from a text; their CPUs are numbered in order, and those beyond our mask fall away. */
static int test_hwloc(void)
{
    struct mur_hardware topology;
    struct mur_problem problem;
    cpu_set_t mask;
    cpu_set_t first;

    if (sched_getaffinity(0, sizeof mask, &mask) < 0 || !CPU_ISSET(0, &mask) || !CPU_ISSET(1, &mask)) {
        printf("skipped: hwloc's part needs the CPUs 0 and 1\n");
        return 77;
    }
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    CPU_SET(1, &first);
    CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
    setenv("HWLOC_SYNTHETIC", "pack:2 numa:1 core:1 pu:1", 1);
    topology = (struct mur_hardware){0};
    if (!mur_topology_read_hwloc(&topology, &first, &problem)) {
        CHECK(mur_topology_load(&topology, &problem)); /* from /sys */
        printf("skipped: %s\n", problem.text);
        return 77;
    }
    mur_topology_free(&topology);
    CHECK(mur_topology_load(&topology, &problem));
    CHECK(topology.parts[MUR_PART_SOCKET].count == 2 && topology.parts[MUR_PART_NUMA].count == 2);
    CHECK(topology.parts[MUR_PART_CORE].count == 2 && topology.parts[MUR_PART_HWTHREAD].count == 2);
    CHECK(CPU_ISSET(1, &topology.parts[MUR_PART_SOCKET].sets[1]));
    mur_topology_free(&topology);
    setenv("HWLOC_SYNTHETIC", "pack:4 l3:1 core:4 pu:2", 1);
    CHECK(mur_topology_load(&topology, &problem));
    CHECK(topology.parts[MUR_PART_SOCKET].count == 1 && topology.parts[MUR_PART_CORE].count == 1);
    CHECK(topology.parts[MUR_PART_L3].count == 1 && topology.parts[MUR_PART_L2].count == 0);
    CHECK(CPU_EQUAL(&topology.parts[MUR_PART_CORE].sets[0], &first));
    mur_topology_free(&topology);
    unsetenv("HWLOC_SYNTHETIC");
    CHECK(mur_topology_load(&topology, &problem)); /* the machine that we are on */
    CHECK(topology.parts[MUR_PART_HWTHREAD].count == 2);
    mur_topology_free(&topology);
    return 0;
}

int main(void)
{
    int rc;

    clear_environment();
    make_machine();
    test_choices();
    test_bad();
    unit_start();
    test_random();
    test_missing();
    test_sys();
    rc = test_hwloc();
    return unit_end() ? 1 : rc;
}
