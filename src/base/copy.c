/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying without leaving the copy in the caches. */
#include "base/copy.h"

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>

/* Whole lines go to memory in one go each. */
void mur_copy_past_part(void *out_, const void *in_, size_t bytes)
{
    unsigned char *out = out_;
    const unsigned char *in = in_;
    size_t before = -(uintptr_t)out % 64;

    if (bytes < MUR_COPY_PAST_LEAST) {
        mur_copy(out, in, bytes);
        return;
    }
    mur_copy_small(out, in, before);
    for (out += before, in += before, bytes -= before; bytes >= 64; out += 64, in += 64, bytes -= 64) {
        const mur_word16 *from = (const mur_word16 *)in;
        mur_word16 a = from[0], b = from[1], c = from[2], d = from[3];
        __m128i *to = (__m128i *)out;

        _mm_stream_si128(to, (__m128i)a);
        _mm_stream_si128(to + 1, (__m128i)b);
        _mm_stream_si128(to + 2, (__m128i)c);
        _mm_stream_si128(to + 3, (__m128i)d);
    }
    mur_copy_small(out, in, bytes);
}

void mur_copy_past_end(void)
{
    _mm_sfence();
}

void mur_copy_forget(void *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        _mm_clflush((char *)memory + at);
}

#else

void mur_copy_past_part(void *out, const void *in, size_t bytes)
{
    mur_copy(out, in, bytes);
}

void mur_copy_past_end(void)
{
}

void mur_copy_forget(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

#endif

void mur_copy_past(void *out, const void *in, size_t bytes)
{
    mur_copy_past_part(out, in, bytes);
    mur_copy_past_end();
}
