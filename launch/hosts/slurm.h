/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a Slurm allocation. */
#ifndef MUR_LAUNCH_SLURM_H
#define MUR_LAUNCH_SLURM_H

#include "launch/hosts/hosts.h"

/* Adds the nodes that `variable` lists, each with the slots that SLURM_TASKS_PER_NODE gives it; without that variable
 * those of SLURM_JOB_CPUS_PER_NODE, and else one. */
bool mur_slurm_add_hosts(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem);

#endif
