/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits. What happens on a connection, with an agent or by time is an event; states.c says what is done and what comes
 * next. A visitor is not read while an answer to it is under way, so it cannot make the daemon keep more than that. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/daemon/daemon.h"
#include "launch/say.h"

bool mur_visit_is_unproven(const struct mur_visit *visit)
{
    return visit->state == MUR_VISIT_GREETING || visit->state == MUR_VISIT_CHALLENGED;
}

/* ---- what is said ---- */

static bool is_silent(const struct mur_visit *visit)
{
    return visit->queue_start == visit->queue_end && mur_seal_is_flushed(&visit->seal);
}

static void watch_for(struct mur_visit *visit, uint32_t events)
{
    if (visit->watch.fd < 0 || (visit->watch.is_active && visit->watched == events))
        return;
    visit->watched = events;
    mur_loop_rewatch(&visit->daemon->loop, &visit->watch, events);
}

/* What the agent writes is read when what it wrote before is on its way. */
static void watch_pipes(struct mur_visit *visit, bool is_wanted)
{
    for (int i = 0; i < 2; i++) {
        if (visit->pipes[i].watch.fd < 0)
            continue;
        if (is_wanted)
            mur_loop_watch(&visit->daemon->loop, &visit->pipes[i].watch, EPOLLIN);
        else
            mur_loop_unwatch(&visit->daemon->loop, &visit->pipes[i].watch);
    }
}

/* Seals and writes as much as there is room for. False with errno: the connection is broken. */
static bool pump(struct mur_visit *visit)
{
    uint32_t length;

    while (!is_silent(visit)) {
        if (visit->queue_start < visit->queue_end) {
            memcpy(&length, visit->queue + visit->queue_start, sizeof length);
            if (mur_seal_put(&visit->seal, visit->queue + visit->queue_start + sizeof length, length))
                visit->queue_start += sizeof length + length;
        }
        if (!mur_seal_flush(&visit->seal, visit->watch.fd))
            return errno == EAGAIN;
    }
    visit->queue_start = visit->queue_end = 0;
    return true;
}

void mur_visit_say(struct mur_visit *visit, enum mur_daemon_kind kind, const void *data, size_t bytes)
{
    uint32_t length = (uint32_t)bytes + 1;
    size_t room = sizeof length + length;

    if (visit->watch.fd < 0)
        return;
    if (visit->queue_space - visit->queue_end < room) {
        visit->queue_space = 2 * (visit->queue_end + room);
        visit->queue = mur_alloc_again(visit->queue, visit->queue_space, 1);
    }
    memcpy(visit->queue + visit->queue_end, &length, sizeof length);
    visit->queue[visit->queue_end + sizeof length] = (char)kind;
    if (bytes)
        memcpy(visit->queue + visit->queue_end + sizeof length + 1, data, bytes);
    visit->queue_end += room;
    watch_for(visit, EPOLLOUT);
    watch_pipes(visit, false);
}

void mur_visit_print(struct mur_visit *visit, const char *format, ...)
{
    char text[2000] = {1};
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text + 1, sizeof text - 1, format, args);
    va_end(args);
    if (length > 0)
        mur_visit_say(visit, MUR_DAEMON_OUTPUT, text, 1 + strlen(text + 1));
}

void mur_visit_end_answer(struct mur_visit *visit, int code)
{
    int32_t value = code;

    mur_visit_say(visit, MUR_DAEMON_ENDED, &value, sizeof value);
}

/* ---- actions ---- */

