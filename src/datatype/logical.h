/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of Fortran's .TRUE. and .FALSE., which are the compiler's choice: 1 and 0 unless a Fortran binding says
 * otherwise (MPI-5.0 §20.3). */
#ifndef MUR_DATATYPE_LOGICAL_H
#define MUR_DATATYPE_LOGICAL_H

#include "datatype/reduce.h"

struct mur_logical {
    int64_t yes, no; /* in all sizes, with the sign */
    bool is_unusual; /* not 1 and 0 */
};
extern struct mur_logical mur_logical;

/* The kernel for elements of a predefined type: that of the machine type, unless they are logicals of unusual values.
 */
mur_reduce_function *mur_reduce_kernel_of(enum mur_reduction reduction, const struct mur_basic_row *row);

#endif
