/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's table of states, walked at random; and the daemon itself, whose visitors say random and hostile things.
 * Nothing is done for somebody who has not proved the phrase, every visit ends, and afterwards an honest visitor is
 * served. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/secret.h"
#include "launch/daemon/daemon.h"
#include "unit.h"

enum { WALKS = 20000, STEPS = 30, VISITS = 400, PATIENCE_MS = 20000 };

static struct mur_daemon smpd;
static struct mur_daemon_options options;

/* ---- the table ---- */

static void every_walk_is_safe(void)
{
    for (int walk = 0; walk < WALKS; walk++) {
        enum mur_visit_state state = MUR_VISIT_LISTENING;
        bool is_proved = false, has_agent = false;

        for (int step = 0; step < STEPS; step++) {
            enum mur_visit_event event = below(MUR_VISIT_EVENTS);
            struct mur_transition to = mur_visit_transition(state, event);

            CHECK(to.next < MUR_VISIT_STATES && to.action < MUR_VISIT_ACTIONS);
            is_proved |= state == MUR_VISIT_CHALLENGED && event == MUR_EVENT_PROOF;
            has_agent |= state == MUR_VISIT_SESSION && event == MUR_EVENT_START;
            if (to.action == MUR_ACTION_OBEY || to.action == MUR_ACTION_START_AGENT || to.action == MUR_ACTION_WELCOME)
                CHECK(is_proved);
            if (to.next == MUR_VISIT_SESSION)
                CHECK(is_proved);
            if (to.next == MUR_VISIT_JOB || to.next == MUR_VISIT_LEFT)
                CHECK(has_agent);
            if (state == MUR_VISIT_CLOSED)
                CHECK(to.next == MUR_VISIT_CLOSED && to.action == MUR_ACTION_NOTHING);
            state = to.next;
        }
    }
}

static void every_state_has_its_ends(void)
{
    for (int state = 0; state < MUR_VISIT_STATES; state++) {
        CHECK(mur_visit_state_name(state) != NULL);
        CHECK(mur_visit_transition(state, MUR_EVENT_END).next == MUR_VISIT_CLOSED);
        if (mur_visit_limit(state))
            CHECK(mur_visit_transition(state, MUR_EVENT_LATE).next != (enum mur_visit_state)state);
        if (state != MUR_VISIT_LISTENING && state != MUR_VISIT_LEFT && state != MUR_VISIT_CLOSED)
            CHECK(mur_visit_transition(state, MUR_EVENT_HANGUP).next != (enum mur_visit_state)state);
    }
    for (int state = MUR_VISIT_GREETING; state <= MUR_VISIT_CHALLENGED; state++) {
        CHECK(mur_visit_transition(state, MUR_EVENT_CROWDED).next == MUR_VISIT_CLOSED);
        CHECK(mur_visit_transition(state, MUR_EVENT_ALTERED).next == MUR_VISIT_CLOSED);
        CHECK(mur_visit_transition(state, MUR_EVENT_COMMAND).next == MUR_VISIT_CLOSED);
        CHECK(mur_visit_transition(state, MUR_EVENT_START).next == MUR_VISIT_CLOSED);
    }
    for (int event = 0; event < MUR_VISIT_EVENTS; event++)
        CHECK(mur_visit_event_name(event) != NULL);
    for (int action = 0; action < MUR_VISIT_ACTIONS; action++)
        CHECK(mur_visit_action_name(action) != NULL);
}

/* ---- visitors ---- */

static void wake(void *owner)
{
    (void)owner;
}

static struct mur_timer timer = {.fire = wake};

static void turn(void)
{
    pid_t pid;
    int status;
    struct mur_visit *visit, *next;

    mur_timer_set(&timer, 1);
    mur_loop_turn(&smpd.loop);
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (visit = TAILQ_FIRST(&smpd.visits); visit; visit = next) {
            next = TAILQ_NEXT(visit, in_visits);
            if (visit->agent != pid)
                continue;
            visit->agent = 0;
            visit->agent_status = status;
            mur_visit_event(visit, MUR_EVENT_AGENT_ENDS);
        }
    mur_visits_free_gone(&smpd);
}

static int visit_daemon(void)
{
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    mur_visit_begin(&smpd, ends[1]);
    return ends[0];
}

static void say_noise(int fd, size_t bytes)
{
    char noise[4096];

    for (size_t i = 0; i < bytes; i++)
        noise[i] = (char)below(256);
    send(fd, noise, bytes, MSG_NOSIGNAL);
}

/* False: the daemon has closed the connection, or says nothing for long. */
static bool hear_bytes(int fd, void *data, size_t bytes)
{
    size_t got = 0;

    for (int64_t limit = mur_loop_now() + PATIENCE_MS; got < bytes && mur_loop_now() < limit;) {
        ssize_t more = recv(fd, (char *)data + got, bytes - got, 0);

        if (more == 0 || (more < 0 && errno != EAGAIN))
            return false;
        got += more > 0 ? (size_t)more : 0;
        turn();
    }
    return got == bytes;
}

static bool greet(int fd, struct mur_seal *seal, const unsigned char *key)
{
    struct mur_daemon_hello hello;
    struct mur_daemon_challenge challenge;
    unsigned char public[MUR_SEAL_PUBLIC_BYTES], own[MUR_SEAL_KEY_BYTES];
    struct mur_seal_keys keys;

    mur_seal_pair(public, own);
    mur_daemon_hello_fill(&hello, public, "");
    for (size_t done = 0; done < sizeof hello;) { /* in pieces */
        size_t piece = 1 + below(sizeof hello - done);

        CHECK(send(fd, (char *)&hello + done, piece, MSG_NOSIGNAL) == (ssize_t)piece);
        done += piece;
        turn();
    }
    if (!hear_bytes(fd, &challenge, sizeof challenge))
        return false;
    CHECK(mur_daemon_keys(&keys, true, &hello, &challenge, own, key));
    mur_seal_start(seal, &keys);
    return true;
}

