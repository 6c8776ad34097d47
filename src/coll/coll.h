/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective operations: each function adds to a schedule what this rank has to do (MPI-5.0 §6). The arguments
 * are those of the MPI function, checked; MPI_IN_PLACE stands where the standard allows it. Which algorithm a
 * function chooses, and where it comes from, is told in its file. */
#ifndef MUR_COLL_COLL_H
#define MUR_COLL_COLL_H

#include "base/counts.h"
#include "coll/schedule/schedule.h"

void mur_coll_barrier(struct mur_schedule *s);
void mur_coll_bcast(struct mur_schedule *s, void *buffer, MPI_Count count, struct mur_type *type, int root);

/* Counts and displacements of the v-forms; of the plain forms, one count for all and blocks in the order of ranks. The
 * w-forms have a type for each block, and displacements in bytes. */
struct mur_blocks {
    char *buffer;
    struct mur_type *type;     /* of all blocks; NULL where each has its own */
    const MPI_Datatype *types; /* of each block, or NULL; where a block is empty, it may be anything */
    bool is_irregular;
    MPI_Count count; /* of each block, where regular */
    struct mur_counts counts, displacements;
};

static inline struct mur_blocks mur_blocks_regular(const void *buffer, MPI_Count count, struct mur_type *type)
{
    return (struct mur_blocks){.buffer = (char *)buffer, .type = type, .count = count};
}

static inline struct mur_blocks mur_blocks_irregular(const void *buffer, struct mur_counts counts,
                                                     struct mur_counts displacements, struct mur_type *type)
{
    return (struct mur_blocks){
        .buffer = (char *)buffer, .type = type, .is_irregular = true, .counts = counts, .displacements = displacements};
}

static inline struct mur_blocks mur_blocks_typed(const void *buffer, struct mur_counts counts,
                                                 struct mur_counts displacements, const MPI_Datatype *types)
{
    return (struct mur_blocks){.buffer = (char *)buffer,
                               .types = types,
                               .is_irregular = true,
                               .counts = counts,
                               .displacements = displacements};
}

static inline MPI_Count mur_block_count(const struct mur_blocks *blocks, int rank)
{
    return blocks->is_irregular ? mur_counts_at(blocks->counts, rank) : blocks->count;
}

/* Elements of the blocks of all `ranks` ranks together. */
static inline MPI_Count mur_blocks_count(const struct mur_blocks *blocks, int ranks)
{
    MPI_Count count = 0;

    for (int rank = 0; rank < ranks; rank++)
        count += mur_block_count(blocks, rank);
    return count;
}

static inline struct mur_type *mur_block_type(const struct mur_blocks *blocks, int rank)
{
    if (!blocks->types)
        return blocks->type;
    return mur_type_find(mur_block_count(blocks, rank) ? blocks->types[rank] : MPI_BYTE);
}

static inline void *mur_block(const struct mur_blocks *blocks, int rank)
{
    MPI_Count place = blocks->is_irregular ? mur_counts_at(blocks->displacements, rank) : rank * blocks->count;

    return blocks->buffer + place * (blocks->types ? 1 : blocks->type->extent);
}

/* `blocks` matters at the root only. */
void mur_coll_gather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                     const struct mur_blocks *blocks, int root);
void mur_coll_scatter(struct mur_schedule *s, const struct mur_blocks *blocks, void *recvbuf, MPI_Count recvcount,
                      struct mur_type *recvtype, int root);
void mur_coll_allgather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                        const struct mur_blocks *blocks);
/* from->buffer is MPI_IN_PLACE: data of `to` is exchanged. */
void mur_coll_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to);

/* Among the neighbours of the communicator's topology, which it must have; blocks are counted as they are. */
void mur_coll_neighbor_allgather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount,
                                 struct mur_type *sendtype, const struct mur_blocks *to);
void mur_coll_neighbor_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to);

void mur_coll_reduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type,
                     struct mur_op *op, int root);
void mur_coll_allreduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                        struct mur_type *type, struct mur_op *op);
/* Rank i gets the i-th block; of `blocks` only the counts and the type matter. */
void mur_coll_reduce_scatter(struct mur_schedule *s, const void *sendbuf, void *recvbuf,
                             const struct mur_blocks *blocks, struct mur_op *op);
/* Its end: rank 0 has all blocks, one behind the other, and gives each rank its own. */
void mur_coll_deal(struct mur_schedule *s, const char *all, void *recvbuf, const struct mur_blocks *blocks);
void mur_coll_scan(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count, struct mur_type *type,
                   struct mur_op *op, bool is_inclusive);

/* The same by other algorithms (chosen in coll/choose.c). Blocks are of one size; operations commutative. */
void mur_coll_bcast_scatter(struct mur_schedule *s, void *buffer, MPI_Count count, struct mur_type *type, int root);
void mur_coll_gather_binomial(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount,
                              struct mur_type *sendtype, const struct mur_blocks *blocks, int root);
void mur_coll_scatter_binomial(struct mur_schedule *s, const struct mur_blocks *blocks, void *recvbuf,
                               MPI_Count recvcount, struct mur_type *recvtype, int root);
void mur_coll_allgather_bruck(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount,
                              struct mur_type *sendtype, const struct mur_blocks *blocks);
void mur_coll_alltoall_bruck(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to);
void mur_coll_allreduce_rabenseifner(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                                     struct mur_type *type, struct mur_op *op);

#endif
