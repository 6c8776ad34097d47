/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec's own part of a running job: it starts the agent, hears of signals and failures, decides, and reports. */
#ifndef MUR_LAUNCH_SUPERVISOR_H
#define MUR_LAUNCH_SUPERVISOR_H

#include <sys/resource.h>

#include "launch/jobspec.h"

int mur_supervisor_run(const struct mur_jobspec *job, const struct rlimit *files); /* returns the exit code */

#endif
