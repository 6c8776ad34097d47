/* SPDX-License-Identifier: BSD-3-Clause */
/* The intercommunicator with those who have spawned this job (MPI_Comm_get_parent). */
#ifndef MUR_MPI_PARENT_H
#define MUR_MPI_PARENT_H

struct mur_comm;

/* Makes it, if there are any: the last part of initialising the world, collective over it. */
int mur_parent_meet(void);

/* The communicator is being freed; it may be this one. */
void mur_parent_forget(const struct mur_comm *comm);

#endif
