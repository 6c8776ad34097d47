/* SPDX-License-Identifier: BSD-3-Clause */
/* The door of an agent: it listens only where it may; a flood of silent connections does not end a greeting that has
 * begun; and a caller of another version is told apart, whatever the length of its hello. Who has no secret yet gets it
 * once, and only with the key that its start command told. A call of a parent keeps nothing else waiting: this process
 * calls its own door, and one that never answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/tree/call.h"
#include "launch/tree/acceptor.h"
#include "unit.h"

enum { SILENT = 600, PLACE = 3, OWN = 1, TICK_MS = 5, PATIENCE_MS = 20000 };

static unsigned char secret[32] = {1, 2, 3};
static struct mur_loop loop;
static struct mur_acceptor acceptor;
static struct mur_timer ticker;
static int entered = -1;

static int ticks, turns;

static void tick(void *owner)
{
    (void)owner;
    ticks++;
    mur_timer_set(&ticker, TICK_MS);
}

static bool knows(void *owner, int place, uint64_t *received)
{
    (void)owner;
    *received = 11;
    return place == PLACE;
}

static struct mur_keys keys;
static struct mur_keys_heard heard;

static struct mur_keys_heard *may_fetch(void *owner, int place)
{
    (void)owner;
    return place == PLACE && heard.is_known ? &heard : NULL;
}

static void enters(void *owner, int place, int fd, uint64_t peer_received, const struct mur_handshake *greeting)
{
    (void)owner;
    CHECK(peer_received == 7);
    CHECK(greeting->hello.from == place);
    entered = place;
    close(fd);
}

static int connect_to_door(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(acceptor.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* Turns the loop until the door has sent so much, or has closed the connection: then false. */
static bool hear(int fd, void *message, size_t bytes)
{
    int64_t limit = mur_loop_now() + PATIENCE_MS;

    while (mur_loop_now() < limit) {
        ssize_t got = recv(fd, message, bytes, MSG_DONTWAIT | MSG_PEEK);

        if (got == (ssize_t)bytes)
            return recv(fd, message, bytes, 0) == got;
        if (got == 0 || (got < 0 && errno != EAGAIN))
            return false;
        mur_loop_turn(&loop);
    }
    CHECK(!"the door answers");
    return false;
}

static void listens_where_it_may(void)
{
    struct sockaddr_storage name;

    CHECK(acceptor.listener.socket_count > 0);
    for (int i = 0; i < acceptor.listener.socket_count; i++) {
        socklen_t length = sizeof name;

        CHECK(getsockname(acceptor.listener.sockets[i].watch.fd, (struct sockaddr *)&name, &length) == 0);
        if (name.ss_family == AF_INET)
            CHECK(((struct sockaddr_in *)&name)->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
        else
            CHECK(IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&name)->sin6_addr));
    }
}

static void bears_a_flood(void)
{
    struct mur_handshake caller;
    struct mur_challenge challenge;
    struct mur_proof proof;
    struct mur_welcome welcome;
    int silent[SILENT], fd = connect_to_door();
    char any;

    mur_handshake_call(&caller, secret, MUR_PURPOSE_AGENTS, 0, PLACE, OWN);
    CHECK(send(fd, &caller.hello, sizeof caller.hello, 0) == sizeof caller.hello);
    CHECK(hear(fd, &challenge, sizeof challenge));
    for (int i = 0; i < SILENT; i++) {
        silent[i] = connect_to_door();
        mur_loop_turn(&loop);
    }
    CHECK(!hear(silent[SILENT / 4], &any, 1)); /* it had to go */
    CHECK(mur_handshake_prove(&caller, &challenge, 7, &proof));
    CHECK(send(fd, &proof, sizeof proof, MSG_NOSIGNAL) == sizeof proof);
    CHECK(hear(fd, &welcome, sizeof welcome));
    CHECK(mur_handshake_is_welcome(&caller, 7, &welcome));
    CHECK(entered == PLACE);
    close(fd);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
}

static void knows_other_versions(void)
{
    struct mur_handshake caller;
    int fd = connect_to_door();
    char any;

    mur_handshake_call(&caller, secret, MUR_PURPOSE_AGENTS, 0, PLACE, OWN);
    caller.hello.protocol--;
    CHECK(send(fd, &caller.hello, 40, 0) == 40);
    CHECK(!hear(fd, &any, 1));
    CHECK(acceptor.has_complained == 1);
    close(fd);
}

/* Whether somebody at that place, with what both keys should make together, is answered. */
static bool is_answered(int place, const unsigned char *shared)
{
    struct mur_handshake caller;
    struct mur_challenge challenge;
    int fd = connect_to_door();
    bool is;

    mur_handshake_call(&caller, shared, MUR_PURPOSE_SECRET, 0, place, OWN);
    CHECK(send(fd, &caller.hello, sizeof caller.hello, 0) == sizeof caller.hello);
    is = hear(fd, &challenge, sizeof challenge);
    close(fd);
    return is;
}

