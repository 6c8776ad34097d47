/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about what the ranks write: labels before lines, and files instead of our own output. */
#include <string.h>

#include "launch/alloc.h"
#include "launch/label.h"
#include "launch/options/parser.h"

static int set_ranked(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->formats.is_ranked = true;
    return 0;
}

static int set_tagged(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->formats.is_tagged = true;
    return 0;
}

static int set_timed(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->formats.is_timed = true;
    return 0;
}

static int set_merged(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->formats.is_merged = true;
    return 0;
}

static int set_pattern(struct mur_parser *parser, const char *value, const char **pattern)
{
    const char *bad = mur_pattern_check(value);

    if (!*value)
        return mur_parser_fail(parser, "%s wants a pattern, not an empty one", parser->option);
    if (bad)
        return mur_parser_fail(parser, "%s '%s': %%r, %%g, %%p, %%h, %%t and %%%% mean something, but '%.2s' does not",
                               parser->option, value, bad);
    *pattern = value;
    return 0;
}

static int set_prefix(struct mur_parser *parser, const char *value)
{
    return set_pattern(parser, value, &parser->job->formats.prefix);
}

static int set_out(struct mur_parser *parser, const char *value)
{
    return set_pattern(parser, value, &parser->job->formats.out);
}

static int set_err(struct mur_parser *parser, const char *value)
{
    return set_pattern(parser, value, &parser->job->formats.err);
}

/* `DIR`, or `DIR:nocopy` to show nothing. */
static int set_copies(struct mur_parser *parser, const char *value)
{
    size_t length = strcspn(value, ":");

    if (length == 0 || (value[length] && strcmp(value + length, ":nocopy") != 0))
        return mur_parser_fail(parser, "%s wants DIR or DIR:nocopy, not '%s'", parser->option, value);
    parser->job->formats.copies = mur_alloc_text("%.*s", (int)length, value);
    parser->job->formats.has_copies_only = value[length] == ':';
    return 0;
}

/* `-output tag,timestamp,merge,dir=DIR,file=NAME` */
static int set_output(struct mur_parser *parser, const char *value)
{
    struct mur_formats *formats = &parser->job->formats;

    for (;;) {
        size_t length = strcspn(value, ",");
        char *word = mur_alloc_text("%.*s", (int)length, value);
        int rc = 0;

        if (strcmp(word, "tag") == 0)
            formats->is_tagged = true;
        else if (strcmp(word, "rank") == 0)
            formats->is_ranked = true;
        else if (strcmp(word, "timestamp") == 0)
            formats->is_timed = true;
        else if (strcmp(word, "merge") == 0 || strcmp(word, "merge-stderr-to-stdout") == 0)
            formats->is_merged = true;
        else if (strncmp(word, "dir=", 4) == 0)
            rc = set_copies(parser, word + 4);
        else if (strncmp(word, "file=", 5) == 0 && word[5] && !mur_pattern_check(word + 5))
            formats->out = formats->err = mur_alloc_text("%s.%%r", word + 5);
        else
            rc = mur_parser_fail(parser, "%s wants tag, rank, timestamp, merge, dir=DIR or file=NAME, not '%s'",
                                 parser->option, word);
        if (rc || !value[length])
            return rc;
        value += length + 1;
    }
}

const struct mur_option mur_output_options[] = {
    {"l", NULL, set_ranked, "start each line of output with \"[rank] \""},
    {"prepend-rank", NULL, set_ranked, NULL},
    {"tag-output", NULL, set_tagged, "... with \"[1,rank]<stdout>:\""},
    {"timestamp-output", NULL, set_timed, "... with the time"},
    {"prepend-pattern", "PATTERN", set_prefix,
     "... with PATTERN, where %r is the rank, %h the host, %p its number, %t the time, %% a '%'"},
    {"outfile-pattern", "PATTERN", set_out, "stdout of each rank into a file of this name, with the same %"},
    {"outfile", "PATTERN", set_out, NULL},
    {"errfile-pattern", "PATTERN", set_err, "stderr of each rank"},
    {"errfile", "PATTERN", set_err, NULL},
    {"output-filename", "DIR", set_copies,
     "a copy of all output in DIR/1/rank.R/stdout and stderr; DIR:nocopy shows nothing"},
    {"output", "WHAT,...", set_output,
     "tag, rank, timestamp, merge, dir=DIR, file=NAME: the same; merge: stderr goes where stdout goes"},
    {"merge-stderr-to-stdout", NULL, set_merged, "stderr goes where stdout goes"},
    {NULL, NULL, NULL, NULL},
};
