/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a run of a job keeps its folder, by which commands find it. */
#ifndef MUR_MPIJOB_PLACE_H
#define MUR_MPIJOB_PLACE_H

char *mur_place_of(const char *space, const char *name); /* the caller's to free; the folder above it is made */

#endif
