/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher's agent and the ranks it starts agree on: the environment, the control socket, the node's memory.
 *
 * An agent starts the ranks of one node. Each rank inherits two descriptors, named by the environment:
 *   - the node's memory, one memfd shared by all ranks of the job on the node, long and sparse. Its
 *     start is a struct mur_job, which the agent fills in before it starts the ranks; the rest is zero, and the shm
 *     transport gives it its inner structure.
 *   - the control socket, a SOCK_SEQPACKET pair whose other end the agent keeps; one struct mur_control_message a
 *     packet. Ranks tell how they fare, and put values under keys and ask for them; only answers come back.
 * Without MUR_CONTROL_FD in the environment, a program is a world of one.
 *
 * Generations. What mpiexec starts as a rank may be a script that runs several MPI programs in turn. The first MPI
 * program of every rank belongs to generation 0, the second to generation 1, and so on. Each generation is a world of
 * its own: it has its own node memory, its own secret and its own keys for addresses, so a rank that is ahead can never
 * reach a program that another rank still runs. Generation 0 uses the inherited memory. A later program asks the agent
 * for the memory of its generation (MUR_CONTROL_MEMORY); so does every program that is no child of the agent, since the
 * answer means that the agent watches the process, and will know how it ends. A rank counts its programs in the
 * inherited memory (struct mur_job_programs), which also shows that at most one of them is in MPI at a time. */
#ifndef MUR_BOOT_JOB_H
#define MUR_BOOT_JOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define MUR_JOB_PROTOCOL 7 /* raised whenever anything in this file changes its meaning */

/* Environment variables of a rank; all are decimal numbers but MUR_JOB_ID, MUR_INITIAL_ERRHANDLER,
 * the sets and the port. */
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
#define MUR_ENV_PARENT     "MUR_PARENT_PORT"        /* the port of who spawned the job; only where somebody did */
#define MUR_ENV_PSETS                                                                                                  \
    "MUR_PROCESS_SETS" /* "NAME RANKS NAME RANKS" (boot/psets.h); only where mpiexec was told of some */
#define MUR_ENV_SNAPSHOTS  "MUR_SNAPSHOTS" /* 1: the job may be restarted from a snapshot; only where it may */
#define MUR_ENV_CONTROL_FD "MUR_CONTROL_FD"
#define MUR_ENV_NODE_FD    "MUR_NODE_FD"

enum { MUR_SECRET_BYTES = 32 };

enum { MUR_PSET_NAME_MAX = 1024 }; /* bytes of the name of a process set, with its NUL */

/* The same for all ranks of the node, but read by none before it is complete, but for machine_ranks. */
struct mur_job {
    unsigned char secret[MUR_SECRET_BYTES]; /* known to the processes of the job alone; proves a connection's right */
    uint64_t bytes;                         /* of the node's memory, this included */
    int32_t size;                           /* ranks of the job */
    int32_t nodes;
    int32_t node;          /* this one's number */
    int32_t local_size;    /* ranks on it */
    int32_t is_fixed;      /* the file of the node's memory cannot be made longer */
    int32_t agent;         /* its pid, as it sees itself */
    int32_t machine_ranks; /* on the machine, which may be several nodes, with the same cores; 0: not known yet */
    int32_t node_of[];     /* [size] the number of each rank's node; behind it, struct mur_job_programs [local_size] */
};

/* The MPI programs of one rank, in the inherited memory. Only that rank's processes write here. A program takes the
 * next number by raising `begun` from `ended`, with compare-and-exchange; it stores `ended` when it has finalized. */
struct mur_job_programs {
    _Atomic uint32_t begun; /* programs that have begun MPI */
    _Atomic uint32_t ended; /* those that have finalized; less than `begun` while one is in MPI */
    _Atomic int32_t pid;    /* of the latest, as it sees itself */
};

static inline struct mur_job_programs *mur_job_programs_of(const struct mur_job *job, int local_rank)
{
    uint64_t start = sizeof(struct mur_job) + (uint64_t)job->size * sizeof(int32_t);

    return (struct mur_job_programs *)((char *)job + start) + local_rank;
}

/* Bytes at the start of the node's memory that the job takes: whole pages. No node has more than `size` ranks. */
static inline uint64_t mur_job_bytes(int size)
{
    return (sizeof(struct mur_job) + (uint64_t)size * (sizeof(int32_t) + sizeof(struct mur_job_programs)) + 4095) &
           ~UINT64_C(4095);
}

/* Virtual size of the node's memory, where no limit makes it smaller: a fixed part and a share a rank. Sparse: only
 * what is touched is used. */
static inline uint64_t mur_node_bytes(int size, int local_ranks)
{
    return mur_job_bytes(size) + (UINT64_C(256) << 20) + (uint64_t)local_ranks * (UINT64_C(32) << 20);
}

enum mur_control_kind {
    MUR_CONTROL_INIT = 1,  /* the sender began MPI initialisation; from now on it must finalize before it exits.
                            * value: the generation of its program; text: a struct mur_control_look */
    MUR_CONTROL_FINALIZED, /* the sender has finalized */
    MUR_CONTROL_EXITING,   /* the sender, which is in MPI, calls exit with the code in value */
    MUR_CONTROL_ABORT, /* end the job: value is the exit code, text says why (one or more lines, no final newline) */
    MUR_CONTROL_PUT,   /* keep, for all ranks of the job: text is the key, a NUL, and the value */
    MUR_CONTROL_GET,   /* ask for the value of the key in text */
    MUR_CONTROL_SPAWN_TEXT, /* what is to be spawned, or the next part of it (boot/spawn.h) */
    MUR_CONTROL_SPAWN,      /* spawn it: text is a name for it, under which a value is put when it has ended */
    MUR_CONTROL_VALUE,      /* from the agent, as soon as some rank has put it: the key, a NUL, and the value */
    MUR_CONTROL_SOCKET,  /* this network socket is the library's, which makes it anew after a restart: text is its inode
                          */
    MUR_CONTROL_FOREIGN, /* the sender is connected with so many more processes of other jobs, or with so many less */
    MUR_CONTROL_RESTARTED, /* from the agent, the first message after a restart from a snapshot: hosts, addresses and
                            * the secret are others; the agent knows neither questions nor values of before */
    MUR_CONTROL_MEMORY,    /* ask for the node's memory of the generation in value. From the agent: the same, and the
                            * memory's descriptor with it (SCM_RIGHTS) */
};

/* Where the sender's struct mur_look (boot/look.h) is, for its agent to read. */
struct mur_control_look {
    uint32_t form, calls, bytes, unused; /* as mur_look says; other versions are not read */
    uint64_t address;
};

struct mur_control_message {
    uint32_t kind; /* enum mur_control_kind */
    int32_t value;
    uint32_t length; /* bytes of text in use, no terminating NUL */
    char text[2036];
};

#endif
