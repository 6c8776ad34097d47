/* SPDX-License-Identifier: BSD-3-Clause */
/* Greetings of agents. A visitor has five seconds to prove itself. It is silent until its hello has come, whose MAC
 * only those can make who know the secret. There are at most SILENT_MAX silent ones; for more, the oldest must go, but
 * not before it has had SILENT_MS. Until then new visitors wait in the system's queue. So a flood of connections never
 * ends a greeting whose hello has come. */
#include "launch/tree/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"

enum { SILENT_MAX = 256, SILENT_MS = 100, VISIT_MS = 5000 };

struct mur_visitor {
    struct mur_acceptor *acceptor;
    struct mur_watch watch;
    struct mur_handshake handshake;
    bool is_proving; /* else it is silent: its hello is awaited */
    size_t got;
    int64_t since, due;
    union {
        struct mur_hello hello;
        struct mur_proof proof;
    } message;
    TAILQ_ENTRY(mur_visitor) in_visitors;
};

static void take_out(struct mur_visitor *visitor)
{
    struct mur_acceptor *acceptor = visitor->acceptor;

    TAILQ_REMOVE(visitor->is_proving ? &acceptor->proving : &acceptor->silent, visitor, in_visitors);
    acceptor->silent_count -= !visitor->is_proving;
}

/* The descriptor is the caller's from now on. */
static void forget(struct mur_visitor *visitor)
{
    struct mur_acceptor *acceptor = visitor->acceptor;

    mur_loop_unwatch(acceptor->loop, &visitor->watch);
    take_out(visitor);
    TAILQ_INSERT_TAIL(&acceptor->gone, visitor, in_visitors); /* the loop may have an event for it in hand */
    mur_timer_set(&acceptor->timer, 0);
}

static void send_away(struct mur_visitor *visitor)
{
    int fd = visitor->watch.fd;

    forget(visitor);
    close(fd);
}

