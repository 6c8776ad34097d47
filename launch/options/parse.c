/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the command line by tables of options, one a theme.
 *
 * An option has one or two dashes and takes its value as `-opt value` or `-opt=value`; the first word that is no option
 * is the program, and everything up to a lone ':' or the end is its arguments. */
#include "launch/options/options.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boot/spawn.h"
#include "launch/alloc.h"
#include "launch/options/parser.h"
#include "launch/say.h"

/* ---- for the tables ---- */

int mur_parser_fail(struct mur_parser *parser, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(parser->error, parser->error_size, format, args);
    va_end(args);
    return MUR_EXIT_USAGE;
}

int mur_parser_fail_problem(struct mur_parser *parser, const struct mur_problem *problem)
{
    return mur_parser_fail(parser, "%s: %s", parser->option, problem->text);
}

int mur_parser_read_number(struct mur_parser *parser, const char *value, const char *what, int low, int high,
                           int *number)
{
    if (mur_number_read(value, strlen(value), low, high, number))
        return 0;
    return mur_parser_fail(parser, "%s wants %s from %d to %d, not '%s'", parser->option, what, low, high, value);
}

void mur_assignments_add(struct mur_assignments *list, char *assignment)
{
    list->items = mur_alloc_again(list->items, (size_t)list->count + 1, sizeof *list->items);
    list->items[list->count++] = assignment;
}

void mur_parser_ignore(struct mur_parser *parser, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mur_assignments_add(&parser->job->ignored, mur_alloc_text("%s", text));
}

static const struct mur_option *find_option(const struct mur_option *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

/* In any table; as written, else with other capitals, which short names do not survive: -n and -N, -v and -V. */
const struct mur_option *mur_option_find(const char *name)
{
    const struct mur_option *found = NULL;

    for (const struct mur_topic *topic = mur_topics; topic->name && !found; topic++)
        if (topic->options)
            found = find_option(topic->options, name);
    for (const struct mur_topic *topic = mur_topics; topic->name && !found && strlen(name) > 2; topic++)
        for (const struct mur_option *option = topic->options; option && option->name && !found; option++)
            if (strcasecmp(option->name, name) == 0)
                found = option;
    return found;
}

int mur_parser_apply(struct mur_parser *parser, const struct mur_option *table, const char *name, const char *value)
{
    return find_option(table, name)->set(parser, value);
}

/* ---- finding the option ---- */

/* Levenshtein's distance, by the usual single row. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[32];
    size_t width = strlen(b);

    if (width >= 32)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t change = diagonal + (*a != b[j - 1]);
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[width];
}

static const char *nearest_option(const char *name)
{
    const char *best = NULL;
    size_t best_distance = strlen(name) / 2 + 1; /* farther ones would only confuse */

    for (const struct mur_topic *topic = mur_topics; topic->name; topic++)
        for (const struct mur_option *option = topic->options; option && option->name; option++) {
            size_t distance = edit_distance(name, option->name);

            if (distance < best_distance && strlen(option->name) > 1) {
                best = option->name;
                best_distance = distance;
            }
        }
    return best;
}

static int unknown_option(struct mur_parser *parser, const char *name)
{
    const char *near = nearest_option(name);

    if (near)
        return mur_parser_fail(parser, "unknown option %s; did you mean -%s? (mpiexec -help all lists all)",
                               parser->option, near);
    return mur_parser_fail(parser, "unknown option %s (mpiexec -help all lists all)", parser->option);
}

