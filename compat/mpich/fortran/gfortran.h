/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's arrays as C descriptors. */
#ifndef MUR_COMPAT_MPICH_GFORTRAN_H
#define MUR_COMPAT_MPICH_GFORTRAN_H

#include "fortran/section.h"

struct mur_descriptor_room {
    struct mur_descriptor head;
    struct mur_dimension dims[MUR_SECTION_RANKS];
};

const struct mur_descriptor *mur_descriptor_of(struct mur_descriptor_room *room,
                                               const struct mur_gfortran_array *array);

#endif
