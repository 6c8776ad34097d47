/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64 (RFC 4648), in which Secrets and certificates are written. */
#ifndef MUR_MPIJOB_BASE64_H
#define MUR_MPIJOB_BASE64_H

#include <stddef.h>

char *mur_base64_encode(const void *data, size_t length); /* the caller's to free */
/* What is no digit is skipped. `to` has room for as much as the text has. Returns the length. */
size_t mur_base64_decode(const char *text, char *to);

#endif
