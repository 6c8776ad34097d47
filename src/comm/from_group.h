/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of groups, without a communicator to begin with (MPI-5.0 §7.4.2, §7.6.2). Collective over the members;
 * calls at one time are told apart by the string. The new communicator has this error handler. */
#ifndef MUR_COMM_FROM_GROUP_H
#define MUR_COMM_FROM_GROUP_H

#include "object/comm.h"
#include "object/group.h"

int mur_comm_create_from_group(struct mur_group *group, const char *stringtag, struct mur_errhandler *errhandler,
                               struct mur_comm **newcomm);

/* `remote` and `remote_leader` matter at the local leader only. */
int mur_intercomm_create_from_groups(struct mur_group *local, int local_leader, struct mur_group *remote,
                                     int remote_leader, const char *stringtag, struct mur_errhandler *errhandler,
                                     struct mur_comm **newcomm);

#endif
