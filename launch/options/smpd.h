/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the daemon: this program under the name `smpd`, or `mpiexec -daemon`. */
#ifndef MUR_LAUNCH_OPTIONS_SMPD_H
#define MUR_LAUNCH_OPTIONS_SMPD_H

#include <stdbool.h>

bool mur_daemon_is_meant(char **argv);
int mur_daemon_main(char **argv); /* returns the exit code */

#endif
