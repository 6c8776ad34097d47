/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the programs and directories of a job before anything starts, so that a mistake is one clear message. */
#ifndef MUR_LAUNCH_PROGRAM_H
#define MUR_LAUNCH_PROGRAM_H

#include "launch/jobspec.h"

/* Fills the paths of the contexts with ranks on this host, whose number is `node`, or ends with a message. */
void mur_programs_find(struct mur_jobspec *job, int node);
/* Reads the programs into the job, for hosts that do not have them. */
void mur_programs_take(struct mur_jobspec *job);

#endif