static void challenge(struct mur_visit *visit)
{
    struct mur_daemon *daemon = visit->daemon;
    unsigned char public[MUR_SEAL_PUBLIC_BYTES], secret[MUR_SEAL_KEY_BYTES];
    struct mur_daemon_challenge answer;
    struct mur_seal_keys keys;
    bool has_keys;

    mur_seal_pair(public, secret);
    mur_daemon_challenge_fill(&answer, public);
    visit->hello.user[sizeof visit->hello.user - 1] = '\0';
    has_keys = mur_daemon_keys(&keys, false, &visit->hello, &answer, secret,
                               mur_daemon_key_of(daemon, visit->hello.user, &visit->uid));
    mur_seal_wipe(secret, sizeof secret);
    if (!has_keys || send(visit->watch.fd, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) {
        mur_visit_event(visit, MUR_EVENT_HANGUP);
        return;
    }
    mur_seal_start(&visit->seal, &keys);
    mur_seal_wipe(&keys, sizeof keys);
}

/* In clear: the caller cannot read what another version seals. */
static void tell_version(struct mur_visit *visit)
{
    const unsigned char none[MUR_SEAL_PUBLIC_BYTES] = {0};
    struct mur_daemon_challenge answer;

    mur_daemon_challenge_fill(&answer, none);
    send(visit->watch.fd, &answer, sizeof answer, MSG_NOSIGNAL);
    watch_for(visit, EPOLLOUT);
}

static void welcome(struct mur_visit *visit)
{
    static const char text[] = "Murmur " MUR_VERSION;

    mur_visit_say(visit, MUR_DAEMON_WELCOME, text, sizeof text);
}

static void refuse(struct mur_visit *visit, enum mur_visit_event event)
{
    char text[100];

    snprintf(text, sizeof text, "this cannot be done in a session: %s", mur_visit_event_name(event));
    mur_visit_say(visit, MUR_DAEMON_REFUSED, text, strlen(text));
}

static void start_agent(struct mur_visit *visit)
{
    if (!mur_agent_launch(visit)) {
        mur_visit_event(visit, MUR_EVENT_START_FAILED);
        return;
    }
    visit->daemon->started_agents++;
    watch_pipes(visit, true);
}

static void close_pipes(struct mur_visit *visit)
{
    for (int i = 0; i < 2; i++) {
        if (visit->pipes[i].watch.fd < 0)
            continue;
        mur_loop_unwatch(&visit->daemon->loop, &visit->pipes[i].watch);
        close(visit->pipes[i].watch.fd);
        visit->pipes[i].watch.fd = -1;
    }
}

static void close_connection(struct mur_visit *visit)
{
    if (visit->watch.fd < 0)
        return;
    mur_loop_unwatch(&visit->daemon->loop, &visit->watch);
    close(visit->watch.fd);
    visit->watch.fd = -1;
    visit->queue_start = visit->queue_end = 0;
    watch_pipes(visit, true);
}

static void pass_output(struct mur_visit_pipe *pipe)
{
    if (mur_agent_relay(pipe))
        return;
    mur_loop_unwatch(&pipe->visit->daemon->loop, &pipe->watch);
    close(pipe->watch.fd);
    pipe->watch.fd = -1;
}

static void tell_end(struct mur_visit *visit)
{
    int status = visit->agent_status;

    for (int i = 0; i < 2; i++)
        while (visit->pipes[i].watch.fd >= 0 && mur_agent_relay(&visit->pipes[i]))
            continue;
    mur_visit_end_answer(visit, WIFEXITED(status) ? WEXITSTATUS(status) : MUR_EXIT_SIGNAL + WTERMSIG(status));
}

static void act(struct mur_visit *visit, enum mur_visit_action action, enum mur_visit_event event)
{
    switch (action) {
    case MUR_ACTION_AWAIT_HELLO:
        watch_for(visit, EPOLLIN);
        break;
    case MUR_ACTION_CHALLENGE:
        challenge(visit);
        break;
    case MUR_ACTION_TELL_VERSION:
        tell_version(visit);
        break;
    case MUR_ACTION_WELCOME:
        welcome(visit);
        break;
    case MUR_ACTION_OBEY:
        mur_daemon_obey(visit);
        break;
    case MUR_ACTION_START_AGENT:
        start_agent(visit);
        break;
    case MUR_ACTION_TELL_END:
        tell_end(visit);
        break;
    case MUR_ACTION_END_AGENT: /* one that runs ranks blocks it, and hears from the agent above what to do */
        if (visit->agent > 0)
            kill(visit->agent, SIGTERM);
        close_connection(visit);
        break;
    case MUR_ACTION_REFUSE:
        refuse(visit, event);
        break;
    case MUR_ACTION_HANG_UP:
        close_connection(visit);
        break;
    case MUR_ACTION_TELL_TROUBLE:
        mur_visit_say(visit, MUR_DAEMON_REFUSED, visit->trouble, strlen(visit->trouble));
        break;
    case MUR_ACTION_PASS_OUTPUT:
    case MUR_ACTION_DROP_OUTPUT: /* the same, to nobody */
        pass_output(visit->speaking);
        break;
    case MUR_ACTION_NOTHING:
    case MUR_VISIT_ACTIONS:
        break;
    }
}

static void trace(struct mur_visit *visit, enum mur_visit_event event, struct mur_transition to)
{
    struct mur_daemon *daemon = visit->daemon;
    FILE *out = daemon->trace ? daemon->trace : daemon->options->level > 1 ? stderr : NULL;
    time_t now = time(NULL);
    struct tm parts;
    char date[40] = "";

    if (!out)
        return;
    if (localtime_r(&now, &parts))
        strftime(date, sizeof date, "%F %T", &parts);
    fprintf(out, "%s visit %p: %s, %s: %s, %s\n", date, (void *)visit, mur_visit_state_name(visit->state),
            mur_visit_event_name(event), mur_visit_action_name(to.action), mur_visit_state_name(to.next));
    fflush(out);
}

void mur_visit_event(struct mur_visit *visit, enum mur_visit_event event)
{
    struct mur_daemon *daemon = visit->daemon;
    struct mur_transition to = mur_visit_transition(visit->state, event);
    bool was_unproven = mur_visit_is_unproven(visit), was_over = visit->state == MUR_VISIT_CLOSED;

    trace(visit, event, to);
    if (to.next != visit->state)
        visit->due = mur_visit_limit(to.next) ? mur_loop_now() + mur_visit_limit(to.next) : 0;
    visit->state = to.next;
    daemon->unproven += mur_visit_is_unproven(visit) - was_unproven;
    act(visit, to.action, event);
    if (visit->state != MUR_VISIT_CLOSED || was_over || to.next != MUR_VISIT_CLOSED)
        return;
    close_connection(visit);
    close_pipes(visit);
    TAILQ_REMOVE(&daemon->visits, visit, in_visits);
    TAILQ_INSERT_TAIL(&daemon->gone, visit, in_visits); /* the loop may have an event for it in hand */
    mur_timer_set(&daemon->timer, 0);
}

/* ---- what is heard ---- */

/* A hello, as far as it has come. */
static void read_hello(struct mur_visit *visit)
{
    struct mur_daemon_hello *hello = &visit->hello;
    ssize_t got = recv(visit->watch.fd, (char *)hello + visit->got, sizeof *hello - visit->got, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        mur_visit_event(visit, MUR_EVENT_HANGUP);
        return;
    }
    visit->got += (size_t)got;
    if (visit->got >= sizeof hello->magic && !mur_daemon_is_magic(hello->magic))
        mur_visit_event(visit, MUR_EVENT_STRANGE);
    else if (visit->got >= sizeof hello->magic + sizeof hello->protocol && hello->protocol != MUR_DAEMON_PROTOCOL)
        mur_visit_event(visit, MUR_EVENT_OTHER_VERSION);
    else if (visit->got == sizeof *hello)
        mur_visit_event(visit, MUR_EVENT_HELLO);
}

static enum mur_visit_event event_of(const char *message, size_t bytes)
{
    switch (message[0]) {
    case MUR_DAEMON_PROOF:
        return bytes == 1 ? MUR_EVENT_PROOF : MUR_EVENT_STRANGE;
    case MUR_DAEMON_COMMAND:
    case MUR_DAEMON_START: /* words, of which the last is ended, too */
        if (bytes < 3 || message[bytes - 1])
            return MUR_EVENT_STRANGE;
        return message[0] == MUR_DAEMON_START ? MUR_EVENT_START : MUR_EVENT_COMMAND;
    default:
        return MUR_EVENT_STRANGE;
    }
}

static bool is_listened_to(const struct mur_visit *visit)
{
    return visit->watch.fd >= 0 && visit->queue_start == visit->queue_end && visit->state != MUR_VISIT_CLOSED;
}

/* Takes the messages that have come, one after the answer to the other. */
static void take_messages(struct mur_visit *visit)
{
    char message[MUR_SEAL_CHUNK];

    while (is_listened_to(visit)) {
        ssize_t bytes = mur_seal_take(&visit->seal, message);

        if (bytes == 0)
            break;
        visit->message = message;
        visit->bytes = bytes > 0 ? (size_t)bytes : 0;
        mur_visit_event(visit, bytes < 0 ? MUR_EVENT_ALTERED : event_of(message, visit->bytes));
        visit->message = NULL;
        mur_seal_wipe(message, sizeof message);
    }
}

static void read_messages(struct mur_visit *visit)
{
    ssize_t got = mur_seal_fill(&visit->seal, visit->watch.fd);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        mur_visit_event(visit, MUR_EVENT_HANGUP);
    else
        take_messages(visit);
}

static void write_messages(struct mur_visit *visit)
{
    if (!pump(visit)) {
        mur_visit_event(visit, MUR_EVENT_HANGUP);
        return;
    }
    if (!is_silent(visit))
        return;
    watch_for(visit, EPOLLIN);
    watch_pipes(visit, true);
    mur_visit_event(visit, MUR_EVENT_FLUSHED);
    take_messages(visit);
}

static void visitor_ready(void *owner)
{
    struct mur_visit *visit = owner;

    if (visit->watched & EPOLLOUT)
        write_messages(visit);
    else if (visit->state == MUR_VISIT_GREETING)
        read_hello(visit);
    else
        read_messages(visit);
}

static void agent_says(void *owner)
{
    struct mur_visit_pipe *pipe = owner;

    pipe->visit->speaking = pipe;
    mur_visit_event(pipe->visit, MUR_EVENT_AGENT_SAYS);
}

struct mur_visit *mur_visit_begin(struct mur_daemon *daemon, int fd)
{
    struct mur_visit *visit = mur_alloc(1, sizeof *visit);

    visit->daemon = daemon;
    visit->since = mur_loop_now();
    visit->watch = (struct mur_watch){.fd = fd, .ready = visitor_ready, .owner = visit};
    for (int i = 0; i < 2; i++) {
        visit->pipes[i].visit = visit;
        visit->pipes[i].watch = (struct mur_watch){.fd = -1, .ready = agent_says, .owner = &visit->pipes[i]};
    }
    TAILQ_INSERT_TAIL(&daemon->visits, visit, in_visits);
    mur_visit_event(visit, MUR_EVENT_ARRIVES);
    return visit;
}

void mur_visits_free_gone(struct mur_daemon *daemon)
{
    struct mur_visit *visit;

    while ((visit = TAILQ_FIRST(&daemon->gone))) {
        TAILQ_REMOVE(&daemon->gone, visit, in_visits);
        mur_seal_wipe(&visit->seal, sizeof visit->seal);
        free(visit->queue);
        free(visit->job);
        free(visit);
    }
}
