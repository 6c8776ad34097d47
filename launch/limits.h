/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that this machine can hold the job, so that too large a number is a message and not a machine on its knees. */
#ifndef MUR_LAUNCH_LIMITS_H
#define MUR_LAUNCH_LIMITS_H

#include <sys/resource.h>

#include "launch/jobspec.h"

/* Raises the soft limit of descriptors to the hard one for ourselves and stores the old limits for the ranks in
 * *files. Ends with a message when the job has too many ranks for this machine, whose number is `node`. */
void mur_limits_check(const struct mur_jobspec *job, int node, struct rlimit *files);

#endif
