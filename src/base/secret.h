/* SPDX-License-Identifier: BSD-3-Clause */
/* Proving that one knows the job's secret without telling it: a keyed MAC (HMAC-SHA-256) of libsodium, which is loaded
 * when the first connection is made, so that jobs on one host do not pay for it. */
#ifndef MUR_BASE_SECRET_H
#define MUR_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/library.h"

enum { MUR_MAC_BYTES = 32, MUR_NONCE_BYTES = 32 };

/* Makes the library ready. False, with a text that says what to install, when it is not there. */
bool mur_secret_open(char *complaint, size_t bytes);

/* Makes the library ready, and finds further functions of it for a table (base/library.h). */
bool mur_secret_find(void *table, const struct mur_library_function *functions, size_t count, char *complaint,
                     size_t bytes);

/* Both need mur_secret_open before. `key` has MUR_MAC_BYTES bytes; the check takes the same time wherever they differ.
 */
void mur_secret_mac(unsigned char mac[MUR_MAC_BYTES], const void *text, size_t bytes, const unsigned char *key);
bool mur_secret_check(const unsigned char mac[MUR_MAC_BYTES], const void *text, size_t bytes, const unsigned char *key);

/* Bytes that nobody can foretell, from the system. */
void mur_secret_random(void *out, size_t bytes);

/* Bytes as hexadecimal digits: `text` has room for two a byte and a NUL. Reading wants so many digits of lower case,
 * and does not look behind them. */
void mur_secret_write(char *text, const unsigned char *secret, size_t bytes);
bool mur_secret_read(const char *text, unsigned char *secret, size_t bytes);

#endif
