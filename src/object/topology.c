/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of topologies. Each is one block of memory, the arrays behind the structure. */
#include "object/topology.h"

#include <stdlib.h>
#include <string.h>

struct mur_topology *mur_topology_create(int ndims)
{
    struct mur_topology *topology = malloc(sizeof *topology + 3 * (size_t)ndims * sizeof(int));
    struct mur_cart *cart;

    if (!topology)
        return NULL;
    topology->kind = MPI_CART;
    cart = &topology->cart;
    cart->ndims = ndims;
    cart->dims = (int *)(topology + 1);
    cart->periods = cart->dims + ndims;
    cart->coords = cart->periods + ndims;
    return topology;
}

struct mur_topology *mur_topology_dup(const struct mur_topology *topology)
{
    struct mur_topology *copy = mur_topology_create(topology->cart.ndims);

    if (copy)
        memcpy(copy->cart.dims, topology->cart.dims, 3 * (size_t)topology->cart.ndims * sizeof(int));
    return copy;
}

void mur_topology_free(struct mur_topology *topology)
{
    free(topology);
}
