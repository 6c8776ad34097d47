/* SPDX-License-Identifier: BSD-3-Clause */
/* Greetings under way: connections on which the handshake of base/handshake.h is not over.
 *
 * Strangers may connect too, say nothing or anything. A connection is *silent* until its hello has come, whose MAC only
 * those can make who know the secret. Silent ones cost a descriptor and a small record each. There are at most
 * SILENT_MAX of them; for more, the oldest must go, but not before it has had SILENT_MS, in which a process that is in
 * MPI has said its hello long since. Until then new callers wait in the system's queue, and listening has a pause. So a
 * flood of connections costs this process no more than SILENT_MAX of them every SILENT_MS, and never ends a greeting
 * whose hello has come. A peer that connected and went away to compute, and whose connection has gone meanwhile, calls
 * again.
 *
 * Nothing that comes is believed before the proof, and nothing but a closed connection is answered to what is wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot/job.h"
#include "boot/process.h"
#include "transport/tcp/port.h"
#include "transport/tcp/sealed.h"
#include "transport/tcp/tcp.h"

enum {
    SILENT_MAX = 256,
    SILENT_MS = 50,
    CALLED_MORE = 1024, /* greetings of those who call and have said their hello: two a peer, and so many for ports */
    CALLED_MS = 60000,  /* for a caller to prove itself: it may compute meanwhile */
    PAUSE_MS = 100,     /* of listening, when the system has no descriptor or memory for a connection */
    LOOKS = 256,        /* passes in which epoll is asked at once, since the next message of a greeting comes soon */
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
    greeting->is_silent = !is_caller;
    greeting->since = mur_tcp_now();
    greeting->due = greeting->since + patience;
    TAILQ_INSERT_TAIL(is_caller ? &mur_tcp.greetings : &mur_tcp.silent, greeting, in_greetings);
    mur_tcp.silent_count += greeting->is_silent;
    mur_tcp_set_timer(greeting->due);
    return greeting;
}

static void take_out(struct mur_greeting *greeting)
{
    TAILQ_REMOVE(greeting->is_silent ? &mur_tcp.silent : &mur_tcp.greetings, greeting, in_greetings);
    mur_tcp.silent_count -= greeting->is_silent;
    mur_tcp.called_count -= !greeting->is_silent && !greeting->is_caller;
}

/* The hello has come. */
static void is_heard(struct mur_greeting *greeting)
{
    take_out(greeting);
    greeting->is_silent = false;
    TAILQ_INSERT_TAIL(&mur_tcp.greetings, greeting, in_greetings);
    mur_tcp.called_count++;
}

/* Takes the record away; the descriptor is the caller's again. */
static void forget(struct mur_greeting *greeting)
{
    take_out(greeting);
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
    struct mur_port_call *call = greeting->call;

    mur_tcp_close(greeting->fd);
    forget(greeting);
    if (link)
        mur_link_call_failed(link, error);
    if (call) {
        call->error = error;
        call->is_over = true;
    }
}

