/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts one rank: its pipes, control socket, environment and process.
 *
 * Every descriptor of the agent is close-on-exec; a rank receives 0, 1, 2, its control and PMI sockets and the node's
 * memory, and what mpiexec itself inherited. Each rank leads a process group, so that a signal reaches what it started
 * too. It also receives the end of a pipe by which the kernel kills its whole group when the agent is no more, unless
 * it is started by a root process (checkpoint/root.h), whose end is its own. */
#ifndef MUR_LAUNCH_SPAWN_H
#define MUR_LAUNCH_SPAWN_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "launch/environment.h"
#include "launch/frame.h"
#include "launch/jobspec.h"

struct mur_spawner {
    const struct mur_jobspec *job;
    struct mur_environment *environments; /* one a context */
    char ***shell_argvs;                  /* one a context, for programs that turn out to be scripts without #! */
    struct rlimit files;                  /* the limits ranks get back */
    int node_fd;
    int null_fd;  /* for reading and writing */
    int pmi_port; /* 0: PMI is at a descriptor of each rank */
    int life_fd;  /* the reading end of a pipe whose other end only the agent has; -1: none */
    int stdin_fd; /* of the rank to be started; -1: nothing */
};

struct mur_channels { /* both ends of a rank's connections, [0] the agent's; of its output [0] is for reading */
    int out[2];
    int err[2];
    int control[2];
    int pmi[2];
};

struct mur_spawned { /* a rank and the agent's ends of what connects them */
    pid_t pid;
    int appnum;
    int control_fd;
    int pmi_fd;
    int stdout_fd;
    int stderr_fd;
};

void mur_spawner_prepare(struct mur_spawner *spawner, const struct mur_jobspec *job, const struct rlimit *files);
/* Returns false with *failure filled when they cannot be opened; what is open then goes with the process. */
bool mur_channels_open(struct mur_channels *channels, const struct mur_jobspec *job, int rank,
                       struct mur_tree_frame *failure);
void mur_channels_close_rank(const struct mur_channels *channels); /* the rank's ends */
/* The agent's ends become the rank's, of which nothing else is known yet. */
void mur_channels_keep(const struct mur_channels *channels, struct mur_spawned *spawned);

/* Returns 0 with *failure filled when the rank could not be started with these. */
pid_t mur_spawner_start_with(struct mur_spawner *spawner, int rank, int appnum, const struct mur_channels *channels,
                             struct mur_tree_frame *failure);
/* Opens them, too. Returns false with *failure filled when the rank could not be started. */
bool mur_spawner_start(struct mur_spawner *spawner, int rank, int appnum, struct mur_spawned *spawned,
                       struct mur_tree_frame *failure);

#endif
