/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of the latest error texts. Errors are found with and without the engine's lock, so the ring has its own. */
#include "base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_SLOT = 16, SLOTS = 240, TEXT_BYTES = 512 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned next;
    int code[SLOTS];
    char text[SLOTS][TEXT_BYTES];
} ring;

int mur_error(int error_class, const char *format, ...)
{
    char text[TEXT_BYTES];
    unsigned slot;
    va_list args;
    int code;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&guard);
    slot = ring.next++ % SLOTS;
    code = (int)(slot + FIRST_SLOT) * 64 + error_class;
    ring.code[slot] = code;
    strcpy(ring.text[slot], text);
    pthread_mutex_unlock(&guard);
    return code;
}

static int slot_of(int code)
{
    int slot = code / 64 - FIRST_SLOT;

    return slot >= 0 && slot < SLOTS && ring.code[slot] == code ? slot : -1;
}

/* A copy, since another thread's error may take the slot. */
const char *mur_error_text(int code)
{
    static _Thread_local char copy[TEXT_BYTES];
    int slot;

    pthread_mutex_lock(&guard);
    slot = slot_of(code);
    if (slot >= 0)
        strcpy(copy, ring.text[slot]);
    pthread_mutex_unlock(&guard);
    return slot < 0 ? NULL : copy;
}

void mur_error_set_text(int code, const char *text)
{
    int slot;

    pthread_mutex_lock(&guard);
    slot = slot_of(code);
    if (slot >= 0)
        snprintf(ring.text[slot], TEXT_BYTES, "%s", text);
    pthread_mutex_unlock(&guard);
}
