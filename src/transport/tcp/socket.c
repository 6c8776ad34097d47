/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the sockets of connections.
 *
 * The sizes of buffers are set before a connection is made, on the socket that calls and on the listener, from which
 * accepted sockets inherit them (tcp(7)). A connection begins with a window that fits its receiver's buffer, and the
 * sender chooses its segments by that window. If the buffer shrinks later, a segment can be larger than the window will
 * ever be again: then Linux sends what the window has room for only when a timer of 200 ms ends.
 *
 * Some algorithms of congestion control (BBR) send at a pace that they keep with timers. Between hosts that is the
 * administrator's choice. On one host nothing is lost and the timers cost three quarters of the bandwidth, so there the
 * algorithm is "reno", which every Linux has and allows. A socket that has once been paced stays so in part. Therefore
 * all begin with "reno", which those that are accepted inherit from the listener, and get the system's algorithm when
 * their ends turn out to be of two hosts. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/address.h"
#include "base/settings.h"
#include "transport/tcp/tcp.h"

static char systems[16]; /* algorithm; "": not asked yet, or not told */

void mur_socket_begin(int fd)
{
    socklen_t length = sizeof systems - 1;
    int bytes = (int)mur_settings.tcp_buffer;

    if (bytes) {
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
    if (!systems[0] && getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, systems, &length))
        systems[0] = 0;
    if (systems[0])
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof "reno" - 1);
}

/* Frames go out when the library says so; and what is sent must be acknowledged, or the connection is broken, within
 * the time limit. */
void mur_socket_options(int fd)
{
    unsigned limit = (unsigned)mur_settings.tcp_timeout * 1000u;
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

/* False: the addresses cannot be had. */
static bool ends_of(int fd, struct mur_address *own, struct mur_address *peer)
{
    struct sockaddr_storage own_name, peer_name;
    socklen_t own_length = sizeof own_name, peer_length = sizeof peer_name;

    return getsockname(fd, (struct sockaddr *)&own_name, &own_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&peer_name, &peer_length) == 0 && mur_address_of_socket(own, &own_name) &&
           mur_address_of_socket(peer, &peer_name);
}

bool mur_socket_is_near(int fd)
{
    struct mur_address own, peer;

    return ends_of(fd, &own, &peer) && memcmp(own.bytes, peer.bytes, sizeof own.bytes) == 0;
}

/* The connection serves from now on. A peer that called is named by its address, until somebody asks for its host. */
void mur_socket_joined(int fd, char *host, size_t room)
{
    struct mur_address own, peer;
    char text[64];

    if (!ends_of(fd, &own, &peer))
        return;
    if (!host[0])
        snprintf(host, room, "%s", mur_address_text(&peer, text));
    if (memcmp(own.bytes, peer.bytes, sizeof own.bytes) != 0 && systems[0])
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, systems, (socklen_t)strlen(systems));
}

/* This job's launcher does not watch the hosts of another one. A host that is gone is noticed while this process only
 * waits for it: the connection breaks when nothing has answered until the time limit (TCP_USER_TIMEOUT). */
void mur_socket_keep_alive(int fd)
{
    int on = 1, seconds = mur_settings.tcp_timeout < 4 ? 1 : (int)(mur_settings.tcp_timeout / 4);

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
}

/* What the socket still has goes out again by the next connection: spliced memory may change afterwards. */
void mur_socket_forget_unsent(int fd)
{
    const struct linger none = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}
