/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has data where: the root of a rooted operation on one side, the others on the other; MPI_IN_PLACE, where the
 * rules of collective.c let it pass, stands for no data. MPI_BOTTOM is memory if all blocks say by themselves where
 * they are. */
#include "coll/buffers.h"

#include "base/error.h"
#include "object/buffer.h"
#include "object/group.h"
#include "object/topology.h"

static bool is_root(const struct mur_collective *c, const struct mur_comm *comm)
{
    return comm->remote ? c->root == MPI_ROOT : comm->rank == c->root;
}

static bool is_leaf(const struct mur_collective *c, const struct mur_comm *comm)
{
    return !comm->remote || c->root >= 0;
}

static bool reads(const struct mur_collective *c, const struct mur_comm *comm)
{
    switch (c->kind) {
    case MUR_BARRIER:
    case MUR_BCAST:
        return false;
    case MUR_SCATTER:
        return is_root(c, comm);
    case MUR_GATHER:
    case MUR_REDUCE:
        return is_leaf(c, comm);
    default:
        return true;
    }
}

static bool writes(const struct mur_collective *c, const struct mur_comm *comm)
{
    switch (c->kind) {
    case MUR_BARRIER:
        return false;
    case MUR_BCAST:
        return is_root(c, comm) || is_leaf(c, comm);
    case MUR_SCATTER:
        return is_leaf(c, comm);
    case MUR_GATHER:
    case MUR_REDUCE:
        return is_root(c, comm);
    case MUR_EXSCAN: /* its first rank gets nothing, but gives what is there when in place */
        return comm->rank > 0 || c->from.buffer == MPI_IN_PLACE;
    default:
        return true;
    }
}

/* How many blocks an array of them has. */
static int block_count(const struct mur_collective *c, const struct mur_comm *comm, bool is_read)
{
    if (c->kind == MUR_REDUCE_SCATTER)
        return comm->group->size;
    if (c->kind == MUR_NEIGHBOR_ALLGATHER || c->kind == MUR_NEIGHBOR_ALLTOALL) {
        struct mur_neighbours neighbours = mur_topology_neighbours(comm->topology, comm->rank);

        return is_read ? neighbours.outdegree : neighbours.indegree;
    }
    return comm->size; /* between two groups: of the other one */
}

int mur_collective_array_length(const struct mur_collective *c, const struct mur_comm *comm, bool is_read)
{
    const struct mur_blocks *blocks = is_read ? &c->from : &c->to;

    if (!blocks->is_irregular || blocks->buffer == MPI_IN_PLACE || !(is_read ? reads(c, comm) : writes(c, comm)))
        return 0;
    return block_count(c, comm, is_read);
}

static int check(const char *name, const struct mur_blocks *blocks, int count)
{
    int rc = MPI_SUCCESS;

    if (blocks->buffer == MPI_IN_PLACE)
        return MPI_SUCCESS;
    if (!blocks->is_irregular)
        return mur_buffer_check(name, blocks->buffer, count ? blocks->count : 0, blocks->type);
    for (int i = 0; !rc && i < count; i++)
        if (mur_block_count(blocks, i) && !mur_is_memory(mur_block(blocks, i)))
            rc = mur_buffer_check(name, blocks->buffer, mur_block_count(blocks, i), mur_block_type(blocks, i));
    return rc;
}

int mur_collective_check_buffers(const struct mur_collective *c, const struct mur_comm *comm)
{
    int rc = MPI_SUCCESS;

    if (c->kind == MUR_REDUCE_SCATTER && c->to.is_irregular && c->from.buffer != MPI_IN_PLACE) {
        for (int i = 0; !rc && i < block_count(c, comm, false); i++)
            rc = mur_buffer_check("the send buffer", c->from.buffer, mur_block_count(&c->to, i), c->from.type);
    } else if (reads(c, comm))
        rc = check("the send buffer", &c->from, block_count(c, comm, true));
    if (rc || !writes(c, comm))
        return rc;
    if (c->kind == MUR_REDUCE_SCATTER && c->to.is_irregular) /* each gets its own block only, at the start */
        return mur_buffer_check("the receive buffer", c->to.buffer, mur_block_count(&c->to, comm->rank), c->from.type);
    return check(c->kind == MUR_BCAST ? "buffer" : "the receive buffer", &c->to, block_count(c, comm, false));
}

int mur_collective_check_sizes(const struct mur_collective *c)
{
    const struct mur_blocks *sides[] = {&c->from, &c->to};
    MPI_Count bytes;

    for (int i = 0; i < 2; i++)
        if (sides[i]->buffer != MPI_IN_PLACE && sides[i]->type &&
            __builtin_mul_overflow(sides[i]->count, sides[i]->type->size, &bytes))
            return mur_error(MPI_ERR_COUNT, "the count is %lld, of a type of %lld bytes: no memory is that large",
                             (long long)sides[i]->count, (long long)sides[i]->type->size);
    return MPI_SUCCESS;
}
