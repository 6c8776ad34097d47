/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher's agent and the ranks it starts agree on: the environment, the control socket, the node's memory.
 *
 * An agent starts the ranks of one node. Each rank inherits two descriptors, named by the environment:
 *   - the node's memory, one memfd shared by all ranks of the job on the node. The agent creates it zeroed and
 *     sparse, MUR_NODE_BYTES long; the shm transport gives it its inner structure.
 *   - the control socket, a SOCK_SEQPACKET pair whose other end the agent keeps. Rank to agent only, one
 *     struct mur_control_message per packet.
 * Without MUR_CONTROL_FD in the environment, a program is a world of one. */
#ifndef MUR_BOOT_JOB_H
#define MUR_BOOT_JOB_H

#include <stddef.h>
#include <stdint.h>

#define MUR_JOB_PROTOCOL 2 /* raised whenever anything in this file changes its meaning */

/* Environment variables of a rank; all are decimal numbers but MUR_JOB_ID and MUR_INITIAL_ERRHANDLER. */
#define MUR_ENV_PROTOCOL   "MUR_JOB_PROTOCOL"
#define MUR_ENV_JOB_ID     "MUR_JOB_ID"             /* a name for messages and logs, unique on the host */
#define MUR_ENV_RANK       "MUR_RANK"               /* rank in MPI_COMM_WORLD */
#define MUR_ENV_SIZE       "MUR_SIZE"               /* size of MPI_COMM_WORLD */
#define MUR_ENV_LOCAL_RANK "MUR_LOCAL_RANK"         /* index among the ranks of this node */
#define MUR_ENV_LOCAL_SIZE "MUR_LOCAL_SIZE"         /* number of ranks on this node */
#define MUR_ENV_APPNUM     "MUR_APPNUM"             /* index of the ':'-separated context */
#define MUR_ENV_MAXPROCS   "MUR_MAXPROCS"           /* number of ranks that the context asked for */
#define MUR_ENV_ERRHANDLER "MUR_INITIAL_ERRHANDLER" /* a name, "mpi_errors_return"; only where mpiexec was told one */
#define MUR_ENV_UNIVERSE   "MUR_UNIVERSE_SIZE"      /* MPI_UNIVERSE_SIZE; only where mpiexec was told one */
#define MUR_ENV_CONTROL_FD "MUR_CONTROL_FD"
#define MUR_ENV_NODE_FD    "MUR_NODE_FD"

/* Virtual size of the node's memory: a fixed part and a share a rank. Sparse: only what is touched is used. */
static inline uint64_t mur_node_bytes(int local_ranks)
{
    return (UINT64_C(256) << 20) + (uint64_t)local_ranks * (UINT64_C(32) << 20);
}

enum mur_control_kind {
    MUR_CONTROL_INIT = 1,  /* the rank began MPI initialisation; from now on it must finalize before it exits */
    MUR_CONTROL_FINALIZED, /* the rank has finalized; its exit code is its own affair */
    MUR_CONTROL_ABORT, /* end the job: value is the exit code, text says why (one or more lines, no final newline) */
};

struct mur_control_message {
    uint32_t kind; /* enum mur_control_kind */
    int32_t value;
    uint32_t length; /* bytes of text in use, no terminating NUL */
    char text[2036];
};

#endif
