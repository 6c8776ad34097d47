/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a job as bytes: what an agent on another host is told of it, with the directory and environment
 * that mpiexec was started in. Both ends are the same version of Murmur, which the handshake has shown. */
#ifndef MUR_LAUNCH_TREE_SPEC_H
#define MUR_LAUNCH_TREE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/jobspec.h"

struct mur_spec {
    char *data;
    size_t bytes, space;
};

/* Writes it, with this process's directory and environment. */
void mur_spec_write(struct mur_spec *spec, const struct mur_jobspec *job);

/* Reads it; what it points to lasts for ever. False: the bytes make no sense. */
bool mur_spec_read(const char *data, size_t bytes, struct mur_jobspec *job, char **directory, char ***environment);

#endif
