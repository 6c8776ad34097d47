/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about jobs of a cluster. */
#ifndef MUR_MPIJOB_CLUSTER_H
#define MUR_MPIJOB_CLUSTER_H

#include <stdbool.h>

/* What the command line says; NULL: nothing. */
struct mur_cluster_words {
    const char *command, *space, *name, *pod, *kubeconfig, *server;
    bool follows;
};

int mur_cli_cluster(const struct mur_cluster_words *words); /* the exit code */

#endif