/* Reads the option `word`, whose value may be the next word. */
static int read_option(struct mur_parser *parser, char *word)
{
    size_t dashes = strspn(word, "-");
    char *name = word + dashes;
    char *equals = strchr(name, '=');
    char *value = NULL;
    const struct mur_option *option;

    parser->option = word;
    if (equals) { /* name and value apart: the user's own words stay as they were */
        parser->option = mur_alloc_text("%.*s", (int)(equals - word), word);
        name = mur_alloc_text("%.*s", (int)(equals - name), name);
        value = equals + 1;
    }
    if (dashes > 2)
        return unknown_option(parser, name);
    option = mur_option_find(name);
    if (!option)
        return unknown_option(parser, name);
    if (!option->value && value)
        return mur_parser_fail(parser, "%s takes no value, but '%s' is given", parser->option, value);
    if (option->value && !value) {
        if (!*parser->next)
            return mur_parser_fail(parser, "%s wants %s after it", parser->option, option->value);
        value = *parser->next++;
    }
    return option->set(parser, value);
}

/* ---- contexts ---- */

static void begin_context(struct mur_parser *parser)
{
    struct mur_jobspec *job = parser->job;

    job->contexts = mur_alloc_again(job->contexts, (size_t)job->context_count + 1, sizeof *job->contexts);
    parser->context = &job->contexts[job->context_count++];
    *parser->context = (struct mur_context){.ranks = 1};
}

/* Between programs; a spawned job has a word of its own for it, since ':' may be an argument of a program. */
static bool is_separator(const char *word)
{
    const char *own = getenv(MUR_ENV_SPAWN_SEPARATOR);

    return strcmp(word, own ? own : ":") == 0;
}

/* Takes the program and its arguments, up to ':' or the end. */
static void take_program(struct mur_parser *parser)
{
    size_t count = 0;

    while (parser->next[count] && !is_separator(parser->next[count]))
        count++;
    parser->context->argv = mur_alloc(count + 1, sizeof *parser->context->argv);
    memcpy(parser->context->argv, parser->next, count * sizeof *parser->next);
    parser->next += count;
}

/* Nothing after such an option is looked at. */
static bool ends_reading(const struct mur_jobspec *job)
{
    return job->command && job->command < MUR_COMMAND_VALIDATE;
}

/* Hydra's way to say it, and ours. */
static bool is_restart(const struct mur_jobspec *job)
{
    return job->checkpointing.is_restart || (job->checkpointing.is_on && job->checkpointing.prefix);
}

static int read_context(struct mur_parser *parser)
{
    struct mur_jobspec *job = parser->job;

    begin_context(parser);
    while (*parser->next && **parser->next == '-' && parser->next[0][1]) {
        char *word = *parser->next++;
        int rc;

        if (strcmp(word, "--") == 0)
            break;
        rc = read_option(parser, word);
        if (rc || ends_reading(job))
            return rc;
    }
    if (job->command && !*parser->next) { /* which needs no program */
        job->size += parser->context->ranks;
        return 0;
    }
    if (!*parser->next || !**parser->next || is_separator(*parser->next)) {
        if (job->context_count > 1 || *parser->next)
            return mur_parser_fail(parser, "no program in part %d of the ':'-separated command line",
                                   job->context_count);
        if (is_restart(job)) {
            job->checkpointing.is_restart = true;
            return 0;
        }
        return mur_parser_fail(parser, "no program to run; try: mpiexec -n 4 ./program (mpiexec -help tells more)");
    }
    take_program(parser);
    if (parser->context->ranks > MUR_RANKS_MAX - job->size)
        return mur_parser_fail(parser, "the parts ask for more than %d ranks together", MUR_RANKS_MAX);
    job->size += parser->context->ranks;
    return 0;
}

int mur_options_parse(char **argv, struct mur_jobspec *job, char *error, size_t error_size)
{
    struct mur_parser parser = {.job = job, .next = argv + 1, .error = error, .error_size = error_size};
    int rc;

    memset(job, 0, sizeof *job);
    job->launcher.key = mur_alloc(1, sizeof *job->launcher.key);
    rc = mur_defaults_apply(&parser);
    if (rc)
        return rc;
    for (;;) {
        rc = read_context(&parser);
        if (rc || ends_reading(job))
            return rc;
        if (!*parser.next)
            return mur_checkpoint_settle(&parser);
        parser.next++; /* the ':' */
    }
}
