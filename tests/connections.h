/* SPDX-License-Identifier: BSD-3-Clause */
/* The network connections of this process: finding them, and breaking one. */
#ifndef MUR_TEST_CONNECTIONS_H
#define MUR_TEST_CONNECTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { CONNECTION_FDS = 64 }; /* descriptors that are looked at */

static inline bool is_connection(int fd)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;

    return getpeername(fd, (struct sockaddr *)&address, &bytes) == 0 &&
           (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

/* One of them, to a peer or from one, as a network would: both ends learn of it; or, abruptly, with what is under way
 * in both directions lost. */
static inline void break_connection(bool is_abrupt)
{
    int found[CONNECTION_FDS], count = 0;

    for (int fd = 3; fd < CONNECTION_FDS; fd++)
        if (is_connection(fd))
            found[count++] = fd;
    if (!count)
        return;
    if (is_abrupt) {
        struct sockaddr none = {.sa_family = AF_UNSPEC};

        connect(found[count - 1], &none, sizeof none); /* resets it */
    } else {
        shutdown(found[0], SHUT_RDWR);
    }
}

#endif
