/* SPDX-License-Identifier: BSD-3-Clause */
/* Watching a process that is not a child, by a descriptor that becomes readable when it ends. */
#ifndef MUR_LAUNCH_PIDFD_H
#define MUR_LAUNCH_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/* -1 with errno: ESRCH where the process is gone; ENOSYS before Linux 5.3. */
int mur_pidfd_open(pid_t pid);

/* How the process ended, as waitpid would tell. False where the kernel does not tell: before Linux 6.15 it does only
 * until the parent has waited for the process. */
bool mur_pidfd_status(int fd, pid_t pid, int *status);

#endif
