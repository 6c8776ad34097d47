/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/tree/keys.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launch/alloc.h"

enum {
    STEP_MS = 2000,   /* for each message of the greeting */
    FETCH_MS = 30000, /* for the whole: the line may be long on its way */
    AGAIN_MS = 50,
};

static const char word_start[] = "key:", line_start[] = "murmur-agent-key ";

/* The same on both sides: what the caller sends with. */
static bool make_shared(unsigned char shared[MUR_MAC_BYTES], const struct mur_keys *own, bool is_caller,
                        const unsigned char *other)
{
    struct mur_seal_keys keys;
    bool is_made = mur_seal_exchange(&keys, is_caller, own->public, own->secret, other);

    _Static_assert((int)MUR_MAC_BYTES == (int)MUR_SEAL_KEY_BYTES, "a shared key serves as a secret");
    memcpy(shared, is_caller ? keys.send : keys.receive, MUR_MAC_BYTES);
    mur_seal_wipe(&keys, sizeof keys);
    return is_made;
}

/* ---- the parent ---- */

char *mur_keys_word(struct mur_keys *keys)
{
    char text[2 * MUR_SEAL_PUBLIC_BYTES + 1];

    if (!keys->is_made)
        mur_seal_pair(keys->public, keys->secret);
    keys->is_made = true;
    mur_secret_write(text, keys->public, sizeof keys->public);
    return mur_alloc_text("%s%.*s", word_start, (int)sizeof text - 1, text);
}

static void end_line(struct mur_keys_heard *heard)
{
    const size_t start = sizeof line_start - 1, digits = 2 * MUR_SEAL_PUBLIC_BYTES;
    unsigned char other[MUR_SEAL_PUBLIC_BYTES];

    if (!heard->is_known && heard->length >= start + digits && memcmp(heard->line, line_start, start) == 0 &&
        mur_secret_read(heard->line + start, other, sizeof other))
        heard->is_known = make_shared(heard->shared, heard->own, false, other);
    else if (!heard->is_muted && write(STDERR_FILENO, heard->line, heard->length) < 0)
        heard->length = 0; /* nobody reads it */
    heard->length = 0;
}

static void stop(struct mur_keys_heard *heard)
{
    mur_loop_unwatch(heard->loop, &heard->output);
    close(heard->output.fd);
    heard->output.fd = -1;
}

static void hear(void *owner)
{
    struct mur_keys_heard *heard = owner;
    char data[1024];
    ssize_t got = read(heard->output.fd, data, sizeof data);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    for (ssize_t i = 0; i < got; i++) {
        heard->line[heard->length++] = data[i];
        if (data[i] == '\n' || heard->length == sizeof heard->line)
            end_line(heard);
    }
    if (got > 0)
        return;
    if (heard->length)
        end_line(heard);
    stop(heard);
}

void mur_keys_listen(struct mur_keys_heard *heard, struct mur_keys *own, struct mur_loop *loop, int fd, bool is_muted)
{
    if (heard->loop && heard->output.fd >= 0)
        stop(heard);
    *heard = (struct mur_keys_heard){
        .own = own, .loop = loop, .is_muted = is_muted, .output = {.fd = fd, .ready = hear, .owner = heard}};
    mur_loop_watch(loop, &heard->output, EPOLLIN);
}

void mur_keys_give(struct mur_keys_heard *heard, const struct mur_handshake *greeting, int fd,
                   const unsigned char *secret)
{
    struct mur_seal *seal = mur_alloc(1, sizeof *seal);

    mur_seal_start_greeted(seal, greeting, false);
    mur_seal_put(seal, secret, MUR_MAC_BYTES);
    if (mur_seal_flush(seal, fd)) { /* the socket has room for it, or the agent calls again */
        mur_seal_wipe(heard->shared, sizeof heard->shared);
        heard->is_known = false;
    }
    free(seal);
}

/* ---- the agent ---- */

