/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting a communicator by what its processes share (MPI-5.0 §7.4.2). */
#ifndef MUR_COMM_SPLIT_TYPE_H
#define MUR_COMM_SPLIT_TYPE_H

#include "object/comm.h"
#include "object/info.h"

/* Of an intercommunicator each part is one, too. *newcomm is NULL where this process is in no part, or, between two
 * groups, where the other group has nobody in it. An unguided split writes what it has found into `info`, unless
 * that is NULL. Where `has_failed`, nothing else matters: all get an error that names the rank. */
int mur_comm_split_type(struct mur_comm *comm, int split_type, int key, struct mur_info *info, bool has_failed,
                        struct mur_comm **newcomm);

#endif
