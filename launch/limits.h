/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that this machine can hold the job, so that too large a number is a message and not a machine on its knees. */
#ifndef MUR_LAUNCH_LIMITS_H
#define MUR_LAUNCH_LIMITS_H

#include <sys/resource.h>

/* Raises the soft limit of descriptors to the hard one for ourselves and stores the old limits for the ranks in
 * *files. Ends mpiexec with a message when `ranks` are too many. */
void mur_limits_check(int ranks, struct rlimit *files);

#endif
