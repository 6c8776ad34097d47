/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -man NAME. */
#ifndef MUR_LAUNCH_MANUAL_H
#define MUR_LAUNCH_MANUAL_H

/* Shows the page, by man where that is installed, else as plain text on stdout. Returns the exit code, or not at all
 * when man takes over. */
int mur_manual_show(const char *name);

#endif
