/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file pointer, in etypes of the view, which all ranks have alike (MPI-5.0 §14.4.4). It lies in the file's
 * shared file state where there is one; otherwise rank 0 of the file keeps it, and the others ask it with frames that
 * its engine answers. */
#ifndef MUR_IO_POINTER_H
#define MUR_IO_POINTER_H

#include "mpi.h"

struct mur_file;

/* Makes the frames known to the engine. */
void mur_pointer_setup(void);

/* Moves it on, and tells where it was; at once for all ranks. */
int mur_pointer_add(struct mur_file *file, MPI_Offset etypes, MPI_Offset *before);

/* The same for an access, unless it ends where no file can: then the pointer stays. */
int mur_pointer_take(struct mur_file *file, MPI_Offset etypes, MPI_Offset *start);

/* Collective, with the same value at all ranks. */
int mur_pointer_set(struct mur_file *file, MPI_Offset value);

/* Collective: in the order of the ranks, each takes `etypes` etypes from where the shared pointer is. */
int mur_pointer_take_ordered(struct mur_file *file, int rc, MPI_Offset etypes, MPI_Offset *start);

#endif
