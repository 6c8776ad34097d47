/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent: starts the ranks of this node, forwards their output and signals, reports failures, leaves nothing. */
#ifndef MUR_LAUNCH_AGENT_H
#define MUR_LAUNCH_AGENT_H

#include <sys/resource.h>

#include "jobspec.h"

/* Lives the agent's life in a process of its own, which has all signals blocked; head_fd speaks frame.h with mpiexec.
 * Returns when no process of the job is left. */
void mur_agent_run(const struct mur_jobspec *job, const struct rlimit *files, int head_fd);

#endif
