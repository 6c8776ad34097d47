/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_CONVERSION_FN_NULL is a procedure in Fortran, which stands for no conversion and is never called. A program may
 * hand over any of its names, each with an address of its own, so all are compared. They are defined apart from where
 * they are compared, so that the comparison asks the dynamic linker for the addresses that programs see. */
#include "fortran/fortran.h"

static void conversion_null(void)
{
}
MUR_PREDEFINED(conversion_null, conversion_fn_null, CONVERSION_FN_NULL)
MUR_PREDEFINED(conversion_null, conversion_fn_null_c, CONVERSION_FN_NULL_C)
