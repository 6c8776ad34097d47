/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling the parent: each step, connecting, its challenge, its welcome, has STEP_MS. */
#include "launch/tree/call.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { STEP_MS = 2000 };

static void end(struct mur_parent_call *call, int fd, int error, uint64_t peer_received)
{
    if (call->watch.fd >= 0) {
        mur_loop_unwatch(call->loop, &call->watch);
        if (fd < 0)
            close(call->watch.fd);
    }
    call->watch.fd = -1;
    mur_timer_clear(&call->timer);
    call->over(call->owner, fd, error, peer_received);
}

static void fail(struct mur_parent_call *call, int error)
{
    end(call, -1, error, 0);
}

static void await(struct mur_parent_call *call, int what, uint32_t events)
{
    call->awaited = what;
    call->got = 0;
    mur_loop_rewatch(call->loop, &call->watch, events);
    mur_timer_set(&call->timer, STEP_MS);
}

static bool say(const struct mur_parent_call *call, const void *message, size_t bytes)
{
    return send(call->watch.fd, message, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static void connected(struct mur_parent_call *call)
{
    int error = 0;
    socklen_t length = sizeof error;

    getsockopt(call->watch.fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
        fail(call, error);
        return;
    }
    mur_handshake_call(&call->handshake, call->secret, MUR_PURPOSE_AGENTS, 0, call->own, call->parent);
    if (!say(call, &call->handshake.hello, sizeof call->handshake.hello))
        fail(call, ECONNRESET);
    else
        await(call, MUR_CALL_CHALLENGE, EPOLLIN);
}

static void challenged(struct mur_parent_call *call)
{
    struct mur_proof proof;

    if (!mur_handshake_prove(&call->handshake, &call->message.challenge, call->received, &proof))
        fail(call, EACCES);
    else if (!say(call, &proof, sizeof proof))
        fail(call, ECONNRESET);
    else
        await(call, MUR_CALL_WELCOME, EPOLLIN);
}

static void welcomed(struct mur_parent_call *call)
{
    if (mur_handshake_is_welcome(&call->handshake, call->received, &call->message.welcome))
        end(call, call->watch.fd, 0, call->message.welcome.received);
    else
        fail(call, EACCES);
}

/* A parent that closes after our hello has read one that it does not like. */
static int lost(const struct mur_parent_call *call, int error)
{
    return error == ECONNRESET && call->awaited == MUR_CALL_CHALLENGE ? EPROTO : error;
}

static void heard(void *owner)
{
    struct mur_parent_call *call = owner;
    size_t bytes = call->awaited == MUR_CALL_CHALLENGE ? sizeof call->message.challenge : sizeof call->message.welcome;
    ssize_t got;

    if (call->awaited == MUR_CALL_CONNECTING) {
        connected(call);
        return;
    }
    got = recv(call->watch.fd, (char *)&call->message + call->got, bytes - call->got, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        fail(call, lost(call, got < 0 ? errno : ECONNRESET));
        return;
    }
    call->got += (size_t)got;
    if (call->got == bytes)
        (call->awaited == MUR_CALL_CHALLENGE ? challenged : welcomed)(call);
}

/* The step took too long, or the call has failed before there was anything to wait for. */
static void late(void *owner)
{
    struct mur_parent_call *call = owner;

    fail(call, call->watch.fd < 0 ? call->error : ETIMEDOUT);
}

void mur_call_init(struct mur_parent_call *call, struct mur_loop *loop)
{
    call->loop = loop;
    call->watch = (struct mur_watch){.fd = -1, .ready = heard, .owner = call};
    call->timer = (struct mur_timer){.fire = late, .owner = call};
    mur_loop_add_timer(loop, &call->timer);
}

void mur_call_start(struct mur_parent_call *call, const struct mur_address *address, uint64_t received)
{
    struct sockaddr_storage name;
    socklen_t length = mur_address_socket(address, &name);
    int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    call->received = received;
    call->watch.fd = fd;
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (connect(fd, (struct sockaddr *)&name, length) == 0 || errno == EINPROGRESS) {
            await(call, MUR_CALL_CONNECTING, EPOLLOUT);
            return;
        }
    }
    call->error = errno;
    if (fd >= 0)
        close(fd);
    call->watch.fd = -1;
    mur_timer_set(&call->timer, 0);
}
