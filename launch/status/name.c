/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/status/name.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

socklen_t mur_status_name(struct sockaddr_un *address, uid_t user, pid_t pid)
{
    int length;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, MUR_STATUS_NAME "%u.%d", (unsigned)user,
                      (int)pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool mur_status_is_trusted(int fd)
{
    struct ucred who;
    socklen_t bytes = sizeof who;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && (who.uid == getuid() || who.uid == 0);
}
