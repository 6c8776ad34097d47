/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the sockets at which running mpiexecs are asked, and who may ask (desk.h). */
#ifndef MUR_LAUNCH_STATUS_NAME_H
#define MUR_LAUNCH_STATUS_NAME_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define MUR_STATUS_NAME "murmur-job." /* then the user's number, '.', and the process number */

/* Returns the length of the address. */
socklen_t mur_status_name(struct sockaddr_un *address, uid_t user, pid_t pid);

/* Whether the process at the other end is of this user, or of root. */
bool mur_status_is_trusted(int fd);

#endif
