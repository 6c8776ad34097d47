/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of this machine: its packages, memory nodes, caches and cores, each as a set of processors. Read from
 * Linux's /sys at the first question. Names are those of hwloc, as in the keys "hwloc://Package" (MPI-5.0 §9.1.3). */
#ifndef MUR_BASE_MACHINE_H
#define MUR_BASE_MACHINE_H

#include <sched.h>
#include <stdbool.h>

/* From the coarsest to the finest. */
enum mur_level {
    MUR_LEVEL_PACKAGE,
    MUR_LEVEL_NUMA_NODE,
    MUR_LEVEL_L3_CACHE,
    MUR_LEVEL_L2_CACHE,
    MUR_LEVEL_L1_CACHE,
    MUR_LEVEL_CORE,
    MUR_LEVEL_PU,
    MUR_LEVELS
};
extern const char *const mur_level_names[MUR_LEVELS]; /* "Package", "NUMANode", "L3Cache", ... */

/* The level of a name, with or without "hwloc://" before it; -1: there is none. */
int mur_level_find(const char *name);

/* How many instances of a level the machine has; 0 where it has none, or does not tell. */
int mur_machine_instances(enum mur_level level);

/* The instance that holds all of these processors; -1 where none does. */
int mur_machine_instance_of(enum mur_level level, const cpu_set_t *processors);

/* The same for the processors that this process may run on now. */
int mur_machine_instance_here(enum mur_level level);

#endif
