/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts for the ranks of a job that is restarted, in the place of mur_placement_make. */
#ifndef MUR_LAUNCH_CHECKPOINT_RESTART_H
#define MUR_LAUNCH_CHECKPOINT_RESTART_H

#include "launch/hosts/placement.h"

bool mur_restart_place(struct mur_jobspec *job, mur_part_counter *counter, struct mur_problem *problem);

#endif
