/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective operation as a value: which one, and its arguments. All of them, in all forms, start here; what
 * performs it is chosen here, too: ranks of one node post on their board (coll/board/run.h), otherwise a schedule of
 * messages (coll/coll.h) is built. */
#ifndef MUR_COLL_COLLECTIVE_H
#define MUR_COLL_COLLECTIVE_H

#include "coll/coll.h"

enum mur_collective_kind {
    MUR_BARRIER,
    MUR_BCAST,
    MUR_GATHER,
    MUR_SCATTER,
    MUR_ALLGATHER,
    MUR_ALLTOALL,
    MUR_REDUCE,
    MUR_ALLREDUCE,
    MUR_REDUCE_SCATTER,
    MUR_SCAN,
    MUR_EXSCAN,
    MUR_NEIGHBOR_ALLGATHER,
    MUR_NEIGHBOR_ALLTOALL,
    MUR_COLLECTIVE_KINDS,
};

/* The arguments are those of the MPI function, checked. What an operation does not have is zero. */
struct mur_collective {
    enum mur_collective_kind kind;
    bool is_irregular;          /* blocks differ from rank to rank, which not all ranks know */
    struct mur_blocks from, to; /* what is sent and received; of a broadcast, `to` is both. Buffers may be
                                 * MPI_IN_PLACE where the standard allows it */
    struct mur_op *op;
    int root;
};

enum mur_form { MUR_BLOCKING, MUR_NONBLOCKING, MUR_PERSISTENT };

/* Opens the world's board, where there is memory in common. After mur_comm_setup. */
int mur_collective_setup(void);

/* Performs, starts or prepares it. The request is written unless the form is blocking. */
int mur_collective(const struct mur_collective *collective, struct mur_comm *comm, enum mur_form form,
                   MPI_Request *request);

/* Adds to a schedule what this rank has to do. */
void mur_collective_build(struct mur_schedule *schedule, const struct mur_collective *collective);

#endif
