/* SPDX-License-Identifier: BSD-3-Clause */
/* Host files, in the two habits that exist and in any mixture of them:
 *
 *     # a comment                        one host a line, and nothing else but comments and blanks
 *     node1                              one slot, and one more each time the line comes again
 *     node2:4                            four slots
 *     node3 slots=4 max_slots=8          the same, and never more than eight ranks
 *     ada@node[04-06,9] port=2222        ranges; user and port for the command that reaches it
 *
 * slots may be called count, cpu or cpus, max_slots also slots_max, and the user user= or username=. Blanks around '='
 * do not matter, nor do capitals in these words. A message names the file, the line and the word. */
#include "launch/hosts/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"

#define FILE_MAX (16 << 20)

struct span { /* a word of the line */
    const char *text;
    size_t length;
};

struct line {
    const char *file;
    int number;
    const char *next; /* what is not read yet, up to `end` */
    const char *end;
    struct mur_problem *problem;
};

static bool fail(const struct line *line, const char *what, const struct span *word)
{
    return mur_problem_set(line->problem, "%s, line %d: %s '%.*s'", line->file, line->number, what,
                           (int)(word->length < 80 ? word->length : 80), word->text);
}

static void skip_blanks(struct line *line)
{
    while (line->next < line->end && strchr(" \t\r\f\v", *line->next) && *line->next)
        line->next++;
    if (line->next < line->end && *line->next == '#')
        line->next = line->end;
}

/* The next word, up to a blank or '='; of no length at the end. */
static struct span take_word(struct line *line)
{
    struct span word;

    skip_blanks(line);
    word.text = line->next;
    while (line->next < line->end && !(*line->next && strchr(" \t\r\f\v=", *line->next)))
        line->next++;
    word.length = (size_t)(line->next - word.text);
    return word;
}

static bool is_word(const struct span *word, const char *a, const char *b, const char *c, const char *d)
{
    const char *const names[] = {a, b, c, d};

    for (int i = 0; i < 4; i++)
        if (names[i] && strlen(names[i]) == word->length && strncasecmp(word->text, names[i], word->length) == 0)
            return true;
    return false;
}

static bool set_number(const struct line *line, const struct span *value, int low, int high, int *number)
{
    if (mur_number_read(value->text, value->length, low, high, number))
        return true;
    return mur_problem_set(line->problem, "%s, line %d: a number from %d to %d is wanted, not '%.*s'", line->file,
                           line->number, low, high, (int)(value->length < 80 ? value->length : 80), value->text);
}

/* One `key = value`; `user` holds the text of a user's name. */
static bool take_setting(struct line *line, const struct span *key, struct mur_host *host, char **user)
{
    struct span value;

    skip_blanks(line);
    if (line->next == line->end || *line->next != '=')
        return fail(line, "slots=, max_slots=, user= or port= may follow a host, not", key);
    line->next++;
    value = take_word(line);
    if (is_word(key, "slots", "count", "cpu", "cpus")) {
        host->has_slots = true;
        return set_number(line, &value, 0, MUR_SLOTS_MAX, &host->slots);
    }
    if (is_word(key, "max_slots", "slots_max", "max-slots", "slots-max"))
        return set_number(line, &value, 1, MUR_SLOTS_MAX, &host->max_slots);
    if (is_word(key, "port", NULL, NULL, NULL))
        return set_number(line, &value, 1, 65535, &host->port);
    if (!is_word(key, "user", "username", NULL, NULL))
        return fail(line, "slots=, max_slots=, user= or port= may follow a host, not", key);
    if (value.length > 64 || !mur_name_is_good(value.text, value.length))
        return fail(line, "this is no name of a user:", &value);
    free(*user);
    *user = mur_alloc_text("%.*s", (int)value.length, value.text);
    return true;
}

static bool add_line(struct mur_hosts *hosts, struct line *line)
{
    struct mur_problem what;
    struct mur_host more = {0};
    struct span host = take_word(line);
    bool is_good = true;
    char *user = NULL;

    if (host.length == 0 && line->next == line->end)
        return true;
    skip_blanks(line);
    if (host.length == 0 || (line->next < line->end && *line->next == '='))
        return fail(line, "a line begins with the name of a host, not with", &host);
    while (is_good) {
        struct span key = take_word(line);

        if (key.length == 0 && line->next == line->end)
            break;
        is_good = take_setting(line, &key, &more, &user);
    }
    if (is_good && more.max_slots && more.slots > more.max_slots)
        is_good = mur_problem_set(line->problem, "%s, line %d: host '%.*s' has %d slots, more than its max_slots=%d",
                                  line->file, line->number, (int)(host.length < 80 ? host.length : 80), host.text,
                                  more.slots, more.max_slots);
    more.user = user;
    if (is_good && !mur_hosts_add_word(hosts, host.text, host.length, &more, &what))
        is_good = mur_problem_set(line->problem, "%s, line %d: %.900s", line->file, line->number, what.text);
    free(user);
    return is_good;
}

bool mur_hosts_add_text(struct mur_hosts *hosts, const char *name, const char *text, size_t length,
                        struct mur_problem *problem)
{
    const char *end = text + length;
    struct line line = {.file = name, .problem = problem};

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));

        line.number++;
        line.next = text;
        line.end = newline ? newline : end;
        if (memchr(text, '\0', (size_t)(line.end - text)))
            return mur_problem_set(problem, "%s, line %d: a byte 0; this is no text", name, line.number);
        if (!add_line(hosts, &line))
            return false;
        text = newline ? newline + 1 : end;
    }
    return true;
}

char *mur_hosts_read_file(const char *path, size_t *length, struct mur_problem *problem)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t space = 4096;
    size_t got;

    if (!file) {
        mur_problem_set(problem, "cannot read '%s': %s", path, strerror(errno));
        return NULL;
    }
    *length = 0;
    do {
        space *= 2;
        text = mur_alloc_again(text, space, 1);
        got = fread(text + *length, 1, space - *length - 1, file);
        *length += got;
    } while (got > 0 && *length < FILE_MAX);
    text[*length] = '\0';
    if (ferror(file) || *length >= FILE_MAX) {
        mur_problem_set(problem, "cannot read '%s': %s", path, ferror(file) ? strerror(errno) : "it is too long");
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

bool mur_hosts_add_file(struct mur_hosts *hosts, const char *path, struct mur_problem *problem)
{
    size_t length;
    char *text = mur_hosts_read_file(path, &length, problem);
    int before = hosts->count;
    bool is_good = text && mur_hosts_add_text(hosts, path, text, length, problem);

    free(text);
    if (is_good && hosts->count == before && before == 0)
        return mur_problem_set(problem, "the host file '%s' names no host", path);
    return is_good;
}
