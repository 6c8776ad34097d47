/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the buffers of a collective are memory, where this process has data in them. */
#ifndef MUR_COLL_BUFFERS_H
#define MUR_COLL_BUFFERS_H

#include "coll/collective.h"

/* To be asked when one of them is not. */
int mur_collective_check_buffers(const struct mur_collective *c, const struct mur_comm *comm) __attribute__((cold));

/* Whether there could be so many data: to be asked of large counts. */
int mur_collective_check_sizes(const struct mur_collective *c) __attribute__((cold));

#endif