/* An agent in a process of its own, which tells its key after a line of another's. Returns whether it got the secret.
 */
static bool agent_fetches(char *word)
{
    struct mur_address address = {.family = AF_INET, .port = acceptor.port, .bytes = {127, 0, 0, 1}};
    unsigned char got[32];
    int ends[2], status;
    pid_t pid;

    CHECK(pipe(ends) == 0);
    pid = fork();
    if (pid == 0) {
        CHECK(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        puts("murmur-agent-key is not what this says");
        _exit(mur_keys_fetch(word, &address, 1, PLACE, OWN, got) || memcmp(got, secret, sizeof got) != 0);
    }
    close(ends[1]);
    mur_keys_listen(&heard, &keys, &loop, ends[0], false);
    while (heard.output.fd >= 0)
        mur_loop_turn(&loop);
    CHECK(waitpid(pid, &status, 0) == pid);
    return status == 0;
}

static void gives_the_secret_once(void)
{
    unsigned char wrong[32] = {9};
    char *word = mur_keys_word(&keys);

    CHECK(mur_keys_is_word(word) && !mur_keys_is_word("10.0.0.1:4000"));
    CHECK(!is_answered(PLACE, secret)); /* it is not known yet */
    CHECK(agent_fetches(word));
    CHECK(!heard.is_known && !is_answered(PLACE, heard.shared));
    heard.is_known = true;
    CHECK(!is_answered(PLACE, wrong) && !is_answered(PLACE + 1, heard.shared) && !is_answered(PLACE, secret));
    heard.is_known = false;
    free(word);
}

static struct {
    bool is_over;
    int fd, error;
    uint64_t peer_received;
} outcome;

static void over(void *owner, int fd, int error, uint64_t peer_received)
{
    (void)owner;
    outcome.is_over = true;
    outcome.fd = fd;
    outcome.error = error;
    outcome.peer_received = peer_received;
}

static void call_port(struct mur_parent_call *call, uint16_t port)
{
    struct mur_address address = {.family = AF_INET, .port = port, .bytes = {127, 0, 0, 1}};

    outcome.is_over = false;
    mur_call_start(call, &address, 7);
    CHECK(!outcome.is_over);
}

static void await_outcome(void)
{
    int64_t limit = mur_loop_now() + PATIENCE_MS;

    turns = 0;
    while (!outcome.is_over && mur_loop_now() < limit) {
        mur_loop_turn(&loop);
        turns++;
    }
    CHECK(outcome.is_over);
}

static void calls_its_own_door(struct mur_parent_call *call)
{
    entered = -1;
    call_port(call, acceptor.port);
    await_outcome();
    CHECK(outcome.fd >= 0 && outcome.error == 0 && outcome.peer_received == 11);
    CHECK(entered == PLACE);
    close(outcome.fd);
}

/* A port where connections are made, and nothing is read or said. */
static int mute_port(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 4) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void goes_on_meanwhile(struct mur_parent_call *call)
{
    uint16_t port;
    int mute = mute_port(&port), fd, before = ticks;
    struct mur_hello hello;

    call_port(call, port);
    await_outcome();
    CHECK(outcome.fd == -1 && outcome.error == ETIMEDOUT);
    CHECK(ticks - before > 20);                /* of some 400 */
    CHECK(turns < 2 * (ticks - before) + 100); /* the loop sleeps between them */
    close(accept(mute, NULL, NULL));

    call_port(call, port);
    fd = accept(mute, NULL, NULL);
    while (recv(fd, &hello, sizeof hello, MSG_DONTWAIT) != sizeof hello)
        mur_loop_turn(&loop);
    close(fd);
    await_outcome();
    CHECK(outcome.fd == -1 && outcome.error == EPROTO);
    close(mute);

    call_port(call, port);
    await_outcome();
    CHECK(outcome.fd == -1 && outcome.error == ECONNREFUSED);
}

int main(void)
{
    struct mur_parent_call call = {.secret = secret, .own = PLACE, .parent = OWN, .over = over};
    char complaint[400];

    unit_start();
    CHECK(setenv("MUR_TCP_INCLUDE", "lo", 1) == 0);
    if (!mur_seal_open(complaint, sizeof complaint)) {
        printf("%s\n", complaint);
        return 77;
    }
    mur_loop_init(&loop);
    ticker.fire = tick;
    mur_loop_add_timer(&loop, &ticker);
    mur_timer_set(&ticker, TICK_MS);
    acceptor =
        (struct mur_acceptor){.secret = secret, .own = OWN, .knows = knows, .enters = enters, .may_fetch = may_fetch};
    CHECK(mur_acceptor_open(&acceptor, &loop));
    listens_where_it_may();
    bears_a_flood();
    knows_other_versions();
    gives_the_secret_once();
    mur_call_init(&call, &loop);
    calls_its_own_door(&call);
    goes_on_meanwhile(&call);
    return unit_end();
}
