/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket that listens. */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/http/stream.h"

int mur_http_listen(const char *address, int *port)
{
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    char *host = mur_alloc_text("%.*s", colon ? (int)(colon - address) : 0, address);
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    int fd = -1, yes = 1, code;

    if (!colon)
        mur_quit(MUR_EXIT_USAGE, "--listen %s: HOST:PORT is expected", address);
    code = getaddrinfo(*host ? host : NULL, colon + 1, &hints, &found);
    if (code)
        mur_quit(MUR_EXIT_USAGE, "--listen %s: %s", address, gai_strerror(code));
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, 256) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &length) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot listen at %s: %s", address, strerror(errno));
    *port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                            : ((struct sockaddr_in *)&own)->sin_port);
    freeaddrinfo(found);
    free(host);
    return fd;
}
