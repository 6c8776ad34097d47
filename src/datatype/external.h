/* SPDX-License-Identifier: BSD-3-Clause */
/* The data representation "external32" (MPI-5.0 §14.5.2): every basic element has a fixed size on all machines, the
 * byte with the highest value first, IEEE numbers, nothing between elements. */
#ifndef MUR_DATATYPE_EXTERNAL_H
#define MUR_DATATYPE_EXTERNAL_H

#include "object/type.h"

/* Bytes of one element of the type. */
MPI_Count mur_external_size(const struct mur_type *type);

/* Converts `count` elements at `buffer` to and from mur_external_size(type) * count bytes. MPI_ERR_CONVERSION for a
 * number that the other side's type cannot hold. */
int mur_external_pack(const void *buffer, MPI_Count count, const struct mur_type *type, void *out);
int mur_external_unpack(const void *in, void *buffer, MPI_Count count, const struct mur_type *type);

/* The first basic elements of one element, those that are complete in `bytes`; adds their bytes in memory to *native.
 */
int mur_external_unpack_some(const void *in, MPI_Count bytes, void *buffer, const struct mur_type *type,
                             MPI_Count *native);

#endif
