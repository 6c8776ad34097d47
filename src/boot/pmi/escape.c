/* SPDX-License-Identifier: BSD-3-Clause */
/* Escaping of text for PMI: see escape.h. */
#include "boot/pmi/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

char *mur_pmi_escape(const char *text)
{
    char *escaped = *text ? malloc(3 * strlen(text) + 1) : strdup("%-");
    char *to = escaped;

    if (!escaped || !*text)
        return escaped;
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || strchr(";%\\", *text)) /* bytes over 127 are negative, or large */
            to += sprintf(to, "%%%02X", (unsigned char)*text);
        else
            *to++ = *text;
    *to = '\0';
    return escaped;
}

void mur_pmi_unescape(char *text)
{
    char *to = text;

    if (strcmp(text, "%-") == 0)
        *text = '\0';
    while (*text)
        if (*text == '%' && digit(text[1]) >= 0 && digit(text[2]) >= 0) {
            *to++ = (char)(digit(text[1]) * 16 + digit(text[2]));
            text += 3;
        } else {
            *to++ = *text++;
        }
    *to = '\0';
}
