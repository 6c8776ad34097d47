/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of the latest error texts. */
#include "base/error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_SLOT = 16, SLOTS = 240, TEXT_BYTES = 512 };

static struct {
    atomic_uint next;
    int code[SLOTS];
    char text[SLOTS][TEXT_BYTES];
} ring;

int mur_error(int error_class, const char *format, ...)
{
    unsigned slot = atomic_fetch_add_explicit(&ring.next, 1, memory_order_relaxed) % SLOTS;
    int code = (int)(slot + FIRST_SLOT) * 64 + error_class;
    va_list args;

    va_start(args, format);
    vsnprintf(ring.text[slot], TEXT_BYTES, format, args);
    va_end(args);
    ring.code[slot] = code;
    return code;
}

static int slot_of(int code)
{
    int slot = code / 64 - FIRST_SLOT;

    return slot >= 0 && slot < SLOTS && ring.code[slot] == code ? slot : -1;
}

const char *mur_error_text(int code)
{
    int slot = slot_of(code);

    return slot < 0 ? NULL : ring.text[slot];
}

void mur_error_set_text(int code, const char *text)
{
    int slot = slot_of(code);

    if (slot >= 0)
        snprintf(ring.text[slot], TEXT_BYTES, "%s", text);
}
