/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent: starts the ranks of this node and the agents below it, forwards output and signals, reports failures,
 * leaves nothing. */
#ifndef MUR_LAUNCH_AGENT_H
#define MUR_LAUNCH_AGENT_H

#include <sys/resource.h>

#include "launch/jobspec.h"

struct mur_parent_link;

struct mur_agent_place {                 /* in the tree of agents */
    int place, end;                      /* it looks after the places [place, end), its own included */
    int supervisor_fd;                   /* mpiexec's own agent: the packets of frame.h to and from mpiexec */
    struct mur_parent_link *parent_link; /* another one: its way up */
    struct mur_loop *loop;               /* which that already uses */
};

/* Lives the agent's life in a process of its own, which has all signals blocked. Returns when no process of its part of
 * the job is left. */
void mur_agent_run(const struct mur_jobspec *job, const struct rlimit *files, const struct mur_agent_place *place);

/* The life of an agent that was started on another host: what `mpiexec -agent ...` does, which mur_start_agent of
 * tree/start.c has made up. */
int mur_remote_run(char **argv);

#endif
