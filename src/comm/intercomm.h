/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: joining two groups, and making one of them (MPI-5.0 §7.6). */
#ifndef MUR_COMM_INTERCOMM_H
#define MUR_COMM_INTERCOMM_H

#include "object/comm.h"

/* Collective over both groups. The leaders meet as ranks of `peer_comm`, which only they need to pass. */
int mur_intercomm_create(struct mur_comm *local_comm, int local_leader, struct mur_comm *peer_comm, int remote_leader,
                         int tag, struct mur_comm **newcomm);

/* All of both groups; the group that passes `high` comes second. Where `has_failed`, all get an error. */
int mur_intercomm_merge(struct mur_comm *intercomm, bool high, bool has_failed, struct mur_comm **newcomm);

#endif
