/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying a few bytes without a call, by overlapping words instead of a loop; and copying between processors, where it
 * matters what happens to the lines of their caches. */
#ifndef MUR_BASE_COPY_H
#define MUR_BASE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/settings.h"

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

/* Any size. A compiler that knows the number to be small may put string instructions in the place of the call, which
 * take longer than the C library's vectors; so the number is hidden from it. */
static inline void mur_copy(void *out, const void *in, size_t bytes)
{
    if (bytes <= 64) {
        mur_copy_small(out, in, bytes);
    } else {
        __asm__("" : "+r"(bytes));
        memcpy(out, in, bytes);
    }
}

/* Copies what another processor has written, and takes the lines from it by writing one word of each back as it is: who
 * writes there next, whichever of the two, then meets a line that has one owner. Read only, the line would have two,
 * and the next to write it would wait until the other has given it up: on some processors several times as long as the
 * copy takes (AMD Zen 4: 64 KiB there and back in 3.9 us instead of 9.3). Nobody else may look at the data meanwhile.
 */
static inline void mur_copy_taking(void *out_, void *in_, size_t bytes)
{
    unsigned char *out = out_, *in = in_;
    size_t done = 0;

    for (; bytes - done >= 64; done += 64) {
        mur_word16 *to = (mur_word16 *)(out + done), *from = (mur_word16 *)(in + done);
        mur_word16 a = from[0], b = from[1], c = from[2], d = from[3];

        *(volatile mur_word16 *)from = a;
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
    }
    mur_copy_small(out + done, in + done, bytes - done);
}

enum { MUR_COPY_PAST_LEAST = 128 }; /* bytes; fewer are written as ever */

/* Writes past the caches, this processor's and others' that hold the lines. What is stored later is seen later: if it
 * is one of several parts, once mur_copy_past_end has been called after the last. */
void mur_copy_past(void *out, const void *in, size_t bytes);
void mur_copy_past_part(void *out, const void *in, size_t bytes);
void mur_copy_past_end(void);

/* Takes lines out of all caches, before another wrote them by a way of its own (a system call). */
void mur_copy_forget(void *memory, size_t bytes);

/* Whether lines that were written in `ns` nanoseconds would better have been written past the caches. */
static inline bool mur_copy_was_costly(size_t bytes, uint64_t ns)
{
    return ns >= bytes / 64 * (uint64_t)mur_settings.coll_line_ns;
}

#endif
