/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows, for commands put together from parts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "boot/pmi/escape.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

static bool reserve(struct mur_pmi_text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    char *moved;

    if (text->failed || wanted <= text->size)
        return !text->failed;
    wanted = wanted < 512 ? 512 : 2 * wanted;
    moved = realloc(text->at, wanted);
    if (!moved) {
        text->failed = true;
        return false;
    }
    text->at = moved;
    text->size = wanted;
    return true;
}

void mur_pmi_text_add(struct mur_pmi_text *text, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->at + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

void mur_pmi_text_add_escaped(struct mur_pmi_text *text, const char *value)
{
    char *escaped = mur_pmi_escape(value);

    if (escaped)
        mur_pmi_text_add(text, "%s", escaped);
    else
        text->failed = true;
    free(escaped);
}

int mur_pmi_no_memory(void)
{
    return mur_error(MPI_ERR_NO_MEM, "no memory for a message to the launcher");
}