static bool say(const struct mur_greeting *greeting, const void *message, size_t bytes)
{
    return send(greeting->fd, message, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

/* ---- calling ---- */

/* A socket; -1 with errno. */
static int open_socket(int family)
{
    int fd;

    mur_files_reserve();
    do
        fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    while (fd < 0 && mur_files_more());
    if (fd >= 0)
        mur_files_suffice();
    else if (errno == EMFILE || errno == ENFILE)
        mur_files_are_short(errno);
    return fd;
}

static struct mur_greeting *call_address(const struct mur_address *address, uint64_t patience)
{
    struct sockaddr_storage socket_address;
    socklen_t length = mur_address_socket(address, &socket_address);
    int fd = open_socket(address->family), error;
    struct mur_greeting *greeting;

    if (fd < 0)
        return NULL;
    mur_socket_begin(fd);
    mur_socket_options(fd);
    greeting = add(fd, true, patience);
    if (!greeting || (connect(fd, (struct sockaddr *)&socket_address, length) < 0 && errno != EINPROGRESS)) {
        error = greeting ? errno : ENOMEM;
        if (greeting)
            forget(greeting);
        close(fd);
        errno = error;
        return NULL;
    }
    greeting->is_connecting = true;
    greeting->awaited = MUR_GREET_CHALLENGE;
    mur_tcp_watch(fd, EPOLLOUT, MUR_TCP_GREETING, greeting, true);
    return greeting;
}

bool mur_greet_call(struct mur_link *link, const struct mur_address *address, uint64_t patience)
{
    struct mur_greeting *greeting = call_address(address, patience);

    if (!greeting)
        return false;
    greeting->link = link;
    link->greeting = greeting;
    return true;
}

bool mur_greet_call_port(struct mur_port_call *call, uint64_t patience)
{
    struct mur_greeting *greeting = call_address(&call->address, patience);

    if (!greeting)
        return false;
    greeting->call = call;
    return true;
}

/* Says who calls whom, and chooses the secret that both must know. */
static void begin_call(struct mur_greeting *greeting)
{
    const struct mur_foreign *foreign = greeting->link ? greeting->link->peer->foreign : NULL;

    if (greeting->call)
        mur_handshake_call(&greeting->handshake, greeting->call->secret, MUR_PURPOSE_PORT, mur_tcp.own.job,
                           mur_process.rank, greeting->call->port);
    else if (foreign)
        mur_handshake_call(&greeting->handshake, foreign->identity.secret, MUR_PURPOSE_FOREIGN, mur_tcp.own.job,
                           mur_process.rank, foreign->identity.rank);
    else
        mur_handshake_call(&greeting->handshake, mur_process.job->secret, MUR_PURPOSE_RANKS, 0, mur_process.rank,
                           greeting->link->peer->process);
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
    begin_call(greeting);
    mur_handshake_offer(&greeting->handshake, mur_sealed_offer(greeting->fd));
    if (!say(greeting, &greeting->handshake.hello, sizeof greeting->handshake.hello))
        fail(greeting, ECONNRESET);
    else
        mur_tcp_watch(greeting->fd, EPOLLIN, MUR_TCP_GREETING, greeting, false);
}

/* The peer, which has shown that it knows the secret, does not have the same setting. */
static void disagree(struct mur_greeting *greeting)
{
    const struct mur_link *link = greeting->link;
    char text[400];

    if (link && !link->peer->foreign) {
        mur_sealed_complain(link, greeting->handshake.hello.seal, greeting->handshake.seal, text, sizeof text);
        mur_boot_abort(1, text);
    }
    fail(greeting, EPROTONOSUPPORT);
}

static void challenged(struct mur_greeting *greeting)
{
    struct mur_proof proof;

    greeting->received = greeting->link ? greeting->link->received : 0;
    if (!mur_handshake_prove(&greeting->handshake, &greeting->message.challenge, greeting->received, &proof))
        fail(greeting, EACCES); /* somebody else has that address, or that port */
    else if (!mur_sealed_agree(greeting->handshake.hello.seal, greeting->handshake.seal))
        disagree(greeting);
    else if (!say(greeting, &proof, sizeof proof))
        fail(greeting, ECONNRESET);
    else
        greeting->awaited = MUR_GREET_WELCOME;
}

static void welcomed(struct mur_greeting *greeting)
{
    const struct mur_welcome *welcome = &greeting->message.welcome;
    struct mur_link *link = greeting->link;
    struct mur_port_call *call = greeting->call;
    struct mur_handshake handshake = greeting->handshake;
    uint64_t received = welcome->received;
    int fd = greeting->fd;

    if (!mur_handshake_is_welcome(&greeting->handshake, greeting->received, welcome)) {
        fail(greeting, EACCES);
    } else if (welcome->verdict != MUR_VERDICT_WELCOME) {
        fail(greeting, 0);
    } else if (call) {
        forget(greeting);
        mur_tcp_unwatch(fd);
        call->line.fd = fd;
        mur_handshake_keys(&handshake, true, call->line.send_key, call->line.receive_key);
        call->is_over = true;
    } else {
        forget(greeting);
        mur_link_join(link, fd, received, &handshake, true);
    }
}

/* ---- being called ---- */

static void watch_listeners(uint32_t events)
{
    for (int i = 0; i < mur_tcp.listener_count; i++)
        mur_tcp_watch(mur_tcp.listeners[i], events, MUR_TCP_LISTENER, &mur_tcp, false);
}

/* Until then. Those who call meanwhile wait in the system's queue. */
static void pause_listening(uint64_t due)
{
    if (!mur_tcp.listen_due)
        watch_listeners(0);
    mur_tcp.listen_due = due;
    mur_tcp_set_timer(due);
}

/* The oldest silent one goes, unless its hello has come meanwhile: this process may have computed for long. */
static void end_oldest(void)
{
    struct mur_greeting *oldest = TAILQ_FIRST(&mur_tcp.silent);

    mur_greet_ready(oldest, EPOLLIN);
    if (TAILQ_FIRST(&mur_tcp.silent) == oldest)
        mur_greet_drop(oldest);
}

void mur_greets_stop(void)
{
    struct mur_greeting *greeting, *next;

    for (int i = 0; i < mur_tcp.listener_count; i++) {
        mur_tcp_unwatch(mur_tcp.listeners[i]);
        shutdown(mur_tcp.listeners[i], SHUT_RDWR); /* the port stays this process's */
    }
    while ((greeting = TAILQ_FIRST(&mur_tcp.silent)))
        mur_greet_drop(greeting);
    for (greeting = TAILQ_FIRST(&mur_tcp.greetings); greeting; greeting = next) {
        next = TAILQ_NEXT(greeting, in_greetings);
        if (!greeting->is_caller)
            mur_greet_drop(greeting);
    }
    mur_tcp.listen_due = 0;
    mur_tcp.is_deaf = true;
}

void mur_greets_start(void)
{
    if (!mur_tcp.is_deaf)
        return;
    mur_tcp.is_deaf = false;
    for (int i = 0; i < mur_tcp.listener_count; i++) {
        if (!mur_address_listen_again(mur_tcp.listeners[i]))
            mur_boot_abort(1, "the port that this process listened at before has been taken by another one");
        mur_tcp_watch(mur_tcp.listeners[i], EPOLLIN, MUR_TCP_LISTENER, &mur_tcp, true);
    }
}

/* Whether one more may be let in. */
static bool has_room(void)
{
    struct mur_greeting *oldest = TAILQ_FIRST(&mur_tcp.silent);

    if (mur_tcp.silent_count < SILENT_MAX)
        return true;
    if (mur_tcp_now() - oldest->since < SILENT_MS) {
        pause_listening(oldest->since + SILENT_MS);
        return false;
    }
    end_oldest();
    return true;
}

/* Takes one caller in. Where there is no descriptor for it, a silent one must give up its own. -1: there is none, or
 * none can be taken. */
static int accept_one(int listener)
{
    int fd;

    mur_files_reserve();
    for (;;) {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            mur_files_suffice();
            return fd;
        }
        if (errno == EAGAIN) {
            mur_files_suffice(); /* the system looks for a descriptor first */
            return -1;
        }
        if (errno == EMFILE || errno == ENFILE) {
            if (mur_files_more())
                continue;
            if (mur_tcp.silent_count) {
                end_oldest();
                continue;
            }
            mur_files_are_short(errno);
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_listening(mur_tcp_now() + PAUSE_MS);
        if (errno != EINTR && errno != ECONNABORTED)
            return -1; /* other errors are of one caller's network: epoll tells of the next */
    }
}

static void let_in(int fd)
{
    struct mur_greeting *greeting = add(fd, false, CALLED_MS);

    if (!greeting) {
        close(fd);
        return;
    }
    mur_socket_options(fd);
    mur_tcp_watch(fd, EPOLLIN, MUR_TCP_GREETING, greeting, true);
    mur_greet_ready(greeting, EPOLLIN); /* the hello of a peer is mostly there */
}

void mur_greet_accept(int listener)
{
    int fd;

    while (has_room() && (fd = accept_one(listener)) >= 0)
        let_in(fd);
}

/* The peer that a hello says it comes from; NULL: none that may call. */
static struct mur_peer *caller(const struct mur_hello *hello)
{
    if (hello->to != mur_process.rank)
        return NULL;
    if (hello->purpose == MUR_PURPOSE_FOREIGN) {
        struct mur_peer *peer = mur_foreign_find(hello->job, hello->from);

        return peer && !peer->foreign->is_lost ? peer : NULL; /* lost is lost: others count on it */
    }
    if (hello->purpose != MUR_PURPOSE_RANKS || hello->from < 0 || hello->from >= mur_tcp.peer_count ||
        hello->from == mur_process.rank)
        return NULL;
    return &mur_tcp.peers[hello->from];
}

/* What a caller must know; NULL: what it wants is not to be had. */
static const unsigned char *secret_for(const struct mur_hello *hello)
{
    if (hello->purpose == MUR_PURPOSE_PORT)
        return mur_port_secret(hello->to);
    if (!caller(hello))
        return NULL;
    return hello->purpose == MUR_PURPOSE_FOREIGN ? mur_tcp.own.secret : mur_process.job->secret;
}

static uint64_t connections_of(const struct mur_peer *peer)
{
    const struct mur_link *link = peer ? peer->link : NULL;

    return link ? link->connections : 0;
}

/* Of callers who have said their hello: they know the secret, and a peer has one call under way at a time. */
static bool are_too_many(void)
{
    return mur_tcp.called_count >= 2 * (mur_tcp.peer_count + mur_engine.foreign_count) + CALLED_MORE;
}

static void greeted(struct mur_greeting *greeting)
{
    const struct mur_hello hello = greeting->message.hello;
    const unsigned char *secret = secret_for(&hello);
    struct mur_challenge challenge;

    greeting->connections = connections_of(caller(&hello));
    if (!secret ||
        mur_handshake_answer(&greeting->handshake, secret, hello.purpose, &hello, &challenge) != MUR_HELLO_FINE ||
        are_too_many()) {
        mur_greet_drop(greeting);
        return;
    }
    mur_handshake_settle(&greeting->handshake, mur_sealed_answer(greeting->fd, hello.seal), &challenge);
    if (!say(greeting, &challenge, sizeof challenge)) {
        mur_greet_drop(greeting);
        return;
    }
    is_heard(greeting);
    greeting->awaited = MUR_GREET_PROOF;
}

/* What the old connection still has comes first: it may be the end of it. */
static void read_out(struct mur_link *link)
{
    uint64_t before;

    do {
        before = mur_link_heard(link);
        if (link->state == MUR_LINK_UP)
            mur_in_read(link);
    } while (link->state == MUR_LINK_UP && mur_link_heard(link) != before);
}

/* The peer calls, and so do we, having sent our proof: of the two calls the lower process's goes on. Or its call is
 * over already: our own call has connected the two since the peer called, and the peer has given up its call, whose
 * proof was on its way. What that proof says the peer has received is old. */
static bool is_crossed(const struct mur_greeting *greeting, const struct mur_link *link)
{
    if (link->connections != greeting->connections)
        return true;
    return link->greeting && link->greeting->awaited == MUR_GREET_WELCOME && mur_tcp_is_first(link->peer);
}

/* Who calls a port waits there; the connection is not this transport's any more. */
static void proven_to_port(struct mur_greeting *greeting)
{
    int number = greeting->handshake.hello.to;
    struct mur_port_line line = {.fd = greeting->fd};
    struct mur_welcome welcome;

    mur_handshake_welcome(&greeting->handshake, &greeting->message.proof, MUR_VERDICT_WELCOME, 0, &welcome);
    if (!mur_port_secret(number) || !say(greeting, &welcome, sizeof welcome)) {
        mur_greet_drop(greeting);
        return;
    }
    mur_handshake_keys(&greeting->handshake, false, line.send_key, line.receive_key);
    forget(greeting);
    mur_tcp_unwatch(line.fd);
    mur_port_arrived(number, &line);
}

static void proven(struct mur_greeting *greeting)
{
    const struct mur_proof proof = greeting->message.proof;
    struct mur_handshake handshake = greeting->handshake;
    struct mur_welcome welcome;
    struct mur_peer *peer;
    struct mur_link *link;
    bool crossed;
    int fd = greeting->fd;

    if (!mur_handshake_is_proven(&greeting->handshake, &proof)) {
        mur_greet_drop(greeting);
        return;
    }
    if (greeting->handshake.hello.purpose == MUR_PURPOSE_PORT) {
        proven_to_port(greeting);
        return;
    }
    peer = caller(&greeting->handshake.hello);
    if (!peer) {
        mur_greet_drop(greeting);
        return;
    }
    link = mur_link_find(peer);
    read_out(link);
    crossed = is_crossed(greeting, link);
    mur_handshake_welcome(&greeting->handshake, &proof, crossed ? MUR_VERDICT_CROSSED : MUR_VERDICT_WELCOME,
                          link->received, &welcome);
    if (!say(greeting, &welcome, sizeof welcome) || crossed) {
        mur_greet_drop(greeting);
        return;
    }
    forget(greeting);
    mur_link_join(link, fd, proof.received, &handshake, false);
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
    mur_tcp.looks = LOOKS;
    if (greeting->awaited == MUR_GREET_HELLO)
        greeted(greeting);
    else if (greeting->awaited == MUR_GREET_CHALLENGE)
        challenged(greeting);
    else if (greeting->awaited == MUR_GREET_PROOF)
        proven(greeting);
    else
        welcomed(greeting);
}

static int end_late(struct mur_greetings *greetings, uint64_t now)
{
    struct mur_greeting *greeting, *next;
    int given_up = 0;

    for (greeting = TAILQ_FIRST(greetings); greeting; greeting = next) {
        next = TAILQ_NEXT(greeting, in_greetings);
        if (greeting->due > now)
            continue;
        fail(greeting, greeting->is_connecting ? ETIMEDOUT : EBUSY); /* busy: connected, and not answered */
        given_up++;
    }
    return given_up;
}

int mur_greets_tick(uint64_t now)
{
    int acted = end_late(&mur_tcp.silent, now) + end_late(&mur_tcp.greetings, now);

    if (!mur_tcp.listen_due || mur_tcp.listen_due > now)
        return acted;
    mur_tcp.listen_due = 0;
    watch_listeners(EPOLLIN);
    for (int i = 0; i < mur_tcp.listener_count && !mur_tcp.listen_due; i++)
        mur_greet_accept(mur_tcp.listeners[i]);
    return acted + 1;
}

uint64_t mur_greets_due(void)
{
    const struct mur_greeting *silent = TAILQ_FIRST(&mur_tcp.silent), *greeting;
    uint64_t due = mur_tcp.listen_due ? mur_tcp.listen_due : UINT64_MAX;

    if (silent && silent->due < due) /* all of them have had the same time */
        due = silent->due;
    TAILQ_FOREACH(greeting, &mur_tcp.greetings, in_greetings)
    if (greeting->due < due)
        due = greeting->due;
    return due;
}
