/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of this machine that ranks can be bound to: for each kind the sets of CPUs, in the machine's order. */
#ifndef MUR_LAUNCH_TOPOLOGY_H
#define MUR_LAUNCH_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>

struct mur_problem;

enum mur_part {
    MUR_PART_NONE,
    MUR_PART_HWTHREAD,
    MUR_PART_CORE,
    MUR_PART_L1,
    MUR_PART_L2,
    MUR_PART_L3,
    MUR_PART_L4,
    MUR_PART_L5,
    MUR_PART_NUMA,
    MUR_PART_SOCKET,
    MUR_PART_MACHINE,
    MUR_PART_COUNT
};

struct mur_hardware {
    struct {
        cpu_set_t *sets; /* none is empty */
        int count;       /* 0: the machine has none such */
    } parts[MUR_PART_COUNT];
};

/* Finds the parts of this machine within our own affinity mask: by hwloc, else from /sys. */
bool mur_topology_load(struct mur_hardware *topology, struct mur_problem *problem);
bool mur_topology_read_hwloc(struct mur_hardware *topology, const cpu_set_t *mask, struct mur_problem *problem);
void mur_topology_read_sys(struct mur_hardware *topology, const cpu_set_t *mask);
void mur_topology_free(struct mur_hardware *topology);

const char *mur_part_name(enum mur_part part);
/* MUR_PART_NONE for "none", and MUR_PART_COUNT for what is no part. */
enum mur_part mur_part_read(const char *text, int length);

#endif