static void say(int fd, struct mur_seal *seal, const char *message, size_t bytes)
{
    CHECK(mur_seal_put(seal, message, bytes) == bytes);
    mur_seal_flush(seal, fd);
}

/* The kind of the next message, which is put into `data`; 0: the daemon has closed the connection. */
static int hear(int fd, struct mur_seal *seal, char *data)
{
    for (int64_t limit = mur_loop_now() + PATIENCE_MS; mur_loop_now() < limit; turn()) {
        ssize_t got = mur_seal_take(seal, data);

        if (got > 0) {
            data[got < MUR_SEAL_CHUNK ? got : MUR_SEAL_CHUNK - 1] = '\0';
            return data[0];
        }
        CHECK(got == 0);
        got = mur_seal_fill(seal, fd);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            return 0;
    }
    CHECK(!"the daemon answers");
    return 0;
}

static void honest_visitor_is_served(void)
{
    static const char proof[] = {MUR_DAEMON_PROOF}, status[] = "\2status", start[] = "\3job\0secret\n\0-agent\0word";
    static struct mur_seal seal;
    char data[MUR_SEAL_CHUNK];
    int fd = visit_daemon(), kind;

    CHECK(greet(fd, &seal, smpd.key));
    say(fd, &seal, proof, sizeof proof);
    CHECK(hear(fd, &seal, data) == MUR_DAEMON_WELCOME);
    say(fd, &seal, status, sizeof status);
    CHECK(hear(fd, &seal, data) == MUR_DAEMON_OUTPUT && strstr(data + 2, "smpd of Murmur"));
    CHECK(hear(fd, &seal, data) == MUR_DAEMON_ENDED);
    say(fd, &seal, start, sizeof start);
    kind = hear(fd, &seal, data);
    CHECK(kind == MUR_DAEMON_OUTPUT && strcmp(data + 2, "-agent word\n") == 0); /* /bin/echo stands for the agent */
    CHECK(hear(fd, &seal, data) == MUR_DAEMON_ENDED && data[1] == 0);
    CHECK(hear(fd, &seal, data) == 0);
    close(fd);
}

static void stranger_speaks(void)
{
    static struct mur_seal seal;
    unsigned char wrong[MUR_SEAL_KEY_BYTES] = {0};
    char data[MUR_SEAL_CHUNK];
    int fd = visit_daemon();

    switch (below(4)) {
    case 0:
        say_noise(fd, 1 + below(2000));
        break;
    case 1: /* a half greeting */
        send(fd, "MURSMPD\n\1\0\0\0", below(13), MSG_NOSIGNAL);
        break;
    case 2: /* another version */
        send(fd, "MURSMPD\n\7\0\0\0", 12, MSG_NOSIGNAL);
        break;
    default: /* another phrase */
        CHECK(greet(fd, &seal, wrong));
        data[0] = MUR_DAEMON_PROOF;
        say(fd, &seal, data, 1);
        CHECK(hear(fd, &seal, data) == 0);
    }
    for (unsigned i = below(5); i > 0; i--)
        turn();
    close(fd);
}

/* Who knows the phrase and talks nonsense is refused, and starts nothing but agents. */
static void knower_misbehaves(void)
{
    static const char *const nonsense[] = {"\2", "\3", "\4status", "\2no such command", "\3job", "\3\0\0/bin/sh",
                                           "\1", "c"};
    static const size_t sizes[] = {1, 1, 8, 17, 5, 11, 1, 1};
    static struct mur_seal seal;
    char data[MUR_SEAL_CHUNK];
    unsigned which = below(8);
    int fd = visit_daemon();
    long before = smpd.started_agents;

    CHECK(greet(fd, &seal, smpd.key));
    data[0] = MUR_DAEMON_PROOF;
    if (below(4))
        say(fd, &seal, data, 1);
    say(fd, &seal, nonsense[which], sizes[which]);
    for (unsigned i = below(8); i > 0; i--)
        turn();
    if (below(2))
        say_noise(fd, 1 + below(100));
    for (unsigned i = below(8); i > 0; i--)
        turn();
    CHECK(smpd.started_agents == before);
    close(fd);
}

static void hostile_visitors_change_nothing(void)
{
    for (int i = 0; i < VISITS; i++) {
        if (below(2))
            stranger_speaks();
        else
            knower_misbehaves();
    }
    for (int64_t limit = mur_loop_now() + PATIENCE_MS; !TAILQ_EMPTY(&smpd.visits) && mur_loop_now() < limit;)
        turn();
    CHECK(TAILQ_EMPTY(&smpd.visits));
    CHECK(smpd.unproven == 0);
}

int main(void)
{
    char complaint[400];

    unit_start();
    if (!mur_seal_open(complaint, sizeof complaint)) {
        printf("%s\n", complaint);
        return 77;
    }
    every_walk_is_safe();
    every_state_has_its_ends();
    smpd.options = &options;
    smpd.path = "/bin/echo";
    smpd.has_key = true;
    mur_secret_random(smpd.key, sizeof smpd.key);
    mur_secret_random(smpd.decoy, sizeof smpd.decoy);
    TAILQ_INIT(&smpd.visits);
    TAILQ_INIT(&smpd.gone);
    mur_loop_init(&smpd.loop);
    mur_loop_add_timer(&smpd.loop, &timer);
    honest_visitor_is_served();
    hostile_visitors_change_nothing();
    honest_visitor_is_served();
    return unit_end();
}