static bool say(int fd, const void *message, size_t bytes)
{
    return send(fd, message, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static void take_hello(struct mur_visitor *visitor)
{
    struct mur_acceptor *acceptor = visitor->acceptor;
    const struct mur_hello hello = visitor->message.hello;
    bool wants_secret = hello.purpose == MUR_PURPOSE_SECRET;
    const struct mur_keys_heard *keys = wants_secret ? acceptor->may_fetch(acceptor->owner, hello.from) : NULL;
    struct mur_challenge challenge;
    enum mur_hello_fault fault;

    if (wants_secret && !keys) {
        send_away(visitor);
        return;
    }
    fault = mur_handshake_answer(&visitor->handshake, keys ? keys->shared : acceptor->secret,
                                 keys ? MUR_PURPOSE_SECRET : MUR_PURPOSE_AGENTS, &hello, &challenge);
    if (fault == MUR_HELLO_VERSION && !acceptor->has_complained++)
        mur_say("somebody calls who speaks version %u of Murmur's protocol between hosts, not %d; if it is an agent of "
                "this job, install the same version of Murmur on all hosts",
                hello.protocol, MUR_WIRE_PROTOCOL);
    if (fault != MUR_HELLO_FINE || hello.to != acceptor->own || !say(visitor->watch.fd, &challenge, sizeof challenge)) {
        send_away(visitor);
        return;
    }
    take_out(visitor);
    visitor->is_proving = true;
    TAILQ_INSERT_TAIL(&acceptor->proving, visitor, in_visitors);
}

/* It calls again, as any agent, when it has the secret. */
static void give_secret(struct mur_visitor *visitor, const struct mur_proof *proof)
{
    struct mur_acceptor *acceptor = visitor->acceptor;
    struct mur_keys_heard *keys = acceptor->may_fetch(acceptor->owner, visitor->handshake.hello.from);
    struct mur_welcome welcome;

    mur_handshake_welcome(&visitor->handshake, proof, MUR_VERDICT_WELCOME, 0, &welcome);
    if (keys && say(visitor->watch.fd, &welcome, sizeof welcome))
        mur_keys_give(keys, &visitor->handshake, visitor->watch.fd, acceptor->secret);
    send_away(visitor);
}

static void take_proof(struct mur_visitor *visitor)
{
    struct mur_acceptor *acceptor = visitor->acceptor;
    const struct mur_proof proof = visitor->message.proof;
    int fd = visitor->watch.fd, place = visitor->handshake.hello.from;
    struct mur_welcome welcome;
    uint64_t received;

    if (!mur_handshake_is_proven(&visitor->handshake, &proof) || !acceptor->knows(acceptor->owner, place, &received)) {
        send_away(visitor);
        return;
    }
    if (visitor->handshake.hello.purpose == MUR_PURPOSE_SECRET) {
        give_secret(visitor, &proof);
        return;
    }
    mur_handshake_welcome(&visitor->handshake, &proof, MUR_VERDICT_WELCOME, received, &welcome);
    if (!say(fd, &welcome, sizeof welcome)) {
        send_away(visitor);
        return;
    }
    forget(visitor);
    acceptor->enters(acceptor->owner, place, fd, proof.received, &visitor->handshake);
}

static void visitor_ready(void *owner)
{
    struct mur_visitor *visitor = owner;
    size_t room = visitor->is_proving ? sizeof visitor->message.proof : sizeof visitor->message.hello;
    ssize_t got = recv(visitor->watch.fd, (char *)&visitor->message + visitor->got, room - visitor->got, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        send_away(visitor);
        return;
    }
    visitor->got += (size_t)got;
    if (visitor->got < (visitor->is_proving ? room : mur_hello_bytes(&visitor->message.hello, visitor->got)))
        return;
    visitor->got = 0;
    if (visitor->is_proving)
        take_proof(visitor);
    else
        take_hello(visitor);
}

/* ---- who knocks ---- */

/* How long until one more may be let in. */
static int64_t full_for(void *owner)
{
    struct mur_acceptor *acceptor = owner;
    struct mur_visitor *oldest = TAILQ_FIRST(&acceptor->silent);
    int64_t left;

    if (acceptor->silent_count < SILENT_MAX)
        return 0;
    left = oldest->since + SILENT_MS - mur_loop_now();
    if (left > 0)
        return left;
    visitor_ready(oldest); /* its hello may have come meanwhile */
    if (TAILQ_FIRST(&acceptor->silent) == oldest)
        send_away(oldest);
    return 0;
}

static void let_in(void *owner, int fd)
{
    struct mur_acceptor *acceptor = owner;
    struct mur_visitor *visitor = mur_alloc(1, sizeof *visitor);

    visitor->acceptor = acceptor;
    visitor->since = mur_loop_now();
    visitor->due = visitor->since + VISIT_MS;
    visitor->watch = (struct mur_watch){.fd = fd, .ready = visitor_ready, .owner = visitor};
    TAILQ_INSERT_TAIL(&acceptor->silent, visitor, in_visitors);
    acceptor->silent_count++;
    mur_loop_watch(acceptor->loop, &visitor->watch, EPOLLIN);
    if (!acceptor->timer.deadline)
        mur_timer_set(&acceptor->timer, VISIT_MS);
}

/* The proving ones need not be in the order of their time, by a little. */
static void send_late_ones_away(void *owner)
{
    struct mur_acceptor *acceptor = owner;
    struct mur_visitors *lists[] = {&acceptor->silent, &acceptor->proving};
    struct mur_visitor *visitor;

    while ((visitor = TAILQ_FIRST(&acceptor->gone))) {
        TAILQ_REMOVE(&acceptor->gone, visitor, in_visitors);
        free(visitor);
    }
    for (int i = 0; i < 2; i++) {
        while ((visitor = TAILQ_FIRST(lists[i])) && visitor->due <= mur_loop_now())
            send_away(visitor);
        if (visitor && (!acceptor->timer.deadline || visitor->due < acceptor->timer.deadline))
            mur_timer_set(&acceptor->timer, visitor->due - mur_loop_now());
    }
}

bool mur_acceptor_open(struct mur_acceptor *acceptor, struct mur_loop *loop)
{
    int fds[MUR_ADDRESSES_MAX], count = mur_addresses_listen(fds, &acceptor->port);

    if (!count)
        return false;
    acceptor->loop = loop;
    TAILQ_INIT(&acceptor->silent);
    TAILQ_INIT(&acceptor->proving);
    TAILQ_INIT(&acceptor->gone);
    acceptor->timer = (struct mur_timer){.fire = send_late_ones_away, .owner = acceptor};
    mur_loop_add_timer(loop, &acceptor->timer);
    acceptor->listener = (struct mur_listener){.full_for = full_for, .arrived = let_in, .owner = acceptor};
    mur_listener_open(&acceptor->listener, loop, fds, count);
    return true;
}
