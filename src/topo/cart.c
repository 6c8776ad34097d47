/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian grids: between ranks and coordinates. */
#include "topo/cart.h"

#include <stddef.h>

struct mur_topology *mur_cart_new(int ndims, const int *dims, const int *periods, int rank)
{
    struct mur_topology *topology = mur_topology_create_cart(ndims);
    struct mur_cart *cart;

    if (!topology)
        return NULL;
    cart = &topology->cart;
    for (int i = 0; i < ndims; i++) {
        cart->dims[i] = dims[i];
        cart->periods[i] = periods[i] != 0;
    }
    mur_cart_coords(cart, rank, cart->coords);
    for (int i = 0; i < 2 * ndims; i++)
        cart->neighbours[i] = mur_cart_shifted(cart, i / 2, i % 2 ? 1 : -1);
    return topology;
}

int mur_cart_rank(const struct mur_cart *cart, const int *coords)
{
    int rank = 0;

    for (int i = 0; i < cart->ndims; i++) {
        int size = cart->dims[i], coord = coords[i];
        if (coord < 0 || coord >= size) {
            if (!cart->periods[i])
                return MPI_PROC_NULL;
            coord = (coord % size + size) % size;
        }
        rank = rank * size + coord;
    }
    return rank;
}

void mur_cart_coords(const struct mur_cart *cart, int rank, int *coords)
{
    for (int i = cart->ndims - 1; i >= 0; i--) {
        coords[i] = rank % cart->dims[i];
        rank /= cart->dims[i];
    }
}

int mur_cart_shifted(const struct mur_cart *cart, int direction, int64_t disp)
{
    int size = cart->dims[direction];
    int64_t from = cart->coords[direction], to = from + disp;
    int64_t weight = 1;

    if (to < 0 || to >= size) {
        if (!cart->periods[direction])
            return MPI_PROC_NULL;
        to = (to % size + size) % size;
    }
    for (int i = cart->ndims - 1; i > direction; i--)
        weight *= cart->dims[i];
    return (int)(mur_cart_rank(cart, cart->coords) + (to - from) * weight);
}
