/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints that users give to communicators. */
#ifndef MUR_MPI_HINTS_H
#define MUR_MPI_HINTS_H

struct mur_comm;
struct mur_info;

/* Takes over those that are known (MPI-5.0 §7.4.4); others change nothing. NULL is no info. */
void mur_comm_set_hints(struct mur_comm *comm, const struct mur_info *info);

#endif
