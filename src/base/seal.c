/* SPDX-License-Identifier: BSD-3-Clause */
/* Records by the ciphers of libsodium, whose functions are found at run time (base/secret.c). Both ciphers cover the
 * number of bytes with their tag, so a record of another length does not open. What only is authenticated goes in as
 * the additional data of an empty message. */
#include "base/seal.h"

#include <stdio.h>
#include <string.h>

#include "base/bulk.h"
#include "base/secret.h"

enum { TAG_BYTES = 16, NONCE_BYTES = 12, TAG_AT = sizeof(uint32_t) };

/* `key` is the key, or for AES what has been made ready of it. */
typedef int seal_function(unsigned char *out, unsigned char *tag, unsigned long long *tag_bytes,
                          const unsigned char *data, unsigned long long bytes, const unsigned char *also,
                          unsigned long long also_bytes, const unsigned char *unused, const unsigned char *nonce,
                          const unsigned char *key);
typedef int open_function(unsigned char *out, unsigned char *unused, const unsigned char *data,
                          unsigned long long bytes, const unsigned char *tag, const unsigned char *also,
                          unsigned long long also_bytes, const unsigned char *nonce, const unsigned char *key);

static struct mur_aead_functions {
    int (*has_aes)(void);
    int (*make_ready)(void *state, const unsigned char *key);
    size_t (*state_bytes)(void);
    seal_function *seal[2]; /* by cipher */
    open_function *open[2];
    void (*wipe)(void *data, size_t bytes);
    bool is_aes;
} sodium;

bool mur_sealer_load(char *complaint, size_t bytes)
{
    static const struct mur_library_function functions[] = {
        {"crypto_aead_aes256gcm_is_available", offsetof(struct mur_aead_functions, has_aes)},
        {"crypto_aead_aes256gcm_beforenm", offsetof(struct mur_aead_functions, make_ready)},
        {"crypto_aead_aes256gcm_statebytes", offsetof(struct mur_aead_functions, state_bytes)},
        {"crypto_aead_aes256gcm_encrypt_detached_afternm", offsetof(struct mur_aead_functions, seal[MUR_CIPHER_AES])},
        {"crypto_aead_aes256gcm_decrypt_detached_afternm", offsetof(struct mur_aead_functions, open[MUR_CIPHER_AES])},
        {"crypto_aead_chacha20poly1305_ietf_encrypt_detached",
         offsetof(struct mur_aead_functions, seal[MUR_CIPHER_CHACHA])},
        {"crypto_aead_chacha20poly1305_ietf_decrypt_detached",
         offsetof(struct mur_aead_functions, open[MUR_CIPHER_CHACHA])},
        {"sodium_memzero", offsetof(struct mur_aead_functions, wipe)},
    };

    if (sodium.wipe)
        return true;
    if (!mur_secret_find(&sodium, functions, sizeof functions / sizeof functions[0], complaint, bytes))
        return false;
    sodium.is_aes = sodium.has_aes() && sodium.state_bytes() <= MUR_SEALER_STATE_BYTES;
    return true;
}

bool mur_sealer_has_aes(void)
{
    return sodium.is_aes;
}

static void take_key(struct mur_sealer *sealer, const unsigned char key[MUR_SEAL_KEY_BYTES])
{
    memcpy(sealer->key, key, sizeof sealer->key);
    sealer->count = 0;
    if (sealer->cipher == MUR_CIPHER_AES)
        sodium.make_ready(sealer->state, key);
}

void mur_sealer_start(struct mur_sealer *sealer, const unsigned char key[MUR_SEAL_KEY_BYTES], enum mur_cipher cipher,
                      enum mur_seal_mode mode)
{
    sealer->cipher = cipher;
    sealer->mode = mode;
    sealer->is_broken = false;
    sealer->bulk = NULL;
    take_key(sealer, key);
}

