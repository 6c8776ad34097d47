/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether all ranks of a communicator share memory: on one node, and not kept from it by MUR_TRANSPORT. */
#ifndef MUR_TEST_SHARE_H
#define MUR_TEST_SHARE_H

#include "test.h"

static inline int all_share(MPI_Comm comm)
{
    MPI_Comm node;
    int size, together;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(comm, &size);
    MPI_Comm_size(node, &together);
    MPI_Comm_free(&node);
    together = together == size;
    MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_INT, MPI_MIN, comm);
    return together;
}

#endif
