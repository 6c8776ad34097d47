/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals as events of a loop. */
#ifndef MUR_LAUNCH_SIGNALS_H
#define MUR_LAUNCH_SIGNALS_H

/* A descriptor that tells of these signals, a list that 0 ends; they are blocked from now on, and SIGPIPE is ignored.
 * -1 with errno. */
int mur_signals_open(const int *signals);

#endif
