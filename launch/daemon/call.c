/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling a daemon. */
#include "launch/daemon/call.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/secret.h"
#include "launch/alloc.h"
#include "launch/loop.h"
#include "launch/say.h"

enum { STEP_MS = 10000, CALL_TROUBLE = 255 /* as ssh has for what goes wrong with itself */ };

static bool await(int fd, short events, int patience_ms)
{
    struct pollfd wait = {.fd = fd, .events = events};
    int ready;

    do
        ready = poll(&wait, 1, patience_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        errno = ETIMEDOUT;
    return ready > 0;
}

/* ---- the connection ---- */

static int connect_one(const struct addrinfo *info, int patience_ms)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0, on = 1;
    socklen_t length = sizeof error;

    if (fd < 0)
        return -1;
    if (connect(fd, info->ai_addr, info->ai_addrlen) < 0) {
        error = errno;
        if (error == EINPROGRESS) {
            if (await(fd, POLLOUT, patience_ms))
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
            else
                error = errno;
        }
    }
    if (error) {
        close(fd);
        errno = error;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return fd;
}

static int connect_to(const char *host, int port, int patience_ms, const char **problem)
{
    static char text[512];
    struct addrinfo wish = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found = NULL;
    char service[16];
    int fd = -1, rc;

    snprintf(service, sizeof service, "%d", port);
    rc = getaddrinfo(host, service, &wish, &found);
    if (rc) {
        snprintf(text, sizeof text, "the name %s cannot be resolved: %s", host, gai_strerror(rc));
        *problem = text;
        return -1;
    }
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = connect_one(at, patience_ms);
    if (fd < 0)
        snprintf(text, sizeof text, "no daemon answers on %s at port %d: %s; `smpd -s` starts one there", host, port,
                 strerror(errno));
    freeaddrinfo(found);
    *problem = text;
    return fd;
}

static bool send_all(int fd, const void *data, size_t bytes)
{
    return send(fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes; /* it is the first that is said */
}

static bool receive_all(int fd, void *data, size_t bytes, int patience_ms)
{
    size_t got = 0;

    while (got < bytes) {
        ssize_t more = await(fd, POLLIN, patience_ms) ? recv(fd, (char *)data + got, bytes - got, MSG_DONTWAIT) : -1;

        if (more == 0 || (more < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        got += more > 0 ? (size_t)more : 0;
    }
    return true;
}

static const char *greet(struct mur_daemon_call *call, const char *user, const unsigned char *phrase_key)
{
    struct mur_daemon_hello hello;
    struct mur_daemon_challenge challenge;
    unsigned char public[MUR_SEAL_PUBLIC_BYTES], secret[MUR_SEAL_KEY_BYTES];
    struct mur_seal_keys keys;
    bool has_keys;

    mur_seal_pair(public, secret);
    mur_daemon_hello_fill(&hello, public, user);
    if (!send_all(call->fd, &hello, sizeof hello) || !receive_all(call->fd, &challenge, sizeof challenge, STEP_MS) ||
        !mur_daemon_is_magic(challenge.magic))
        return "what listens there is no daemon of Murmur's";
    if (challenge.protocol != MUR_DAEMON_PROTOCOL)
        return "the daemon is of another version of Murmur; install the same on all hosts";
    has_keys = mur_daemon_keys(&keys, true, &hello, &challenge, secret, phrase_key);
    mur_seal_wipe(secret, sizeof secret);
    if (!has_keys)
        return "what listens there is no daemon of Murmur's";
    mur_seal_start(&call->seal, &keys);
    mur_seal_wipe(&keys, sizeof keys);
    if (!mur_daemon_say(call, MUR_DAEMON_PROOF, NULL, NULL) || mur_daemon_hear(call, STEP_MS) != MUR_DAEMON_WELCOME)
        return "the daemon has another phrase, or something on the way alters what is said";
    return NULL;
}

const char *mur_daemon_dial(struct mur_daemon_call *call, const char *host, int port, const char *user,
                            const unsigned char *phrase_key)
{
    const char *problem;

    call->fd = connect_to(host, port, STEP_MS, &problem);
    if (call->fd < 0)
        return problem;
    problem = greet(call, user, phrase_key);
    if (problem)
        mur_daemon_hang_up(call);
    return problem;
}

bool mur_daemon_answers(const char *host, int port, int patience_ms)
{
    unsigned char public[MUR_SEAL_PUBLIC_BYTES], secret[MUR_SEAL_KEY_BYTES];
    struct mur_daemon_challenge challenge;
    struct mur_daemon_hello hello;
    const char *problem;
    bool answers;
    int fd = connect_to(host, port, patience_ms, &problem);

    if (fd < 0)
        return false;
    mur_seal_pair(public, secret);
    mur_seal_wipe(secret, sizeof secret);
    mur_daemon_hello_fill(&hello, public, "");
    answers = send_all(fd, &hello, sizeof hello) && receive_all(fd, &challenge, sizeof challenge, patience_ms) &&
              mur_daemon_is_magic(challenge.magic) && challenge.protocol == MUR_DAEMON_PROTOCOL;
    close(fd);
    return answers;
}

void mur_daemon_hang_up(struct mur_daemon_call *call)
{
    close(call->fd);
    call->fd = -1;
}

/* ---- messages ---- */

static bool add_word(char *message, size_t *bytes, const char *word)
{
    size_t length = strlen(word) + 1;

    if (length > MUR_SEAL_CHUNK - *bytes)
        return false;
    memcpy(message + *bytes, word, length);
    *bytes += length;
    return true;
}

bool mur_daemon_say(struct mur_daemon_call *call, enum mur_daemon_kind kind, const char *first, char **words)
{
    char message[MUR_SEAL_CHUNK];
    size_t bytes = 1;
    bool is_said;

    message[0] = (char)kind;
    is_said = !first || add_word(message, &bytes, first);
    for (; is_said && words && *words; words++)
        is_said = add_word(message, &bytes, *words);
    is_said = is_said && mur_seal_put(&call->seal, message, bytes) == bytes;
    mur_seal_wipe(message, bytes);
    while (is_said && !mur_seal_flush(&call->seal, call->fd))
        is_said = errno == EAGAIN && await(call->fd, POLLOUT, STEP_MS);
    return is_said;
}

int mur_daemon_hear(struct mur_daemon_call *call, int patience_ms)
{
    ssize_t bytes, got;

    while ((bytes = mur_seal_take(&call->seal, call->message)) == 0) {
        if (!await(call->fd, POLLIN, patience_ms))
            return 0;
        got = mur_seal_fill(&call->seal, call->fd);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return 0;
    }
    if (bytes < 0) {
        errno = EBADMSG;
        return 0;
    }
    call->bytes = (size_t)bytes;
    call->message[bytes] = '\0';
    return call->message[0];
}

static void write_out(const struct mur_daemon_call *call)
{
    int fd = call->message[1] == 1 ? STDOUT_FILENO : STDERR_FILENO;
    size_t done = 2;

    while (done < call->bytes) {
        ssize_t written = write(fd, call->message + done, call->bytes - done);

        if (written < 0 && errno != EINTR)
            return; /* nobody reads it any more */
        done += written > 0 ? (size_t)written : 0;
    }
}

int mur_daemon_relay(struct mur_daemon_call *call, const char *host)
{
    int32_t code;

    for (;;) {
        switch (mur_daemon_hear(call, -1)) {
        case MUR_DAEMON_OUTPUT:
            if (call->bytes > 2)
                write_out(call);
            break;
        case MUR_DAEMON_ENDED:
            if (call->bytes != 1 + sizeof code)
                return -1;
            memcpy(&code, call->message + 1, sizeof code);
            return code;
        case MUR_DAEMON_REFUSED:
            mur_say("the daemon on %s: %s", host, call->message + 1);
            return CALL_TROUBLE;
        default:
            return -1;
        }
    }
}

/* ---- starting agents ---- */

/* All of standard input: a line with the key, and what is for the agent. */
static size_t read_input(char *data, size_t room)
{
    size_t got = 0;
    ssize_t more;

    while (got < room - 1 && (more = read(STDIN_FILENO, data + got, room - 1 - got)) != 0) {
        if (more < 0 && errno != EINTR)
            break;
        got += more > 0 ? (size_t)more : 0;
    }
    data[got] = '\0';
    return got;
}

int mur_daemon_start_run(char **argv)
{
    static struct mur_daemon_call call;
    unsigned char key[MUR_SEAL_KEY_BYTES];
    char complaint[400], input[1024], *words[300] = {NULL}, *host = argv[0];
    size_t count = 0;
    const char *problem;
    int code;

    if (!argv[0] || !argv[1] || !argv[2] || !argv[3])
        mur_quit(MUR_EXIT_USAGE, "-daemon-start is for mpiexec's own use");
    if (!mur_seal_open(complaint, sizeof complaint))
        mur_quit(CALL_TROUBLE, "%s", complaint);
    if (read_input(input, sizeof input) < 2 * sizeof key + 1 || !mur_secret_read(input, key, sizeof key))
        mur_quit(CALL_TROUBLE, "-daemon-start reads the phrase's key from its standard input, and there is none");
    words[count++] = input + 2 * sizeof key + 1;
    for (char **word = argv + 4; *word && count < 299; word++)
        words[count++] = *word;
    problem = mur_daemon_dial(&call, host, atoi(argv[1]), argv[2], key);
    mur_seal_wipe(key, sizeof key);
    if (problem)
        mur_quit(CALL_TROUBLE, "host %s: %s", host, problem);
    if (!mur_daemon_say(&call, MUR_DAEMON_START, argv[3], words))
        mur_quit(CALL_TROUBLE, "host %s: the connection to its daemon has broken", host);
    mur_seal_wipe(input, sizeof input);
    code = mur_daemon_relay(&call, host);
    return code < 0 ? CALL_TROUBLE : code;
}
