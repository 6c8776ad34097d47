/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels and patterns: see label.h. */
#include "launch/label.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct text { /* grows up to its size and is always terminated */
    char *data;
    size_t size;
    size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    size_t room = text->size - text->length;
    va_list args;
    int more;

    va_start(args, format);
    more = vsnprintf(text->data + text->length, room, format, args);
    va_end(args);
    if (more > 0)
        text->length += (size_t)more < room ? (size_t)more : room - 1;
}

static void add_time(struct text *text)
{
    struct timespec now;
    struct tm parts;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    add(text, "%04d-%02d-%02dT%02d:%02d:%02d.%06ld", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
        parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000);
}

const char *mur_pattern_check(const char *pattern)
{
    for (; (pattern = strchr(pattern, '%')); pattern += 2)
        if (!pattern[1] || !strchr("rgpht%", pattern[1]))
            return pattern;
    return NULL;
}

static void expand(struct text *text, const char *pattern, const struct mur_jobspec *job, int rank)
{
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            add(text, "%c", *pattern);
            continue;
        }
        switch (*++pattern) {
        case 'r':
            add(text, "%d", rank);
            break;
        case 'g':
            add(text, "0");
            break;
        case 'p':
            add(text, "%d", job->node_of[rank]);
            break;
        case 'h':
            add(text, "%s", job->hosts.items[job->node_of[rank]].name);
            break;
        case 't':
            add_time(text);
            break;
        default: /* %%; all others were refused when the pattern was given */
            add(text, "%%");
            break;
        }
    }
}

size_t mur_pattern_expand(const char *pattern, const struct mur_jobspec *job, int rank, char *data, size_t size)
{
    struct text text = {.data = data, .size = size};

    data[0] = '\0';
    expand(&text, pattern, job, rank);
    return text.length;
}

size_t mur_label_make(const struct mur_jobspec *job, int rank, bool is_stderr, char *data, size_t size)
{
    const struct mur_formats *formats = &job->formats;
    struct text text = {.data = data, .size = size};

    data[0] = '\0';
    if (formats->is_timed) {
        add_time(&text);
        add(&text, " ");
    }
    if (formats->is_tagged)
        add(&text, "[1,%d]<%s>:", rank, is_stderr ? "stderr" : "stdout");
    if (formats->is_ranked)
        add(&text, "[%d] ", rank);
    if (formats->prefix)
        expand(&text, formats->prefix, job, rank);
    return text.length;
}

bool mur_label_is_wanted(const struct mur_jobspec *job)
{
    const struct mur_formats *formats = &job->formats;

    return formats->is_timed || formats->is_tagged || formats->is_ranked || formats->prefix;
}
