/* SPDX-License-Identifier: BSD-3-Clause */
/* libsodium's streams, key exchange and stretching, whose functions are found at run time (base/secret.c). */
#include "launch/seal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/secret.h"

enum {
    ADDED_BYTES = 17, /* a tag and a MAC in each record */
    ARGON2ID = 2,
    STRETCH_PASSES = 2,
    STRETCH_BYTES = 64 << 20,
};

/* The same everywhere: so one stretching serves all hosts of a job. */
static const unsigned char salt[] = "MurmurDaemonSalt";

static struct {
    size_t (*state_bytes)(void);
    int (*init_push)(void *state, unsigned char *header, const unsigned char *key);
    int (*push)(void *state, unsigned char *out, unsigned long long *out_bytes, const unsigned char *in,
                unsigned long long bytes, const unsigned char *also, unsigned long long also_bytes, unsigned char tag);
    int (*init_pull)(void *state, const unsigned char *header, const unsigned char *key);
    int (*pull)(void *state, unsigned char *out, unsigned long long *out_bytes, unsigned char *tag,
                const unsigned char *in, unsigned long long bytes, const unsigned char *also,
                unsigned long long also_bytes);
    int (*pair)(unsigned char *public, unsigned char *secret);
    int (*as_caller)(unsigned char *receive, unsigned char *send, const unsigned char *public,
                     const unsigned char *secret, const unsigned char *other);
    int (*as_called)(unsigned char *receive, unsigned char *send, const unsigned char *public,
                     const unsigned char *secret, const unsigned char *other);
    int (*stretch)(unsigned char *out, unsigned long long out_bytes, const char *phrase, unsigned long long bytes,
                   const unsigned char *salt, unsigned long long passes, size_t memory, int algorithm);
    void (*wipe)(void *data, size_t bytes);
} sodium;

bool mur_seal_open(char *complaint, size_t bytes)
{
    const struct {
        void *function;
        const char *name;
    } wanted[] = {
        {&sodium.state_bytes, "crypto_secretstream_xchacha20poly1305_statebytes"},
        {&sodium.init_push, "crypto_secretstream_xchacha20poly1305_init_push"},
        {&sodium.push, "crypto_secretstream_xchacha20poly1305_push"},
        {&sodium.init_pull, "crypto_secretstream_xchacha20poly1305_init_pull"},
        {&sodium.pull, "crypto_secretstream_xchacha20poly1305_pull"},
        {&sodium.pair, "crypto_kx_keypair"},
        {&sodium.as_caller, "crypto_kx_client_session_keys"},
        {&sodium.as_called, "crypto_kx_server_session_keys"},
        {&sodium.stretch, "crypto_pwhash"},
        {&sodium.wipe, "sodium_memzero"},
    };

    if (!mur_secret_open(complaint, bytes))
        return false;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *function = mur_secret_function(wanted[i].name);

        if (!function) {
            snprintf(complaint, bytes, "the libsodium of this host has no %s; install version 1.0.14 or later",
                     wanted[i].name);
            return false;
        }
        memcpy(wanted[i].function, &function, sizeof function);
    }
    if (sodium.state_bytes() <= MUR_SEAL_STATE_BYTES)
        return true;
    snprintf(complaint, bytes, "the libsodium of this host needs %zu bytes for a stream, and Murmur has %d",
             sodium.state_bytes(), MUR_SEAL_STATE_BYTES);
    return false;
}

void mur_seal_start(struct mur_seal *seal, const struct mur_seal_keys *keys)
{
    seal->out_start = seal->in_start = seal->in_end = 0;
    seal->has_header = seal->is_broken = false;
    memcpy(seal->receive_key, keys->receive, sizeof seal->receive_key);
    sodium.init_push(seal->pushing, seal->out, keys->send);
    seal->out_end = MUR_SEAL_HEADER_BYTES; /* goes before the first record */
}

