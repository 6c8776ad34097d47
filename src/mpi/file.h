/* SPDX-License-Identifier: BSD-3-Clause */
/* What the bodies of file functions share (file.c). */
#ifndef MUR_MPI_FILE_H
#define MUR_MPI_FILE_H

#include "mpi.h"

struct mur_file;

/* Not for files opened with MPI_MODE_SEQUENTIAL. */
int mur_file_check_random(const struct mur_file *file);

/* No split collective is under way. */
int mur_file_check_idle(const struct mur_file *file);

/* Where a pointer that is at `current` goes, in etypes. */
int mur_file_seek(struct mur_file *file, MPI_Offset current, MPI_Offset offset, int whence, MPI_Offset *place);

#endif
