/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory or a clear end: see alloc.h. */
#include "launch/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "launch/say.h"

void *mur_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        mur_quit(1, "no memory for %zu x %zu bytes", count, size);
    return memory;
}

void *mur_alloc_again(void *memory, size_t count, size_t size)
{
    void *moved = reallocarray(memory, count ? count : 1, size);

    if (!moved)
        mur_quit(1, "no memory for %zu x %zu bytes", count, size);
    return moved;
}

char *mur_alloc_text(const char *format, ...)
{
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        mur_quit(1, "no memory for a text");
    return text;
}
