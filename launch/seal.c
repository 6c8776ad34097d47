/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed records over sockets; and libsodium's key exchange and stretching, whose functions are found at run time
 * (base/secret.c). */
#include "launch/seal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/secret.h"

enum {
    ARGON2ID = 2,
    STRETCH_PASSES = 2,
    STRETCH_BYTES = 64 << 20,
};

/* The same everywhere: so one stretching serves all hosts of a job. */
static const unsigned char salt[] = "MurmurDaemonSalt";

static struct mur_exchange_functions {
    int (*pair)(unsigned char *public, unsigned char *secret);
    int (*as_caller)(unsigned char *receive, unsigned char *send, const unsigned char *public,
                     const unsigned char *secret, const unsigned char *other);
    int (*as_called)(unsigned char *receive, unsigned char *send, const unsigned char *public,
                     const unsigned char *secret, const unsigned char *other);
    int (*stretch)(unsigned char *out, unsigned long long out_bytes, const char *phrase, unsigned long long bytes,
                   const unsigned char *salt, unsigned long long passes, size_t memory, int algorithm);
} sodium;

bool mur_seal_open(char *complaint, size_t bytes)
{
    static const struct mur_library_function functions[] = {
        {"crypto_kx_keypair", offsetof(struct mur_exchange_functions, pair)},
        {"crypto_kx_client_session_keys", offsetof(struct mur_exchange_functions, as_caller)},
        {"crypto_kx_server_session_keys", offsetof(struct mur_exchange_functions, as_called)},
        {"crypto_pwhash", offsetof(struct mur_exchange_functions, stretch)},
    };

    return mur_sealer_load(complaint, bytes) &&
           mur_secret_find(&sodium, functions, sizeof functions / sizeof functions[0], complaint, bytes);
}

void mur_seal_start(struct mur_seal *seal, const struct mur_seal_keys *keys)
{
    seal->out_start = seal->out_end = seal->in_start = seal->in_end = 0;
    seal->is_broken = false;
    mur_sealer_start(&seal->sender, keys->send, MUR_CIPHER_CHACHA, MUR_SEAL_ENCRYPT);
    mur_sealer_start(&seal->receiver, keys->receive, MUR_CIPHER_CHACHA, MUR_SEAL_ENCRYPT);
}

void mur_seal_start_greeted(struct mur_seal *seal, const struct mur_handshake *greeting, bool is_caller)
{
    struct mur_seal_keys keys;

    mur_handshake_keys(greeting, is_caller, keys.send, keys.receive);
    mur_seal_start(seal, &keys);
    mur_seal_wipe(&keys, sizeof keys);
}

size_t mur_seal_put(struct mur_seal *seal, const void *data, size_t bytes)
{
    if (!mur_seal_is_flushed(seal) || !bytes)
        return 0;
    bytes = bytes < MUR_SEAL_CHUNK ? bytes : MUR_SEAL_CHUNK;
    seal->out_start = 0;
    seal->out_end = mur_sealer_seal(&seal->sender, seal->out, data, bytes);
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

ssize_t mur_seal_take(struct mur_seal *seal, void *data)
{
    size_t here = seal->in_end - seal->in_start;
    const unsigned char *record = seal->in + seal->in_start;
    uint32_t length;

    if (seal->is_broken)
        return -1;
    if (here < MUR_RECORD_HEAD)
        return 0;
    length = mur_record_length(record);
    if (!length || length > MUR_SEAL_CHUNK)
        return breaks(seal);
    if (here - MUR_RECORD_HEAD < length)
        return 0;
    if (!mur_sealer_open(&seal->receiver, record, data))
        return breaks(seal);
    seal->in_start += MUR_RECORD_HEAD + length;
    return (ssize_t)length;
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