void mur_sealer_end(struct mur_sealer *sealer)
{
    mur_bulk_end(&sealer->bulk);
    mur_seal_wipe(sealer, sizeof *sealer);
}

static __attribute__((noinline)) void renew_key(struct mur_sealer *sealer)
{
    static const char word[] = "the next key";
    unsigned char key[MUR_MAC_BYTES];

    _Static_assert((int)MUR_MAC_BYTES == (int)MUR_SEAL_KEY_BYTES, "a MAC serves as a key");
    mur_bulk_end(&sealer->bulk);
    mur_secret_mac(key, word, sizeof word, sealer->key);
    take_key(sealer, key);
    mur_seal_wipe(key, sizeof key);
}

/* The number of the record that is to be sealed or opened now. */
static inline void next_nonce(struct mur_sealer *sealer, unsigned char nonce[NONCE_BYTES])
{
    if (__builtin_expect(sealer->count == MUR_SEALER_RECORDS, 0))
        renew_key(sealer);
    memset(nonce, 0, NONCE_BYTES);
    memcpy(nonce, &sealer->count, sizeof sealer->count);
    sealer->count++;
}

static inline const unsigned char *key_of(const struct mur_sealer *sealer)
{
    return sealer->cipher == MUR_CIPHER_AES ? sealer->state : sealer->key;
}

size_t mur_sealer_seal(struct mur_sealer *sealer, void *record, const void *data, size_t bytes)
{
    unsigned char nonce[NONCE_BYTES], *head = record, *sealed = head + MUR_RECORD_HEAD;
    uint32_t length = (uint32_t)bytes;
    seal_function *seal = sodium.seal[sealer->cipher];

    next_nonce(sealer, nonce);
    memcpy(head, &length, sizeof length);
    if (sealer->mode == MUR_SEAL_ENCRYPT) {
        if (bytes < MUR_BULK_MIN || sealer->cipher != MUR_CIPHER_AES ||
            !mur_bulk_seal(&sealer->bulk, sealer->key, nonce, sealed, head + TAG_AT, data, bytes))
            seal(sealed, head + TAG_AT, NULL, data, bytes, NULL, 0, NULL, nonce, key_of(sealer));
    } else {
        seal(sealed, head + TAG_AT, NULL, sealed, 0, data, bytes, NULL, nonce, key_of(sealer));
        memcpy(sealed, data, bytes);
    }
    return MUR_RECORD_HEAD + bytes;
}

uint32_t mur_record_length(const void *record)
{
    uint32_t length;

    memcpy(&length, record, sizeof length);
    return length;
}

static bool open_next(struct mur_sealer *sealer, const unsigned char *head, void *data)
{
    const unsigned char *sealed = head + MUR_RECORD_HEAD, *tag = head + TAG_AT;
    uint32_t length = mur_record_length(head);
    unsigned char nonce[NONCE_BYTES];
    open_function *open = sodium.open[sealer->cipher];

    next_nonce(sealer, nonce);
    if (sealer->mode == MUR_SEAL_ENCRYPT && length >= MUR_BULK_MIN && sealer->cipher == MUR_CIPHER_AES &&
        mur_bulk_open(&sealer->bulk, sealer->key, nonce, data, tag, sealed, length))
        return true;
    if (sealer->mode == MUR_SEAL_ENCRYPT)
        return open(data, NULL, sealed, length, tag, NULL, 0, nonce, key_of(sealer)) == 0;
    if (open(NULL, NULL, sealed, 0, tag, sealed, length, nonce, key_of(sealer)) != 0)
        return false;
    memcpy(data, sealed, length);
    return true;
}

bool mur_sealer_open(struct mur_sealer *sealer, const void *record, void *data)
{
    if (!sealer->is_broken && open_next(sealer, record, data))
        return true;
    sealer->is_broken = true;
    return false;
}

void mur_seal_wipe(void *data, size_t bytes)
{
    sodium.wipe(data, bytes);
}
