/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the launcher: a line is put together in one buffer and handed over in one write. */
#include "launch/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void mur_say_raw(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);

        if (written < 0 && errno == EAGAIN) { /* someone made the shared stderr non-blocking */
            struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};

            poll(&wait, 1, 1000);
            continue;
        }
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* there is nowhere left to complain to */
        text += written;
        length -= (size_t)written;
    }
}

const char *mur_say_name = "mpiexec";

static void say_line(const char *format, va_list args)
{
    char line[4096];
    size_t length = (size_t)snprintf(line, sizeof line, "%s: ", mur_say_name);
    int more;

    more = vsnprintf(line + length, sizeof line - length - 1, format, args);
    if (more > 0)
        length += (size_t)more;
    if (length > sizeof line - 2)
        length = sizeof line - 2; /* vsnprintf cut it */
    line[length++] = '\n';
    mur_say_raw(line, length);
}

void mur_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_line(format, args);
    va_end(args);
}

void (*mur_quit_tell)(int code, const char *text);

void mur_quit(int code, const char *format, ...)
{
    char text[2000];
    va_list args;

    va_start(args, format);
    if (mur_quit_tell) {
        vsnprintf(text, sizeof text, format, args);
        mur_quit_tell(code, text);
    } else {
        say_line(format, args);
    }
    va_end(args);
    _exit(code);
}
