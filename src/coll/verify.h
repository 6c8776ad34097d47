/* SPDX-License-Identifier: BSD-3-Clause */
/* With MUR_COLL_CHECK=1: whether all ranks ask for the same collective. */
#ifndef MUR_COLL_CHECK_H
#define MUR_COLL_CHECK_H

#include "coll/collective.h"

/* Adds, before the collective's own, the steps in which ranks compare what they ask for. Where they disagree, all of
 * them fail, and each says who disagrees with whom. */
void mur_verify_add(struct mur_schedule *schedule, const struct mur_collective *collective, enum mur_form form);

#endif
