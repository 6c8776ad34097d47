/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a communicator can do with each other's memory. */
#ifndef MUR_TEST_SHARE_H
#define MUR_TEST_SHARE_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "test.h"

/* Whether all share memory: on one node, and not kept from it by MUR_TRANSPORT. */
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

/* Whether all others may copy from the memory of rank 0, which is on the same node; some containers and emulators
 * forbid it, and MUR_SHM_SINGLE_COPY=0. Memory of a program's own is then reached by messages only. */
static inline int all_can_copy(MPI_Comm comm)
{
    long told[2] = {getpid(), (long)(uintptr_t)told}, word;
    struct iovec here = {.iov_base = &word, .iov_len = sizeof word}, there = {.iov_len = sizeof word};
    const char *forbidden = getenv("MUR_SHM_SINGLE_COPY");
    int rank, can;

    MPI_Comm_rank(comm, &rank);
    MPI_Bcast(told, 2, MPI_LONG, 0, comm);
    there.iov_base = (void *)(uintptr_t)told[1];
    can = forbidden && !strcmp(forbidden, "0")
              ? 0
              : rank == 0 || syscall(SYS_process_vm_readv, told[0], &here, 1UL, &there, 1UL, 0UL) == (long)sizeof word;
    MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, comm);
    return can;
}

#endif
