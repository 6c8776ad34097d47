/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's parts as hwloc tells them (hwloc.c); where hwloc is not, as Linux does in /sys. */
#include "launch/hosts/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/machine.h"
#include "launch/alloc.h"
#include "launch/hosts/hosts.h"

static const char *const part_names[MUR_PART_COUNT] = {
    [MUR_PART_NONE] = "none",     [MUR_PART_HWTHREAD] = "hwthread", [MUR_PART_CORE] = "core",
    [MUR_PART_L1] = "l1cache",    [MUR_PART_L2] = "l2cache",        [MUR_PART_L3] = "l3cache",
    [MUR_PART_L4] = "l4cache",    [MUR_PART_L5] = "l5cache",        [MUR_PART_NUMA] = "numa",
    [MUR_PART_SOCKET] = "socket", [MUR_PART_MACHINE] = "machine",
};

static const struct {
    const char *name;
    enum mur_part part;
} other_names[] = {
    {"l1", MUR_PART_L1},          {"l2", MUR_PART_L2},         {"l3", MUR_PART_L3},        {"l4", MUR_PART_L4},
    {"l5", MUR_PART_L5},          {"pu", MUR_PART_HWTHREAD},   {"cpu", MUR_PART_HWTHREAD}, {"package", MUR_PART_SOCKET},
    {"node", MUR_PART_MACHINE},   {"board", MUR_PART_MACHINE}, {"host", MUR_PART_MACHINE}, {"numanode", MUR_PART_NUMA},
    {"sockets", MUR_PART_SOCKET}, {"cores", MUR_PART_CORE},
};

const char *mur_part_name(enum mur_part part)
{
    return part_names[part];
}

enum mur_part mur_part_read(const char *text, int length)
{
    for (int part = 0; part < MUR_PART_COUNT; part++)
        if ((int)strlen(part_names[part]) == length && strncasecmp(text, part_names[part], (size_t)length) == 0)
            return (enum mur_part)part;
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++)
        if ((int)strlen(other_names[i].name) == length && strncasecmp(text, other_names[i].name, (size_t)length) == 0)
            return other_names[i].part;
    return MUR_PART_COUNT;
}

void mur_topology_free(struct mur_hardware *topology)
{
    for (int part = 0; part < MUR_PART_COUNT; part++)
        free(topology->parts[part].sets);
    *topology = (struct mur_hardware){0};
}

/* ---- /sys ---- */

/* Collects the CPUs of each instance from the CPUs that name it. */
static void read_part(struct mur_hardware *topology, enum mur_part part, enum mur_level level, const cpu_set_t *mask)
{
    int count = mur_machine_instances(level);
    cpu_set_t *sets = mur_alloc((size_t)count, sizeof *sets);

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t one;
        int instance;

        if (!CPU_ISSET(cpu, mask))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        instance = mur_machine_instance_of(level, &one);
        if (instance >= 0)
            CPU_SET(cpu, &sets[instance]);
    }
    topology->parts[part].sets = sets;
    for (int i = 0; i < count; i++)
        if (CPU_COUNT(&sets[i]) > 0)
            sets[topology->parts[part].count++] = sets[i];
}

void mur_topology_read_sys(struct mur_hardware *topology, const cpu_set_t *mask)
{
    read_part(topology, MUR_PART_HWTHREAD, MUR_LEVEL_PU, mask);
    read_part(topology, MUR_PART_CORE, MUR_LEVEL_CORE, mask);
    read_part(topology, MUR_PART_L1, MUR_LEVEL_L1_CACHE, mask);
    read_part(topology, MUR_PART_L2, MUR_LEVEL_L2_CACHE, mask);
    read_part(topology, MUR_PART_L3, MUR_LEVEL_L3_CACHE, mask);
    read_part(topology, MUR_PART_NUMA, MUR_LEVEL_NUMA_NODE, mask);
    read_part(topology, MUR_PART_SOCKET, MUR_LEVEL_PACKAGE, mask);
    topology->parts[MUR_PART_MACHINE].sets = mur_alloc(1, sizeof(cpu_set_t));
    topology->parts[MUR_PART_MACHINE].sets[0] = *mask;
    topology->parts[MUR_PART_MACHINE].count = 1;
}

bool mur_topology_load(struct mur_hardware *topology, struct mur_problem *problem)
{
    struct mur_problem missing; /* of hwloc; then /sys must do */
    cpu_set_t mask;

    *topology = (struct mur_hardware){0};
    if (sched_getaffinity(0, sizeof mask, &mask) < 0)
        return mur_problem_set(problem, "binding knows machines of up to %d CPUs only", CPU_SETSIZE);
    if (!mur_topology_read_hwloc(topology, &mask, &missing))
        mur_topology_read_sys(topology, &mask);
    if (topology->parts[MUR_PART_HWTHREAD].count == 0)
        return mur_problem_set(problem, "neither hwloc nor /sys names a CPU that this process may use");
    return true;
}
