/* SPDX-License-Identifier: BSD-3-Clause */
/* The type signature of data, as a number: the sequence of basic types without their places (MPI-5.0 §5.1.1). */
#ifndef MUR_COLL_SIGNATURE_H
#define MUR_COLL_SIGNATURE_H

#include <stdint.h>

#include "object/type.h"

/* Equal for equal sequences of machine types, whatever datatypes they are made of; 0 where MPI_BYTE or MPI_PACKED is
 * among them, which may stand for anything. */
uint64_t mur_signature(MPI_Count count, struct mur_type *type);

#endif