size_t mur_seal_put(struct mur_seal *seal, const void *data, size_t bytes)
{
    uint32_t length;

    if (mur_seal_is_flushed(seal))
        seal->out_start = seal->out_end = 0;
    if (seal->out_start || seal->out_end > MUR_SEAL_HEADER_BYTES || !bytes) /* the header may wait for a record */
        return 0;
    bytes = bytes < MUR_SEAL_CHUNK ? bytes : MUR_SEAL_CHUNK;
    length = (uint32_t)bytes + ADDED_BYTES;
    memcpy(seal->out + seal->out_end, &length, sizeof length);
    sodium.push(seal->pushing, seal->out + seal->out_end + sizeof length, NULL, data, bytes,
                (const unsigned char *)&length, sizeof length, 0);
    seal->out_end += sizeof length + length;
    return bytes;
}

bool mur_seal_flush(struct mur_seal *seal, int fd)
{
    while (!mur_seal_is_flushed(seal)) {
        ssize_t written =
            send(fd, seal->out + seal->out_start, seal->out_end - seal->out_start, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        seal->out_start += (size_t)written;
    }
    return true;
}

ssize_t mur_seal_fill(struct mur_seal *seal, int fd)
{
    ssize_t got;

    memmove(seal->in, seal->in + seal->in_start, seal->in_end - seal->in_start);
    seal->in_end -= seal->in_start;
    seal->in_start = 0;
    got = recv(fd, seal->in + seal->in_end, sizeof seal->in - seal->in_end, MSG_DONTWAIT);
    if (got > 0)
        seal->in_end += (size_t)got;
    return got;
}

static ssize_t breaks(struct mur_seal *seal)
{
    seal->is_broken = true;
    return -1;
}

static bool take_header(struct mur_seal *seal)
{
    if (seal->in_end - seal->in_start < MUR_SEAL_HEADER_BYTES)
        return false;
    sodium.init_pull(seal->pulling, seal->in + seal->in_start, seal->receive_key);
    sodium.wipe(seal->receive_key, sizeof seal->receive_key);
    seal->in_start += MUR_SEAL_HEADER_BYTES;
    seal->has_header = true;
    return true;
}

ssize_t mur_seal_take(struct mur_seal *seal, void *data)
{
    unsigned long long bytes;
    unsigned char tag;
    uint32_t length;

    if (seal->is_broken)
        return -1;
    if ((!seal->has_header && !take_header(seal)) || seal->in_end - seal->in_start < sizeof length)
        return 0;
    memcpy(&length, seal->in + seal->in_start, sizeof length);
    if (length <= ADDED_BYTES || length > MUR_SEAL_CHUNK + ADDED_BYTES)
        return breaks(seal);
    if (seal->in_end - seal->in_start - sizeof length < length)
        return 0;
    if (sodium.pull(seal->pulling, data, &bytes, &tag, seal->in + seal->in_start + sizeof length, length,
                    (const unsigned char *)&length, sizeof length) != 0 ||
        tag != 0)
        return breaks(seal);
    seal->in_start += sizeof length + length;
    return (ssize_t)bytes;
}

void mur_seal_pair(unsigned char public[MUR_SEAL_PUBLIC_BYTES], unsigned char secret[MUR_SEAL_KEY_BYTES])
{
    sodium.pair(public, secret);
}

bool mur_seal_exchange(struct mur_seal_keys *keys, bool is_caller, const unsigned char *public,
                       const unsigned char *secret, const unsigned char *other)
{
    return (is_caller ? sodium.as_caller : sodium.as_called)(keys->receive, keys->send, public, secret, other) == 0;
}

bool mur_seal_stretch(unsigned char key[MUR_SEAL_KEY_BYTES], const char *phrase)
{
    return sodium.stretch(key, MUR_SEAL_KEY_BYTES, phrase, strlen(phrase), salt, STRETCH_PASSES, STRETCH_BYTES,
                          ARGON2ID) == 0;
}

void mur_seal_wipe(void *data, size_t bytes)
{
    sodium.wipe(data, bytes);
}
