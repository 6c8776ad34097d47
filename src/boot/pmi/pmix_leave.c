/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaving a PMIx server so that it notices.
 *
 * When mpirun sees that a process has ended, its PMIx server (4.2 at least) closes the connection to it, and forgets to
 * take the connection out of its event loop, unless it has come to read the connection's end before. On a busy machine
 * it often has not. The next process whose connection gets the same number is then never heard: it waits in PMIx_Init
 * for ever, and whoever has spawned it waits for its call. So a process that leaves while others may still come keeps
 * a second descriptor of its connection, by which it sees when the server has closed its side, and ends only then. */
#include "boot/pmi/pmix_leave.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"

enum { PATIENCE_MS = 2000 }; /* for a server that is stopped; it is no error */

/* As in "0123.0;tcp4://127.0.0.1:4000". All variables of a server say the same place. */
static bool find_server(struct mur_address *server)
{
    static const char *const names[] = {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                        "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]), *place = value ? strstr(value, "://") : NULL;

        if (place && mur_address_read(place + 3, server))
            return true;
    }
    return false;
}

static bool leads_to(int fd, const struct mur_address *server)
{
    struct sockaddr_storage wanted, peer = {0};
    socklen_t length = sizeof peer, wanted_length = mur_address_socket(server, &wanted);

    return getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && length == wanted_length &&
           memcmp(&peer, &wanted, length) == 0;
}

int mur_pmix_leave_begin(void)
{
    struct mur_address server;
    DIR *directory = find_server(&server) ? opendir("/proc/self/fd") : NULL;
    const struct dirent *entry;
    int copy = -1;

    while (directory && copy < 0 && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' && leads_to(atoi(entry->d_name), &server))
            copy = fcntl(atoi(entry->d_name), F_DUPFD_CLOEXEC, 0);
    if (directory)
        closedir(directory);
    return copy;
}

/* This side is shut down, so in the state of the connection one sees what the other side has done. */
static bool is_open_there(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof info;

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           (info.tcpi_state == TCP_ESTABLISHED || info.tcpi_state == TCP_FIN_WAIT1 || info.tcpi_state == TCP_FIN_WAIT2);
}

void mur_pmix_leave_end(int copy)
{
    if (copy < 0)
        return;
    for (int ms = 0; ms < PATIENCE_MS && is_open_there(copy); ms++)
        usleep(1000);
    close(copy);
}
