/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined datatypes without a name, which exist from the first time that a program asks for them, and for ever: by
 * the precision of Fortran numbers (MPI-5.0 §19.1.9), and pairs of a value and an index (§6.9.4). */
#ifndef MUR_OBJECT_TYPE_PREDEFINED_H
#define MUR_OBJECT_TYPE_PREDEFINED_H

#include "object/type.h"

/* For the least type with p decimal digits and a range of 10^r; MPI_UNDEFINED leaves one of them open. The combiner
 * is MPI_COMBINER_F90_REAL, _COMPLEX or _INTEGER (which has no p). */
int mur_type_f90(int combiner, int p, int r, struct mur_type **type_p);

/* The pair of these types: a named one, an unnamed one, or NULL where they make no pair. */
int mur_type_value_index(struct mur_type *value, struct mur_type *index, struct mur_type **type_p);

/* Deletes the attributes of all of them. */
int mur_type_delete_unnamed_attributes(void);

/* MPI_MINLOC (or MAXLOC) on an unnamed pair: inout[i] = in[i] op inout[i]. */
void mur_type_reduce_pairs(const struct mur_type *pair, bool is_max, const void *in, void *inout, MPI_Count count);

#endif