bool mur_keys_is_word(const char *word)
{
    return strncmp(word, word_start, sizeof word_start - 1) == 0;
}

/* A blocking connection whose steps end. -1 with errno. */
static int call(const struct mur_address *address)
{
    struct sockaddr_storage name;
    socklen_t length = mur_address_socket(address, &name);
    struct timeval limit = {.tv_sec = STEP_MS / 1000};
    int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, number;

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* of connect, too */
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&name, length) == 0)
        return fd;
    number = errno;
    close(fd);
    errno = number;
    return -1;
}

static bool say(int fd, const void *message, size_t bytes)
{
    return send(fd, message, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool take(int fd, void *message, size_t bytes)
{
    return recv(fd, message, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static bool greet(int fd, struct mur_handshake *greeting, const unsigned char *shared, int own, int parent)
{
    struct mur_challenge challenge;
    struct mur_proof proof;
    struct mur_welcome welcome;

    mur_handshake_call(greeting, shared, MUR_PURPOSE_SECRET, 0, own, parent);
    return say(fd, &greeting->hello, sizeof greeting->hello) && take(fd, &challenge, sizeof challenge) &&
           mur_handshake_prove(greeting, &challenge, 0, &proof) && say(fd, &proof, sizeof proof) &&
           take(fd, &welcome, sizeof welcome) && mur_handshake_is_welcome(greeting, 0, &welcome);
}

static bool take_secret(int fd, const struct mur_handshake *greeting, unsigned char secret[MUR_MAC_BYTES])
{
    struct mur_seal *seal = mur_alloc(1, sizeof *seal);
    char *record = mur_alloc(1, MUR_SEAL_CHUNK);
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    ssize_t got = 0;

    mur_seal_start_greeted(seal, greeting, true);
    while (got == 0 && poll(&poller, 1, STEP_MS) == 1 && mur_seal_fill(seal, fd) > 0)
        got = mur_seal_take(seal, record);
    if (got == MUR_MAC_BYTES)
        memcpy(secret, record, MUR_MAC_BYTES);
    free(record);
    free(seal);
    return got == MUR_MAC_BYTES;
}

static int64_t pause_a_little(void)
{
    poll(NULL, 0, AGAIN_MS);
    return mur_loop_now();
}

const char *mur_keys_fetch(const char *word, const struct mur_address *addresses, int count, int own, int parent,
                           unsigned char secret[MUR_MAC_BYTES])
{
    unsigned char shared[MUR_MAC_BYTES], other[MUR_SEAL_PUBLIC_BYTES];
    char text[2 * MUR_SEAL_PUBLIC_BYTES + 1];
    struct mur_keys keys;
    const char *problem = "the agent that started it does not answer";
    bool is_there = false;

    if (strlen(word) != sizeof word_start - 1 + 2 * sizeof other ||
        !mur_secret_read(word + sizeof word_start - 1, other, sizeof other))
        return "the key among its words is none";
    mur_seal_pair(keys.public, keys.secret);
    if (!make_shared(shared, &keys, true, other))
        return "the key among its words is none";
    mur_secret_write(text, keys.public, sizeof keys.public);
    printf("%s%.*s\n", line_start, (int)sizeof text - 1, text);
    fflush(stdout);
    for (int64_t end = mur_loop_now() + FETCH_MS; !is_there && pause_a_little() < end;) {
        for (int i = 0; i < count && !is_there; i++) {
            struct mur_handshake greeting;
            int fd = call(&addresses[i]);

            if (fd < 0)
                problem = strerror(errno);
            is_there = fd >= 0 && greet(fd, &greeting, shared, own, parent) && take_secret(fd, &greeting, secret);
            if (fd >= 0)
                close(fd);
        }
    }
    mur_seal_wipe(&keys, sizeof keys);
    mur_seal_wipe(shared, sizeof shared);
    return is_there ? NULL : problem;
}
