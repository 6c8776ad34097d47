/* SPDX-License-Identifier: BSD-3-Clause */
/* Which buffers and arrays of a collective matter at this process, and whether those buffers are memory. */
#ifndef MUR_COLL_BUFFERS_H
#define MUR_COLL_BUFFERS_H

#include "coll/collective.h"

/* To be asked when one of them is not. */
int mur_collective_check_buffers(const struct mur_collective *c, const struct mur_comm *comm) __attribute__((cold));

/* The elements of the arrays of counts, displacements and types that belong to the send buffer (`is_read`) or to the
 * receive buffer; 0: there are no arrays, or they are not significant at this rank. */
int mur_collective_array_length(const struct mur_collective *c, const struct mur_comm *comm, bool is_read);

/* Whether the data could fit into the address space. Large counts are checked before they are multiplied. */
int mur_collective_check_sizes(const struct mur_collective *c) __attribute__((cold));

#endif
