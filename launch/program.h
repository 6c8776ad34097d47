/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the programs and directories of a job before anything starts, so that a mistake is one clear message. */
#ifndef MUR_LAUNCH_PROGRAM_H
#define MUR_LAUNCH_PROGRAM_H

#include "jobspec.h"

void mur_programs_find(struct mur_jobspec *job); /* fills each context's path, or ends mpiexec with a message */

#endif
