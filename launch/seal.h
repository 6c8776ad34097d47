/* SPDX-License-Identifier: BSD-3-Clause */
/* A sealed connection: what one side puts in comes out on the other side unchanged, in order and once, or the
 * connection breaks.
 *
 * Each direction is a stream of encrypted records (base/seal.h) with a key of its own, always by ChaCha20-Poly1305,
 * which is fast enough for what a launcher says and which every processor has. Nothing here waits. */
#ifndef MUR_LAUNCH_SEAL_H
#define MUR_LAUNCH_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/handshake.h"
#include "base/seal.h"

enum {
    MUR_SEAL_CHUNK = 16 << 10,                                /* bytes of a record, before it is sealed */
    MUR_SEAL_RECORD_BYTES = MUR_RECORD_HEAD + MUR_SEAL_CHUNK, /* on the wire, at most */
};

struct mur_seal_keys {
    unsigned char send[MUR_SEAL_KEY_BYTES], receive[MUR_SEAL_KEY_BYTES];
};

struct mur_seal {
    struct mur_sealer sender, receiver;
    bool is_broken;
    size_t out_start, out_end, in_start, in_end;
    unsigned char out[MUR_SEAL_RECORD_BYTES]; /* sealed, and not written yet */
    unsigned char in[2 * MUR_SEAL_RECORD_BYTES];
};

/* Makes the library ready. False, with a text that says what to install, where it is not there or too old. */
bool mur_seal_open(char *complaint, size_t bytes);

/* A new connection; what was under way of an earlier one is forgotten. */
void mur_seal_start(struct mur_seal *seal, const struct mur_seal_keys *keys);
void mur_seal_start_greeted(struct mur_seal *seal, const struct mur_handshake *greeting, bool is_caller);

/* Seals up to MUR_SEAL_CHUNK bytes as one record and returns how many; 0: an earlier record is not written yet. */
size_t mur_seal_put(struct mur_seal *seal, const void *data, size_t bytes);

/* Writes what is sealed. False with errno; EAGAIN: there is no room now. */
bool mur_seal_flush(struct mur_seal *seal, int fd);
static inline bool mur_seal_is_flushed(const struct mur_seal *seal)
{
    return seal->out_start == seal->out_end;
}

/* Receives what there is, and returns as recv does. Then all whole records are to be taken. */
ssize_t mur_seal_fill(struct mur_seal *seal, int fd);

/* Opens the next record into `data`, which has room for MUR_SEAL_CHUNK bytes, and returns its bytes; 0: none has come
 * whole; -1: somebody has altered the stream, or does not know the key. */
ssize_t mur_seal_take(struct mur_seal *seal, void *data);

/* A pair of keys that only this connection has: of crypto_kx, for a pair of public keys that the two sides have told
 * each other. False: the other's is none. */
enum { MUR_SEAL_PUBLIC_BYTES = 32 };
void mur_seal_pair(unsigned char public[MUR_SEAL_PUBLIC_BYTES], unsigned char secret[MUR_SEAL_KEY_BYTES]);
bool mur_seal_exchange(struct mur_seal_keys *keys, bool is_caller, const unsigned char *public,
                       const unsigned char *secret, const unsigned char *other);

/* A phrase, stretched to a key by Argon2id: so long that trying out phrases is slow. False: there is no memory for it.
 */
bool mur_seal_stretch(unsigned char key[MUR_SEAL_KEY_BYTES], const char *phrase);

#endif
