/* SPDX-License-Identifier: BSD-3-Clause */
/* -configfile: a file whose lines are the parts that ':' separates on a command line (MPI-5.0 §11.5).
 *
 * Empty lines and those that start with '#' say nothing; a backslash at the end of a line goes on with the next. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

struct words {
    char **items;
    size_t count;
};

static void add_word(struct words *words, char *word)
{
    words->items = mur_alloc_again(words->items, words->count + 2, sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

/* The end of the line that starts at `line`; lines that a backslash joins are one, and blanks stand for the break. */
static char *end_line(char *line)
{
    for (;;) {
        char *newline = strchr(line, '\n');

        if (!newline)
            return line + strlen(line);
        if (newline == line || newline[-1] != '\\')
            return newline;
        newline[-1] = newline[0] = ' ';
        line = newline;
    }
}

int mur_configfile_read(struct mur_parser *parser, const char *path)
{
    struct mur_problem problem;
    struct words words = {0};
    size_t length;
    char *text;

    if (parser->has_file)
        return mur_parser_fail(parser, "%s %s: a file of options cannot name another", parser->option, path);
    if (*parser->next)
        return mur_parser_fail(parser, "%s %s must come last, but '%s' follows", parser->option, path, *parser->next);
    text = mur_hosts_read_file(path, &length, &problem);
    if (!text)
        return mur_parser_fail_problem(parser, &problem);
    if (strlen(text) != length)
        return mur_parser_fail(parser, "%s: '%s' has a byte 0; this is no text", parser->option, path);
    for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
        char **parts;

        end = end_line(line);
        line += strspn(line, " \t\r");
        if (line >= end || *line == '#')
            continue;
        parts = mur_words_split(line, (size_t)(end - line));
        if (!parts)
            return mur_parser_fail(parser, "%s: '%s' has a quote that is not closed in the line '%.*s'", parser->option,
                                   path, end - line < 60 ? (int)(end - line) : 60, line);
        if (words.count && parts[0])
            add_word(&words, mur_alloc_text(":"));
        for (; *parts; parts++)
            add_word(&words, *parts);
    }
    free(text);
    if (!words.count)
        return mur_parser_fail(parser, "%s: '%s' says nothing", parser->option, path);
    parser->has_file = true;
    parser->next = words.items;
    return 0;
}
