/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of this machine that ranks can be bound to: for each level the sets of CPUs, in the machine's order. */
#ifndef MUR_LAUNCH_TOPOLOGY_H
#define MUR_LAUNCH_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>

struct mur_problem;

enum mur_level {
    MUR_LEVEL_NONE,
    MUR_LEVEL_HWTHREAD,
    MUR_LEVEL_CORE,
    MUR_LEVEL_L1,
    MUR_LEVEL_L2,
    MUR_LEVEL_L3,
    MUR_LEVEL_L4,
    MUR_LEVEL_L5,
    MUR_LEVEL_NUMA,
    MUR_LEVEL_SOCKET,
    MUR_LEVEL_MACHINE,
    MUR_LEVEL_COUNT
};

struct mur_topology {
    struct {
        cpu_set_t *sets; /* none is empty */
        int count;       /* 0: the machine has no such level */
    } levels[MUR_LEVEL_COUNT];
};

/* Finds the parts of this machine within our own affinity mask. Reads hwloc's library for it. */
bool mur_topology_load(struct mur_topology *topology, struct mur_problem *problem);
void mur_topology_free(struct mur_topology *topology);

const char *mur_level_name(enum mur_level level);
/* MUR_LEVEL_NONE for "none", and MUR_LEVEL_COUNT for what is no level. */
enum mur_level mur_level_read(const char *text, int length);

#endif
