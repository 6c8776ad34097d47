/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of ranks: that of mpiexec, less what belongs to an outer launcher, plus the user's and our own. */
#ifndef MUR_LAUNCH_ENVIRONMENT_H
#define MUR_LAUNCH_ENVIRONMENT_H

#include "launch/jobspec.h"

struct mur_environment { /* of one context; one buffer is filled anew for each rank */
    char **variables;    /* NULL-terminated: the common ones, then the rank's own */
    int common_count;
    char *texts;         /* memory of the rank's own */
    char *gpu_texts;     /* of those that name its GPUs, */
    const char *gpus[2]; /* and which there are to choose of, for each: "0,2,3", or "" for any */
};

struct mur_rank_place { /* what differs between the ranks, beside what placement knows */
    int rank;
    int appnum;
    int control_fd;
    int pmi_fd;
    int pmi_port; /* 0: none */
    int node_fd;
};

void mur_environment_prepare(struct mur_environment *environment, const struct mur_jobspec *job,
                             const struct mur_context *context);
void mur_environment_set_rank(struct mur_environment *environment, const struct mur_jobspec *job,
                              const struct mur_rank_place *place);

#endif
