/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of topologies. Each is one block of memory. */
#include "topo/topology.h"

#include <stdlib.h>

struct mur_topology *mur_topology_dup(const struct mur_topology *topology)
{
    const struct mur_cart *cart = &topology->cart;

    return mur_cart_new(cart->ndims, cart->dims, cart->periods, mur_cart_rank(cart, cart->coords));
}

void mur_topology_free(struct mur_topology *topology)
{
    free(topology);
}
