/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian grids: making one, and the arithmetic between ranks and coordinates (MPI-5.0 §8.5). */
#ifndef MUR_TOPO_CART_H
#define MUR_TOPO_CART_H

#include <stdint.h>

#include "object/topology.h"

/* A grid with this process at `rank`; NULL when memory is exhausted. */
struct mur_topology *mur_cart_new(int ndims, const int *dims, const int *periods, int rank);

/* The rank at these coordinates, which are wrapped around in periodic dimensions; MPI_PROC_NULL if they are outside
 * in another dimension. */
int mur_cart_rank(const struct mur_cart *cart, const int *coords);

/* The coordinates of a rank of the grid. */
void mur_cart_coords(const struct mur_cart *cart, int rank, int *coords);

/* The rank `disp` steps from this process along a dimension, or MPI_PROC_NULL. */
int mur_cart_shifted(const struct mur_cart *cart, int direction, int64_t disp);

/* dims.c: fills the zeros of dims so that the product is nnodes. */
int mur_dims_create(int nnodes, int ndims, int *dims);

#endif
