/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way a one-sided operation goes. Its target's memory is reached by messages, by copies of the kernel, or by
 * loads and stores (enum mur_win_way, known when the window is made). Among ranks of a node the target's process may
 * take part as well, if it is in MPI anyway: way.c has the table. */
#ifndef MUR_RMA_WAY_H
#define MUR_RMA_WAY_H

#include "rma/rma.h"

/* Bytes from which on two cores may be better than one. */
enum { MUR_WAY_SHARED_MIN = 128 << 10 };

/* Performs an operation on dense data with the target, if there is such a way for it and the target comes to it in
 * time. False: nothing has happened, and the origin does it alone. */
bool mur_way_with_target(const struct mur_rma_arguments *arguments, enum mur_rma_kind kind,
                         const struct mur_rma_leaf *leaf, size_t bytes, int *rc);

#endif
