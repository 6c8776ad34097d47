/* SPDX-License-Identifier: BSD-3-Clause */
/* Greetings under way: connections on which the handshake of base/handshake.h is not over.
 *
 * Strangers may connect too, say nothing or anything. They cost a descriptor and a small record each, for a minute at
 * most, and when there are many the oldest goes first. Nothing that comes is believed before the proof, and nothing
 * but a closed connection is answered to what is wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "base/settings.h"
#include "boot/job.h"
#include "boot/process.h"
#include "transport/tcp/tcp.h"

enum {
    GREETINGS_MAX = 128, /* of those who call; our own calls come on top */
    CALLED_MS = 60000,   /* for a caller to prove itself: it may compute meanwhile */
};

static size_t awaited_bytes(const struct mur_greeting *greeting)
{
    switch (greeting->awaited) {
    case MUR_GREET_HELLO:
        return sizeof greeting->message.hello;
    case MUR_GREET_CHALLENGE:
        return sizeof greeting->message.challenge;
    case MUR_GREET_PROOF:
        return sizeof greeting->message.proof;
    default:
        return sizeof greeting->message.welcome;
    }
}

static struct mur_greeting *add(int fd, bool is_caller, uint64_t patience)
{
    struct mur_greeting *greeting = calloc(1, sizeof *greeting);

    if (!greeting)
        return NULL;
    greeting->fd = fd;
    greeting->is_caller = is_caller;
    greeting->due = mur_tcp_now() + patience;
    TAILQ_INSERT_TAIL(&mur_tcp.greetings, greeting, in_greetings);
    mur_tcp.greeting_count += !is_caller;
    mur_tcp.is_timed = true;
    return greeting;
}

/* Takes the record away; the descriptor is the caller's again. */
static void forget(struct mur_greeting *greeting)
{
    TAILQ_REMOVE(&mur_tcp.greetings, greeting, in_greetings);
    mur_tcp.greeting_count -= !greeting->is_caller;
    if (greeting->link && greeting->link->greeting == greeting)
        greeting->link->greeting = NULL;
    free(greeting);
}

void mur_greet_drop(struct mur_greeting *greeting)
{
    mur_tcp_close(greeting->fd);
    forget(greeting);
}

/* A call of ours that came to nothing; 0: the peer calls itself. */
static void fail(struct mur_greeting *greeting, int error)
{
    struct mur_link *link = greeting->link;

    mur_tcp_close(greeting->fd);
    forget(greeting);
    if (link)
        mur_link_call_failed(link, error);
}

