/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec: the habits of MPICH's and Open MPI's users, in tables of options. */
#ifndef MUR_LAUNCH_OPTIONS_H
#define MUR_LAUNCH_OPTIONS_H

#include <stddef.h>

#include "launch/jobspec.h"

/* Fills *job from the arguments and from the settings in the environment (defaults.c). Returns 0, or MUR_EXIT_USAGE
 * with a message in `error`. When help, the version or another such command is
 * asked for, nothing after that option is looked at. */
int mur_options_parse(char **argv, struct mur_jobspec *job, char *error, size_t error_size);

/* Prints the overview (topic: NULL), a topic, an option, or `all`. Returns 0, or MUR_EXIT_USAGE with a message. */
int mur_options_print_help(const char *topic, char *error, size_t error_size);

#endif
