/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control group of this process allows and has suffered; both versions of cgroups are read. */
#ifndef MUR_LAUNCH_CGROUP_H
#define MUR_LAUNCH_CGROUP_H

#include <stdint.h>

/* Each takes the tightest of the group and its ancestors; INT64_MAX stands for no limit. */
int64_t mur_cgroup_memory_limit(void); /* bytes */
int64_t mur_cgroup_pids_left(void);    /* tasks that may still be created */
double mur_cgroup_cpus(void);          /* CPU quota in CPUs; 0: none */
int64_t mur_cgroup_oom_kills(void);    /* so far, in this group or, at the root, on the whole host */

#endif
