/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of mur_copy: a cache line at a time, and a last one that overlaps. */
#include "base/copy.h"

void mur_copy_lines(void *out_, const void *in_, size_t bytes)
{
    unsigned char *out = out_;
    const unsigned char *in = in_;
    size_t last = bytes - 64;

    for (size_t i = 0; i < last; i += 64) {
        mur_word16 a = *(const mur_word16 *)(in + i), b = *(const mur_word16 *)(in + i + 16);
        mur_word16 c = *(const mur_word16 *)(in + i + 32), d = *(const mur_word16 *)(in + i + 48);

        *(mur_word16 *)(out + i) = a;
        *(mur_word16 *)(out + i + 16) = b;
        *(mur_word16 *)(out + i + 32) = c;
        *(mur_word16 *)(out + i + 48) = d;
    }
    for (size_t i = last; i < bytes; i += 16)
        mur_copy16(out + i, in + i);
}