static bool say(const struct mur_greeting *greeting, const void *message, size_t bytes)
{
    return send(greeting->fd, message, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

/* Frames go out when the library says so; and what is sent must be acknowledged, or the connection is broken, within
 * the time limit. */
static void set_options(int fd)
{
    unsigned limit = (unsigned)mur_settings.tcp_timeout * 1000u;
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
    if (mur_settings.tcp_buffer) {
        int bytes = (int)mur_settings.tcp_buffer;

        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
}

/* ---- calling ---- */

bool mur_greet_call(struct mur_link *link, const struct mur_address *address, uint64_t patience)
{
    struct sockaddr_storage socket_address;
    socklen_t length = mur_address_socket(address, &socket_address);
    int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct mur_greeting *greeting;
    int error;

    if (fd < 0)
        return false;
    set_options(fd);
    greeting = add(fd, true, patience);
    if (!greeting || (connect(fd, (struct sockaddr *)&socket_address, length) < 0 && errno != EINPROGRESS)) {
        error = greeting ? errno : ENOMEM;
        if (greeting)
            forget(greeting);
        close(fd);
        errno = error;
        return false;
    }
    greeting->link = link;
    greeting->is_connecting = true;
    greeting->awaited = MUR_GREET_CHALLENGE;
    link->greeting = greeting;
    mur_tcp_watch(fd, EPOLLOUT, MUR_TCP_GREETING, greeting, true);
    return true;
}

static void connected(struct mur_greeting *greeting)
{
    int error = 0;
    socklen_t length = sizeof error;

    getsockopt(greeting->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
        fail(greeting, error);
        return;
    }
    greeting->is_connecting = false;
    mur_handshake_call(&greeting->handshake, mur_process.job->secret, MUR_PURPOSE_RANKS, mur_process.rank,
                       greeting->link->peer->process);
    if (!say(greeting, &greeting->handshake.hello, sizeof greeting->handshake.hello))
        fail(greeting, ECONNRESET);
    else
        mur_tcp_watch(greeting->fd, EPOLLIN, MUR_TCP_GREETING, greeting, false);
}

static void challenged(struct mur_greeting *greeting)
{
    struct mur_proof proof;

    greeting->received = greeting->link->received;
    if (!mur_handshake_prove(&greeting->handshake, &greeting->message.challenge, greeting->received, &proof))
        fail(greeting, EACCES); /* somebody else has that address, or that port */
    else if (!say(greeting, &proof, sizeof proof))
        fail(greeting, ECONNRESET);
    else
        greeting->awaited = MUR_GREET_WELCOME;
}

static void welcomed(struct mur_greeting *greeting)
{
    const struct mur_welcome *welcome = &greeting->message.welcome;
    struct mur_link *link = greeting->link;
    uint64_t received = welcome->received;
    int fd = greeting->fd;

    if (!mur_handshake_is_welcome(&greeting->handshake, greeting->received, welcome)) {
        fail(greeting, EACCES);
    } else if (welcome->verdict != MUR_VERDICT_WELCOME) {
        fail(greeting, 0);
    } else {
        forget(greeting);
        mur_link_join(link, fd, received);
    }
}

/* ---- being called ---- */

void mur_greet_accept(void)
{
    int fd;

    while ((fd = accept4(mur_tcp.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct mur_greeting *greeting, *oldest;

        if (mur_tcp.greeting_count >= GREETINGS_MAX) {
            TAILQ_FOREACH(oldest, &mur_tcp.greetings, in_greetings)
            if (!oldest->is_caller)
                break;
            mur_greet_drop(oldest);
        }
        greeting = add(fd, false, CALLED_MS);
        if (!greeting) {
            close(fd);
            continue;
        }
        set_options(fd);
        mur_tcp_watch(fd, EPOLLIN, MUR_TCP_GREETING, greeting, true);
    }
}

static void greeted(struct mur_greeting *greeting)
{
    const struct mur_hello hello = greeting->message.hello;
    struct mur_challenge challenge;

    if (mur_handshake_answer(&greeting->handshake, mur_process.job->secret, MUR_PURPOSE_RANKS, &hello, &challenge) !=
            MUR_HELLO_FINE ||
        hello.to != mur_process.rank || hello.from < 0 || hello.from >= mur_tcp.peer_count ||
        hello.from == mur_process.rank || !say(greeting, &challenge, sizeof challenge))
        mur_greet_drop(greeting);
    else
        greeting->awaited = MUR_GREET_PROOF;
}

/* What the old connection still has comes first: it may be the end of it. */
static void read_out(struct mur_link *link)
{
    uint64_t before;

    do {
        before = link->received;
        if (link->state == MUR_LINK_UP)
            mur_in_read(link);
    } while (link->state == MUR_LINK_UP && link->received != before);
}

/* The peer calls, and so do we, having sent our proof: of the two calls the lower process's goes on. */
static bool is_crossed(const struct mur_link *link)
{
    return link->greeting && link->greeting->awaited == MUR_GREET_WELCOME && mur_process.rank < link->peer->process;
}

static void proven(struct mur_greeting *greeting)
{
    const struct mur_proof proof = greeting->message.proof;
    struct mur_welcome welcome;
    struct mur_link *link;
    bool crossed;
    int fd = greeting->fd;

    if (!mur_handshake_is_proven(&greeting->handshake, &proof)) {
        mur_greet_drop(greeting);
        return;
    }
    link = mur_link_find(&mur_tcp.peers[greeting->handshake.hello.from]);
    read_out(link);
    crossed = is_crossed(link);
    mur_handshake_welcome(&greeting->handshake, &proof, crossed ? MUR_VERDICT_CROSSED : MUR_VERDICT_WELCOME,
                          link->received, &welcome);
    if (!say(greeting, &welcome, sizeof welcome) || crossed) {
        mur_greet_drop(greeting);
        return;
    }
    forget(greeting);
    mur_link_join(link, fd, proof.received);
}

/* ---- both ---- */

void mur_greet_ready(struct mur_greeting *greeting, uint32_t events)
{
    size_t bytes = awaited_bytes(greeting);
    ssize_t got;

    if (greeting->is_connecting) {
        if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
            connected(greeting);
        return;
    }
    got = recv(greeting->fd, (char *)&greeting->message + greeting->got, bytes - greeting->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        fail(greeting, got < 0 ? errno : ECONNRESET);
        return;
    }
    greeting->got += (size_t)got;
    if (greeting->got < bytes)
        return;
    greeting->got = 0;
    if (greeting->awaited == MUR_GREET_HELLO)
        greeted(greeting);
    else if (greeting->awaited == MUR_GREET_CHALLENGE)
        challenged(greeting);
    else if (greeting->awaited == MUR_GREET_PROOF)
        proven(greeting);
    else
        welcomed(greeting);
}

void mur_greets_tick(uint64_t now)
{
    struct mur_greeting *greeting, *next;

    for (greeting = TAILQ_FIRST(&mur_tcp.greetings); greeting; greeting = next) {
        next = TAILQ_NEXT(greeting, in_greetings);
        if (greeting->due <= now)
            fail(greeting, greeting->is_connecting ? ETIMEDOUT : EBUSY); /* busy: connected, and not answered */
    }
}
