/* SPDX-License-Identifier: BSD-3-Clause */
/* How a file system spreads a file over its servers, as far as it tells. */
#ifndef MUR_IO_STRIPES_H
#define MUR_IO_STRIPES_H

#include "mpi.h"

struct mur_stripes {
    long unit;   /* bytes that lie on one server before the next one's begin */
    long factor; /* over how many it is spread; 0: not known */
};

struct mur_stripes mur_stripes_of(int fd);

/* Bytes of a collective buffer (io/shared_state.h), about so many at most, of which several are a unit, or several
 * units a collective buffer: so that none lies in two units where it could lie in one. And where collective buffers of
 * such a size may begin: at multiples of this. */
long mur_stripes_cb(const struct mur_stripes *stripes, long most);
MPI_Offset mur_stripes_alignment(const struct mur_stripes *stripes, MPI_Offset bytes);

#endif
