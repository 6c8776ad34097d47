/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators: agreeing on contexts and on the members (MPI-5.0 §7.4). All are collective over `comm`, which
 * may be an intercommunicator but for mur_comm_create_in_group. A rank where the call has failed already takes part
 * with `has_failed`, and all get an error that names it. */
#ifndef MUR_COMM_CREATE_H
#define MUR_COMM_CREATE_H

#include "object/comm.h"
#include "object/group.h"

/* A copy with topology, without attributes and hints. With a request it is under way when this returns, and usable once
 * the request is complete. */
int mur_comm_dup(struct mur_comm *comm, bool has_failed, struct mur_comm **newcomm, MPI_Request *request);

/* Ranks with the same color (not negative, or MPI_UNDEFINED) share a communicator, ordered by key, then by rank.
 * *newcomm is NULL for MPI_UNDEFINED, and for colors that only one side of an intercommunicator has. */
int mur_comm_split(struct mur_comm *comm, int color, int key, bool has_failed, struct mur_comm **newcomm);

/* Members of `group`, which is the same or disjoint at all ranks, and matters to ranks without failure only; *newcomm
 * is NULL where this process is none. */
int mur_comm_create_from(struct mur_comm *comm, struct mur_group *group, bool has_failed, struct mur_comm **newcomm);

/* The same, but called by the members only; calls at one time are told apart by the tag. */
int mur_comm_create_in_group(struct mur_comm *comm, struct mur_group *group, int tag, struct mur_comm **newcomm);

/* Every rank tells all others a record of `ints` ints: it has written its own at places[comm->rank] and gets those of
 * its group in `places`, and those of the other group, where there is one, in `remote_places`. */
int mur_comm_gather_places(struct mur_comm *comm, void *places, void *remote_places, int ints);

#endif
