/* SPDX-License-Identifier: BSD-3-Clause */
/* The forms of the collectives between two groups; coll.h's functions call them for intercommunicators. */
#ifndef MUR_COLL_INTERCOMM_H
#define MUR_COLL_INTERCOMM_H

#include "coll/coll.h"

void mur_inter_barrier(struct mur_schedule *s);
void mur_inter_bcast(struct mur_schedule *s, void *buffer, MPI_Count count, struct mur_type *type, int root);
void mur_inter_gather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                      const struct mur_blocks *blocks, int root);
void mur_inter_scatter(struct mur_schedule *s, const struct mur_blocks *blocks, void *recvbuf, MPI_Count recvcount,
                       struct mur_type *recvtype, int root);
void mur_inter_allgather(struct mur_schedule *s, const void *sendbuf, MPI_Count sendcount, struct mur_type *sendtype,
                         const struct mur_blocks *blocks);
void mur_inter_alltoall(struct mur_schedule *s, const struct mur_blocks *from, const struct mur_blocks *to);
void mur_inter_reduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                      struct mur_type *type, struct mur_op *op, int root);
void mur_inter_allreduce(struct mur_schedule *s, const void *sendbuf, void *recvbuf, MPI_Count count,
                         struct mur_type *type, struct mur_op *op);
void mur_inter_reduce_scatter(struct mur_schedule *s, const void *sendbuf, void *recvbuf,
                              const struct mur_blocks *blocks, struct mur_op *op);

#endif
