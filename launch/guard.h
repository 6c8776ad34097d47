/* SPDX-License-Identifier: BSD-3-Clause */
/* The guard of an agent: its parent, which does nothing until the agent is dead, and then kills what is left of the
 * agent's ranks, daemons included. So nothing stays behind when somebody kills mpiexec and its agents at once. */
#ifndef MUR_LAUNCH_GUARD_H
#define MUR_LAUNCH_GUARD_H

/* Returns in a child of this process, which stays as its guard, and ends as the child does. The child's number is
 * written to `tell_fd` as a pid_t, unless that is -1. */
void mur_guard_split(int tell_fd);

#endif
