/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks hwloc for the machine's parts.
 *
 * The library is loaded only here, so that a job without binding neither needs it nor pays for reading the topology.
 * hwloc's environment variables work (HWLOC_XMLFILE, HWLOC_SYNTHETIC), which is also how this is tested. */
#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"
#include "hosts.h"

static const char *const level_names[MUR_LEVEL_COUNT] = {
    [MUR_LEVEL_NONE] = "none",     [MUR_LEVEL_HWTHREAD] = "hwthread", [MUR_LEVEL_CORE] = "core",
    [MUR_LEVEL_L1] = "l1cache",    [MUR_LEVEL_L2] = "l2cache",        [MUR_LEVEL_L3] = "l3cache",
    [MUR_LEVEL_L4] = "l4cache",    [MUR_LEVEL_L5] = "l5cache",        [MUR_LEVEL_NUMA] = "numa",
    [MUR_LEVEL_SOCKET] = "socket", [MUR_LEVEL_MACHINE] = "machine",
};

static const struct {
    const char *name;
    enum mur_level level;
} other_names[] = {
    {"l1", MUR_LEVEL_L1},          {"l2", MUR_LEVEL_L2},          {"l3", MUR_LEVEL_L3},
    {"l4", MUR_LEVEL_L4},          {"l5", MUR_LEVEL_L5},          {"pu", MUR_LEVEL_HWTHREAD},
    {"cpu", MUR_LEVEL_HWTHREAD},   {"package", MUR_LEVEL_SOCKET}, {"node", MUR_LEVEL_MACHINE},
    {"board", MUR_LEVEL_MACHINE},  {"host", MUR_LEVEL_MACHINE},   {"numanode", MUR_LEVEL_NUMA},
    {"sockets", MUR_LEVEL_SOCKET}, {"cores", MUR_LEVEL_CORE},
};

const char *mur_level_name(enum mur_level level)
{
    return level_names[level];
}

enum mur_level mur_level_read(const char *text, int length)
{
    for (int level = 0; level < MUR_LEVEL_COUNT; level++)
        if ((int)strlen(level_names[level]) == length && strncasecmp(text, level_names[level], (size_t)length) == 0)
            return (enum mur_level)level;
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++)
        if ((int)strlen(other_names[i].name) == length && strncasecmp(text, other_names[i].name, (size_t)length) == 0)
            return other_names[i].level;
    return MUR_LEVEL_COUNT;
}

void mur_topology_free(struct mur_topology *topology)
{
    for (int level = 0; level < MUR_LEVEL_COUNT; level++)
        free(topology->levels[level].sets);
    *topology = (struct mur_topology){0};
}

#if MUR_HAS_HWLOC
#include <dlfcn.h>
#include <hwloc.h>

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

static const struct {
    const char *name;
    size_t offset; /* in struct hwloc */
} functions[] = {
    {"hwloc_get_api_version", offsetof(struct hwloc, version)},
    {"hwloc_topology_init", offsetof(struct hwloc, init)},
    {"hwloc_topology_load", offsetof(struct hwloc, load)},
    {"hwloc_topology_destroy", offsetof(struct hwloc, destroy)},
    {"hwloc_get_type_depth", offsetof(struct hwloc, depth)},
    {"hwloc_get_nbobjs_by_depth", offsetof(struct hwloc, count)},
    {"hwloc_get_obj_by_depth", offsetof(struct hwloc, object)},
    {"hwloc_bitmap_next", offsetof(struct hwloc, next)},
};

static const hwloc_obj_type_t types[MUR_LEVEL_COUNT] = {
    [MUR_LEVEL_HWTHREAD] = HWLOC_OBJ_PU,    [MUR_LEVEL_CORE] = HWLOC_OBJ_CORE,
    [MUR_LEVEL_L1] = HWLOC_OBJ_L1CACHE,     [MUR_LEVEL_L2] = HWLOC_OBJ_L2CACHE,
    [MUR_LEVEL_L3] = HWLOC_OBJ_L3CACHE,     [MUR_LEVEL_L4] = HWLOC_OBJ_L4CACHE,
    [MUR_LEVEL_L5] = HWLOC_OBJ_L5CACHE,     [MUR_LEVEL_NUMA] = HWLOC_OBJ_NUMANODE,
    [MUR_LEVEL_SOCKET] = HWLOC_OBJ_PACKAGE, [MUR_LEVEL_MACHINE] = HWLOC_OBJ_MACHINE,
};

static bool open_library(struct hwloc *hwloc, struct mur_problem *problem)
{
    char name[32];
    void *library;

    snprintf(name, sizeof name, "libhwloc.so.%d", HWLOC_API_VERSION >> 16 >= 2 ? 15 : 5);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mur_problem_set(problem, "binding needs hwloc's library, which cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (!function)
            return mur_problem_set(problem, "%s has no %s, which binding needs", name, functions[i].name);
        memcpy((char *)hwloc + functions[i].offset, &function, sizeof function);
    }
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

static void read_level(const struct hwloc *hwloc, hwloc_topology_t machine, struct mur_topology *topology, int level,
                       const cpu_set_t *mask)
{
    int depth = hwloc->depth(machine, types[level]);
    unsigned count =
        depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE ? 0 : hwloc->count(machine, depth);

    topology->levels[level].sets = mur_alloc(count, sizeof(cpu_set_t));
    for (unsigned i = 0; i < count; i++) {
        cpu_set_t set = allowed_cpus(hwloc, hwloc->object(machine, depth, i), mask);

        if (CPU_COUNT(&set) > 0)
            topology->levels[level].sets[topology->levels[level].count++] = set;
    }
}

bool mur_topology_load(struct mur_topology *topology, struct mur_problem *problem)
{
    struct hwloc hwloc;
    hwloc_topology_t machine;
    cpu_set_t mask;

    *topology = (struct mur_topology){0};
    if (sched_getaffinity(0, sizeof mask, &mask) < 0)
        return mur_problem_set(problem, "binding knows machines of up to %d CPUs only", CPU_SETSIZE);
    if (!open_library(&hwloc, problem))
        return false;
    if (hwloc.init(&machine) < 0)
        return mur_problem_set(problem, "hwloc does not start");
    if (hwloc.load(machine) < 0) {
        hwloc.destroy(machine);
        return mur_problem_set(problem, "hwloc cannot read the machine's topology");
    }
    for (int level = MUR_LEVEL_HWTHREAD; level < MUR_LEVEL_COUNT; level++)
        read_level(&hwloc, machine, topology, level, &mask);
    hwloc.destroy(machine);
    if (topology->levels[MUR_LEVEL_HWTHREAD].count == 0)
        return mur_problem_set(problem, "hwloc names none of the CPUs that this process may use");
    return true;
}

#else

bool mur_topology_load(struct mur_topology *topology, struct mur_problem *problem)
{
    *topology = (struct mur_topology){0};
    return mur_problem_set(problem, "this mpiexec was built without hwloc, which binding needs: install hwloc.h "
                                    "(libhwloc-dev) and build again");
}
#endif
