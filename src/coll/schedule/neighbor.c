/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives (MPI-5.0 §8.7): every process exchanges with its neighbours directly, in a single round,
 * since processes need not agree about the order of their neighbours. Where two of them share several edges, the order
 * of the steps pairs the messages: along a grid's dimension of one or two processes the receives are turned around. */
#include "coll/coll.h"
#include "object/topology.h"

static void receive_all(struct mur_schedule *s, const struct mur_neighbours *neighbours, const struct mur_blocks *to)
{
    for (int i = 0; i < neighbours->indegree; i++) {
        int block = neighbours->is_paired ? i ^ 1 : i;

        if (neighbours->sources[block] != MPI_PROC_NULL)
            mur_schedule_receive(s, mur_block(to, block), mur_block_count(to, block), mur_block_type(to, block),
                                 neighbours->sources[block]);
    }
}

void mur_coll_neighbor_allgather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount,
                                 struct mur_type *sendtype, const struct mur_blocks *to)
{
    struct mur_neighbours neighbours = mur_topology_neighbours(s->comm->topology, s->comm->rank);

    receive_all(s, &neighbours, to);
    for (int i = 0; i < neighbours.outdegree; i++)
        if (neighbours.destinations[i] != MPI_PROC_NULL)
            mur_schedule_send(s, sendbuf, sendcount, sendtype, neighbours.destinations[i]);
}

void mur_coll_neighbor_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to)
{
    struct mur_neighbours neighbours = mur_topology_neighbours(s->comm->topology, s->comm->rank);

    receive_all(s, &neighbours, to);
    for (int i = 0; i < neighbours.outdegree; i++)
        if (neighbours.destinations[i] != MPI_PROC_NULL)
            mur_schedule_send(s, mur_block(from, i), mur_block_count(from, i), mur_block_type(from, i),
                              neighbours.destinations[i]);
}
