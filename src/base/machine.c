/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading /sys/devices/system: each processor names the processors that it shares a core, a cache or a package with,
 * and each memory node lists its own. An instance is known by its set of processors, so the same set read twice is one.
 */
#define _GNU_SOURCE
#include "base/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mur_level_names[MUR_LEVELS] = {
    [MUR_LEVEL_PACKAGE] = "Package",
    [MUR_LEVEL_NUMA_NODE] = "NUMANode",
    [MUR_LEVEL_L3_CACHE] = "L3Cache",
    [MUR_LEVEL_L2_CACHE] = "L2Cache",
    [MUR_LEVEL_L1_CACHE] = "L1Cache",
    [MUR_LEVEL_CORE] = "Core",
    [MUR_LEVEL_PU] = "PU",
};

static struct {
    cpu_set_t *sets;
    int count, capacity;
} levels[MUR_LEVELS];

static bool read_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, (int)bytes, file);

    if (file)
        fclose(file);
    return is_read;
}

/* "0-3,8,10-11" */
static void parse_list(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;

        if (end == text)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, set);
        text = *end == ',' ? end + 1 : end;
        if (*text == '\n')
            return;
    }
}

static void add(enum mur_level level, const cpu_set_t *set)
{
    for (int i = 0; i < levels[level].count; i++)
        if (CPU_EQUAL(&levels[level].sets[i], set))
            return;
    if (levels[level].count == levels[level].capacity) {
        int capacity = levels[level].capacity ? 2 * levels[level].capacity : 8;
        cpu_set_t *sets = realloc(levels[level].sets, (size_t)capacity * sizeof *sets);

        if (!sets)
            return; /* a picture with less in it is still one */
        levels[level].sets = sets;
        levels[level].capacity = capacity;
    }
    levels[level].sets[levels[level].count++] = *set;
}

static bool add_file(enum mur_level level, const char *path)
{
    char line[4096];
    cpu_set_t set;

    if (!read_line(path, line, sizeof line))
        return false;
    parse_list(line, &set);
    if (CPU_COUNT(&set))
        add(level, &set);
    return true;
}

/* Data and unified caches; those of instructions say nothing. */
static void add_caches(int cpu)
{
    char path[128], line[64];

    for (int index = 0; index < 8; index++) {
        int level;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
        if (!read_line(path, line, sizeof line))
            return;
        if (!strncmp(line, "Instruction", 11))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
        if (!read_line(path, line, sizeof line))
            return;
        level = atoi(line);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        if (level >= 1 && level <= 3)
            add_file(level == 1 ? MUR_LEVEL_L1_CACHE : level == 2 ? MUR_LEVEL_L2_CACHE : MUR_LEVEL_L3_CACHE, path);
    }
}

static void read_machine(void)
{
    char path[128], line[4096];
    cpu_set_t online;

    if (!read_line("/sys/devices/system/cpu/online", line, sizeof line))
        return;
    parse_list(line, &online);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t one;

        if (!CPU_ISSET((size_t)cpu, &online))
            continue;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        add(MUR_LEVEL_PU, &one);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
        if (!add_file(MUR_LEVEL_CORE, path)) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
            add_file(MUR_LEVEL_CORE, path);
        }
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpu);
        add_file(MUR_LEVEL_PACKAGE, path);
        add_caches(cpu);
    }
    for (int node = 0; node < 1024; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (!add_file(MUR_LEVEL_NUMA_NODE, path) && node > 64)
            break;
    }
}

static void read_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_machine);
}

int mur_level_find(const char *name)
{
    static const char scheme[] = "hwloc://";

    if (!strncmp(name, scheme, sizeof scheme - 1))
        name += sizeof scheme - 1;
    for (int level = 0; level < MUR_LEVELS; level++)
        if (!strcmp(name, mur_level_names[level]))
            return level;
    return -1;
}

int mur_machine_instances(enum mur_level level)
{
    read_once();
    return levels[level].count;
}

int mur_machine_instance_of(enum mur_level level, const cpu_set_t *processors)
{
    read_once();
    for (int i = 0; i < levels[level].count; i++) {
        cpu_set_t common;

        CPU_AND(&common, &levels[level].sets[i], processors);
        if (CPU_EQUAL(&common, processors))
            return i;
    }
    return -1;
}

int mur_machine_instance_here(enum mur_level level)
{
    cpu_set_t here;

    return sched_getaffinity(0, sizeof here, &here) == 0 ? mur_machine_instance_of(level, &here) : -1;
}
