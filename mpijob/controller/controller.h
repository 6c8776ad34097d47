/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller: makes of MPIJobs, by the Kubernetes API and nothing else, what the reconciler says.
 *
 * Watches keep a mirror of the jobs and of the objects that belong to them. A change in it has the job reconciled: the
 * actions are calls of the API, whose answers go into the mirror at once. Of several controllers one acts: the holder
 * of a Lease (lease.c). */
#ifndef MUR_MPIJOB_CONTROLLER_H
#define MUR_MPIJOB_CONTROLLER_H

#include "mpijob/client/client.h"

struct mur_controller_plan {
    const struct mur_cluster *cluster;
    const char *identity;     /* of this controller, in the Lease */
    const char *lease_space;  /* where the Lease is */
    const char *space;        /* whose jobs; NULL: of all */
    const char *agent_folder; /* of mpijob serve, where the command lies that enters pods; NULL: pods have ssh */
    double retry_delay;       /* before the first retry of a launcher */
};

int mur_controller_run(const struct mur_controller_plan *plan); /* until a signal; the exit code */

/* lease.c: whether this controller may act now. Calls the API when it is time to; *due is when it wants to next. */
bool mur_lease_hold(const struct mur_controller_plan *plan, double now, double *due);
void mur_lease_release(const struct mur_controller_plan *plan);

#endif
