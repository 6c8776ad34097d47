/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealing and opening much at a time by AES-256-GCM: OpenSSL's libcrypto does in 0.2 ns a byte what takes libsodium
 * 0.45, on processors with wide vectors. Both make the same bytes, so each end may use either. It is loaded when the
 * first large record comes; where it is not there libsodium does all. */
#ifndef MUR_BASE_BULK_H
#define MUR_BASE_BULK_H

#include <stdbool.h>
#include <stddef.h>

enum { MUR_BULK_MIN = 4 << 10 }; /* bytes; below, setting it up costs more than it saves */

/* Encrypts into `out`, with the tag of 16 bytes. `*context` is NULL at first, and then belongs to the key. False: it
 * cannot be done here. */
bool mur_bulk_seal(void **context, const unsigned char *key, const unsigned char *nonce, unsigned char *out,
                   unsigned char *tag, const void *data, size_t bytes);

/* The same the other way round. False: it cannot be done here, or the record is not what was sealed; libsodium tells.
 */
bool mur_bulk_open(void **context, const unsigned char *key, const unsigned char *nonce, unsigned char *out,
                   const unsigned char *tag, const void *sealed, size_t bytes);
void mur_bulk_end(void **context);

#endif
