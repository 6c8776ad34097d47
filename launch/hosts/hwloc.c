/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks hwloc for the machine's parts.
 *
 * The library is loaded only here, so that a job without binding neither needs it nor pays for reading the topology.
 * hwloc's environment variables work (HWLOC_XMLFILE, HWLOC_SYNTHETIC), which is also how this is tested. */
#include "launch/hosts/hosts.h"
#include "launch/hosts/topology.h"

#if MUR_HAS_HWLOC
#include <dlfcn.h>
#include <hwloc.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "launch/alloc.h"

/* hwloc's functions by our names for them; all are found when the library is opened. */
struct hwloc {
    unsigned (*version)(void);
    int (*init)(hwloc_topology_t *topology);
    int (*load)(hwloc_topology_t topology);
    void (*destroy)(hwloc_topology_t topology);
    int (*depth)(hwloc_topology_t topology, hwloc_obj_type_t type);
    unsigned (*count)(hwloc_topology_t topology, int depth);
    hwloc_obj_t (*object)(hwloc_topology_t topology, int depth, unsigned index);
    int (*next)(hwloc_const_bitmap_t set, int previous);
};

static const struct mur_library_function functions[] = {
    {"hwloc_get_api_version", offsetof(struct hwloc, version)},
    {"hwloc_topology_init", offsetof(struct hwloc, init)},
    {"hwloc_topology_load", offsetof(struct hwloc, load)},
    {"hwloc_topology_destroy", offsetof(struct hwloc, destroy)},
    {"hwloc_get_type_depth", offsetof(struct hwloc, depth)},
    {"hwloc_get_nbobjs_by_depth", offsetof(struct hwloc, count)},
    {"hwloc_get_obj_by_depth", offsetof(struct hwloc, object)},
    {"hwloc_bitmap_next", offsetof(struct hwloc, next)},
};

static const hwloc_obj_type_t types[MUR_PART_COUNT] = {
    [MUR_PART_HWTHREAD] = HWLOC_OBJ_PU,     [MUR_PART_CORE] = HWLOC_OBJ_CORE,     [MUR_PART_L1] = HWLOC_OBJ_L1CACHE,
    [MUR_PART_L2] = HWLOC_OBJ_L2CACHE,      [MUR_PART_L3] = HWLOC_OBJ_L3CACHE,    [MUR_PART_L4] = HWLOC_OBJ_L4CACHE,
    [MUR_PART_L5] = HWLOC_OBJ_L5CACHE,      [MUR_PART_NUMA] = HWLOC_OBJ_NUMANODE, [MUR_PART_SOCKET] = HWLOC_OBJ_PACKAGE,
    [MUR_PART_MACHINE] = HWLOC_OBJ_MACHINE,
};

static bool open_library(struct hwloc *hwloc, struct mur_problem *problem)
{
    char name[32];
    const char *const names[] = {name};
    const char *missing;
    void *library;

    snprintf(name, sizeof name, "libhwloc.so.%d", HWLOC_API_VERSION >> 16 >= 2 ? 15 : 5);
    library = mur_library_open(names, 1);
    if (!library)
        return mur_problem_set(problem, "cannot load hwloc's library: %s", dlerror());
    missing = mur_library_find(library, hwloc, functions, sizeof functions / sizeof functions[0]);
    if (missing)
        return mur_problem_set(problem, "%s has no %s, which binding needs", name, missing);
    if (hwloc->version() >> 16 != HWLOC_API_VERSION >> 16)
        return mur_problem_set(problem, "%s has the interface %#x, but %#x is wanted for binding", name,
                               hwloc->version(), HWLOC_API_VERSION);
    return true;
}

/* The CPUs of an object that we may use. */
static cpu_set_t allowed_cpus(const struct hwloc *hwloc, hwloc_obj_t object, const cpu_set_t *mask)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (!object->cpuset)
        return set;
    for (int cpu = hwloc->next(object->cpuset, -1); cpu >= 0 && cpu < CPU_SETSIZE;
         cpu = hwloc->next(object->cpuset, cpu))
        CPU_SET(cpu, &set);
    CPU_AND(&set, &set, mask);
    return set;
}

static void read_part(const struct hwloc *hwloc, hwloc_topology_t machine, struct mur_hardware *topology, int part,
                      const cpu_set_t *mask)
{
    int depth = hwloc->depth(machine, types[part]);
    unsigned count =
        depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE ? 0 : hwloc->count(machine, depth);

    topology->parts[part].sets = mur_alloc(count, sizeof(cpu_set_t));
    for (unsigned i = 0; i < count; i++) {
        cpu_set_t set = allowed_cpus(hwloc, hwloc->object(machine, depth, i), mask);

        if (CPU_COUNT(&set) > 0)
            topology->parts[part].sets[topology->parts[part].count++] = set;
    }
}

bool mur_topology_read_hwloc(struct mur_hardware *topology, const cpu_set_t *mask, struct mur_problem *problem)
{
    struct hwloc hwloc;
    hwloc_topology_t machine;

    if (!open_library(&hwloc, problem))
        return false;
    if (hwloc.init(&machine) < 0)
        return mur_problem_set(problem, "hwloc does not start");
    if (hwloc.load(machine) < 0) {
        hwloc.destroy(machine);
        return mur_problem_set(problem, "hwloc cannot read the machine's topology");
    }
    for (int part = MUR_PART_HWTHREAD; part < MUR_PART_COUNT; part++)
        read_part(&hwloc, machine, topology, part, mask);
    hwloc.destroy(machine);
    return true;
}

#else

bool mur_topology_read_hwloc(struct mur_hardware *topology, const cpu_set_t *mask, struct mur_problem *problem)
{
    (void)topology;
    (void)mask;
    return mur_problem_set(problem, "hwloc was not there when this mpiexec was built");
}
#endif
