/* SPDX-License-Identifier: BSD-3-Clause */
/* -torch: what PyTorch's own launcher tells its processes. */
#ifndef MUR_LAUNCH_OPTIONS_TORCH_H
#define MUR_LAUNCH_OPTIONS_TORCH_H

#include "launch/jobspec.h"

/* After the ranks have their hosts: adds MASTER_ADDR and MASTER_PORT to the ranks' environment, unless the user has set
 * them. The variables that differ between ranks are in environment.c. */
void mur_torch_prepare(struct mur_jobspec *job);

#endif
