/* SPDX-License-Identifier: BSD-3-Clause */
/* libcrypto at run time. The declarations here are those of its interface since version 1.1. */
#include "base/bulk.h"

#include <stddef.h>
#include <stdint.h>

#include "base/library.h"

enum { GET_TAG = 0x10, SET_TAG = 0x11, TAG_BYTES = 16 };

typedef int begin_function(void *context, const void *cipher, void *engine, const unsigned char *key,
                           const unsigned char *nonce);
typedef int update_function(void *context, unsigned char *out, int *out_bytes, const unsigned char *data, int bytes);
typedef int end_function(void *context, unsigned char *out, int *out_bytes);

static struct mur_evp_functions {
    void *(*make)(void);
    void (*free)(void *context);
    const void *(*aes)(void);
    begin_function *begin, *begin_open;
    update_function *update, *update_open;
    end_function *end, *end_open;
    int (*control)(void *context, int what, int number, void *data);
    bool is_tried, is_there;
} crypto;

static bool load(void)
{
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1"};
    static const struct mur_library_function functions[] = {
        {"EVP_CIPHER_CTX_new", offsetof(struct mur_evp_functions, make)},
        {"EVP_CIPHER_CTX_free", offsetof(struct mur_evp_functions, free)},
        {"EVP_aes_256_gcm", offsetof(struct mur_evp_functions, aes)},
        {"EVP_EncryptInit_ex", offsetof(struct mur_evp_functions, begin)},
        {"EVP_EncryptUpdate", offsetof(struct mur_evp_functions, update)},
        {"EVP_EncryptFinal_ex", offsetof(struct mur_evp_functions, end)},
        {"EVP_DecryptInit_ex", offsetof(struct mur_evp_functions, begin_open)},
        {"EVP_DecryptUpdate", offsetof(struct mur_evp_functions, update_open)},
        {"EVP_DecryptFinal_ex", offsetof(struct mur_evp_functions, end_open)},
        {"EVP_CIPHER_CTX_ctrl", offsetof(struct mur_evp_functions, control)},
    };
    void *library = mur_library_open(names, sizeof names / sizeof names[0]);

    return library && !mur_library_find(library, &crypto, functions, sizeof functions / sizeof functions[0]);
}

static bool is_there(void)
{
    if (!crypto.is_tried) {
        crypto.is_tried = true;
        crypto.is_there = load();
    }
    return crypto.is_there;
}

static bool make_ready(begin_function *begin, void **context, const unsigned char *key, const unsigned char *nonce)
{
    if (*context)
        return begin(*context, NULL, NULL, NULL, nonce) == 1;
    *context = crypto.make();
    return *context && begin(*context, crypto.aes(), NULL, key, nonce) == 1;
}

bool mur_bulk_seal(void **context, const unsigned char *key, const unsigned char *nonce, unsigned char *out,
                   unsigned char *tag, const void *data, size_t bytes)
{
    int done, rest;

    return is_there() && make_ready(crypto.begin, context, key, nonce) &&
           crypto.update(*context, out, &done, data, (int)bytes) == 1 && crypto.end(*context, out + done, &rest) == 1 &&
           crypto.control(*context, GET_TAG, TAG_BYTES, tag) == 1;
}

bool mur_bulk_open(void **context, const unsigned char *key, const unsigned char *nonce, unsigned char *out,
                   const unsigned char *tag, const void *sealed, size_t bytes)
{
    int done, rest;

    return is_there() && make_ready(crypto.begin_open, context, key, nonce) &&
           crypto.update_open(*context, out, &done, sealed, (int)bytes) == 1 &&
           crypto.control(*context, SET_TAG, TAG_BYTES, (void *)(uintptr_t)tag) == 1 &&
           crypto.end_open(*context, out + done, &rest) == 1;
}

void mur_bulk_end(void **context)
{
    if (*context)
        crypto.free(*context);
    *context = NULL;
}
