/* SPDX-License-Identifier: BSD-3-Clause */
/* For newcomers: what is missing between this host and others for jobs by ssh. */
#ifndef MUR_LAUNCH_SETUP_SSH_H
#define MUR_LAUNCH_SETUP_SSH_H

#include "launch/jobspec.h"

/* Says for each host whether jobs can be started on it by ssh, or the first thing that is missing; with `mends` does
 * what can be done about it, and goes on. True: nothing is missing on any. */
bool mur_setup_ssh(const struct mur_jobspec *job, const struct mur_hosts *hosts, bool mends);

#endif
