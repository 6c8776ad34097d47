/* SPDX-License-Identifier: BSD-3-Clause */
/* How many cores the ranks of this node may really use. */
#ifndef MUR_NODE_CORES_H
#define MUR_NODE_CORES_H

#include <stdbool.h>

/* Whether each rank of the node can run on a core of its own, by the affinity masks of all ranks and the control
 * group's quota. *is_final is false while some rank has not started yet and could change the answer. */
bool mur_cores_suffice(bool *is_final);

/* Cores' worth of CPU time that the control group allows this process, rounded up; a large number without a limit. */
int mur_cores_quota(void);

#endif
