/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting. Where descriptors are short, listening pauses, or the loop would turn for nothing. */
#include "launch/listener.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { SHORT_MS = 100 };

static void pause_listening(struct mur_listener *listener, int64_t delay)
{
    for (int i = 0; i < listener->socket_count; i++)
        mur_loop_unwatch(listener->loop, &listener->sockets[i].watch);
    mur_timer_set(&listener->pause, delay);
}

static void listen_again(void *owner)
{
    struct mur_listener *listener = owner;

    for (int i = 0; i < listener->socket_count; i++)
        mur_loop_watch(listener->loop, &listener->sockets[i].watch, EPOLLIN);
}

static void somebody_knocks(void *owner)
{
    const struct mur_listener_socket *socket = owner;
    struct mur_listener *listener = socket->listener;
    int64_t wait = listener->full_for(listener->owner);
    int fd, on = 1;

    if (wait > 0) {
        pause_listening(listener, wait);
        return;
    }
    fd = accept4(socket->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_listening(listener, SHORT_MS);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    listener->arrived(listener->owner, fd);
}

void mur_listener_open(struct mur_listener *listener, struct mur_loop *loop, const int *fds, int count)
{
    listener->loop = loop;
    listener->socket_count = count;
    listener->pause = (struct mur_timer){.fire = listen_again, .owner = listener};
    mur_loop_add_timer(loop, &listener->pause);
    for (int i = 0; i < count; i++) {
        struct mur_listener_socket *socket = &listener->sockets[i];

        socket->listener = listener;
        socket->watch = (struct mur_watch){.fd = fds[i], .ready = somebody_knocks, .owner = socket};
        mur_loop_watch(loop, &socket->watch, EPOLLIN);
    }
}
