/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts that come from the environment: of resource managers, and of other launchers' settings. */
#ifndef MUR_LAUNCH_MANAGERS_H
#define MUR_LAUNCH_MANAGERS_H

#include "launch/hosts/hosts.h"

/* A list of hosts without an owner to ask: the first variable of these that is set and not empty is used.
 *   MUR_HOSTFILE, HYDRA_HOST_FILE, I_MPI_HYDRA_HOST_FILE, PRTE_MCA_prte_default_hostfile,
 *   OMPI_MCA_prte_default_hostfile, OMPI_MCA_orte_default_hostfile   a host file
 *   I_MPI_HYDRA_HOSTS_GROUP                                          a list with ranges
 * Stores the variable's name in *source, or NULL when there is none. */
bool mur_hosts_from_settings(struct mur_hosts *hosts, const char **source, struct mur_problem *problem);

/* The hosts that a resource manager has given us. `only` (NULL: any) is the manager to ask: slurm, lsf, sge, pbs,
 * cobalt, ll or volcano; "user" and "none" ask nobody. Stores its name in *source, or NULL when we run under none. */
bool mur_hosts_from_manager(struct mur_hosts *hosts, const char *only, const char **source,
                            struct mur_problem *problem);
bool mur_manager_is_known(const char *name);

#endif
