/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying a few bytes without a call: overlapping words instead of a loop. */
#ifndef MUR_BASE_COPY_H
#define MUR_BASE_COPY_H

#include <stddef.h>
#include <string.h>

typedef long long mur_word16 __attribute__((vector_size(16), aligned(1), may_alias));

static inline void mur_copy16(unsigned char *out, const unsigned char *in)
{
    *(mur_word16 *)out = *(const mur_word16 *)in;
}

/* At most 64 bytes; out and in do not overlap. */
static inline void mur_copy_small(void *out_, const void *in_, size_t bytes)
{
    unsigned char *out = out_;
    const unsigned char *in = in_;

    if (bytes == 8) {
        memcpy(out, in, 8);
    } else if (bytes >= 16) {
        mur_copy16(out, in);
        if (bytes > 32) {
            mur_copy16(out + 16, in + 16);
            mur_copy16(out + bytes - 32, in + bytes - 32);
        }
        mur_copy16(out + bytes - 16, in + bytes - 16);
    } else if (bytes > 8) {
        memcpy(out, in, 8);
        memcpy(out + bytes - 8, in + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(out, in, 4);
        memcpy(out + bytes - 4, in + bytes - 4, 4);
    } else if (bytes) {
        out[0] = in[0];
        out[bytes / 2] = in[bytes / 2];
        out[bytes - 1] = in[bytes - 1];
    }
}

/* Any size. */
static inline void mur_copy(void *out, const void *in, size_t bytes)
{
    if (bytes <= 64)
        mur_copy_small(out, in, bytes);
    else
        memcpy(out, in, bytes);
}

#endif
