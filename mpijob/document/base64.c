/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64: three bytes are four digits. */
#include "mpijob/document/base64.h"

#include <string.h>

#include "launch/alloc.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *mur_base64_encode(const void *data, size_t length)
{
    const unsigned char *from = data;
    char *text = mur_alloc((length + 2) / 3 * 4 + 1, 1), *to = text;

    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned bits = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                        (left > 2 ? (unsigned)from[i + 2] : 0);

        *to++ = digits[bits >> 18 & 63];
        *to++ = digits[bits >> 12 & 63];
        *to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[bits & 63] : '=';
    }
    return text;
}

size_t mur_base64_decode(const char *text, char *to)
{
    unsigned bits = 0;
    int have = 0;
    size_t length = 0;

    for (; *text; text++) {
        const char *found = strchr(digits, *text);

        if (!found)
            continue;
        bits = bits << 6 | (unsigned)(found - digits);
        have += 6;
        if (have >= 8)
            to[length++] = (char)(bits >> (have -= 8));
    }
    return length;
}
