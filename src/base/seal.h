/* SPDX-License-Identifier: BSD-3-Clause */
/* One direction of a sealed connection: records that the receiver takes as they were sent, in order and once, or not at
 * all. A record is
 *
 *   length: 4 bytes | tag: 16 bytes | `length` bytes, sealed
 *
 * The two ends have derived the key from what both know and from what each drew at random for this connection. A
 * counter, which no record says, tells one record from the next (the nonce): a record that is left out, repeated, moved
 * or altered does not open, and neither does any that follows it. The tag covers the length, too. After
 * MUR_SEALER_RECORDS of them both ends go on with a key that is made of the old one.
 *
 * A record is encrypted (AES-256-GCM where both processors have instructions for it, ChaCha20-Poly1305 elsewhere), or
 * its bytes go as they are and only the tag depends on them. Nothing here waits, or knows sockets. */
#ifndef MUR_BASE_SEAL_H
#define MUR_BASE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mur_seal_mode { MUR_SEAL_NONE, MUR_SEAL_AUTHENTICATE, MUR_SEAL_ENCRYPT };
enum mur_cipher { MUR_CIPHER_CHACHA, MUR_CIPHER_AES };

enum {
    MUR_SEAL_KEY_BYTES = 32,
    MUR_SEALER_STATE_BYTES = 512, /* of libsodium's, for AES */
    MUR_SEALER_RECORDS = 1 << 24, /* by one key */
    MUR_RECORD_HEAD = 4 + 16,
};

/* The sealing half, or the opening half. */
struct mur_sealer {
    _Alignas(16) unsigned char state[MUR_SEALER_STATE_BYTES];
    unsigned char key[MUR_SEAL_KEY_BYTES];
    uint64_t count; /* of records, by this key */
    void *bulk;     /* base/bulk.h */
    enum mur_seal_mode mode;
    enum mur_cipher cipher;
    bool is_broken; /* a record did not open: no other will */
};

/* Makes the library ready. False, with a text that says what to install, where it is not there or too old. */
bool mur_sealer_load(char *complaint, size_t bytes);

/* Whether this processor has AES; after mur_sealer_load. */
bool mur_sealer_has_aes(void);

/* Begins a connection. The mode is not MUR_SEAL_NONE. */
void mur_sealer_start(struct mur_sealer *sealer, const unsigned char key[MUR_SEAL_KEY_BYTES], enum mur_cipher cipher,
                      enum mur_seal_mode mode);

void mur_sealer_end(struct mur_sealer *sealer); /* forgets the key */

/* Writes a record of these bytes, which may be none, and returns its size, MUR_RECORD_HEAD more. */
size_t mur_sealer_seal(struct mur_sealer *sealer, void *record, const void *data, size_t bytes);

/* Of a record whose head is there: the bytes that it has beside the head. Nothing vouches for that before it opens. */
uint32_t mur_record_length(const void *record);

/* Opens a record that is there whole, into memory for mur_record_length bytes. False: it is not the next record of the
 * a peer that knows the key; no other record opens after that. */
bool mur_sealer_open(struct mur_sealer *sealer, const void *record, void *data);

/* Erases what is secret, which no optimisation leaves out. */
void mur_seal_wipe(void *data, size_t bytes);

#endif
