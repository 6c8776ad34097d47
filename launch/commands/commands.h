/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpiexec does besides running jobs, when an option asks for it. */
#ifndef MUR_LAUNCH_ERRANDS_H
#define MUR_LAUNCH_ERRANDS_H

#include "launch/jobspec.h"

/* Returns mpiexec's exit code. */
int mur_command_run(struct mur_jobspec *job);

#endif
