/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the command line by one table of options.
 *
 * An option has one or two dashes and takes its value as `-opt value` or `-opt=value`; the first word that is no option
 * is the program, and everything up to a lone ':' or the end is its arguments. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "say.h"

#define RANKS_MAX (1 << 24) /* far above what a machine holds; keeps later sums in range */

struct parser {
    struct mur_jobspec *job;
    struct mur_context *context; /* the one being read */
    char **next;                 /* the words not yet read */
    const char *option;          /* as the user wrote it, for messages */
    char *error;
    size_t error_size;
    bool has_count; /* of the context being read */
};

struct option {
    const char *name;
    const char *value; /* what it takes, for messages; NULL: nothing */
    int (*set)(struct parser *parser, const char *value);
};

static int fail(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct parser *parser, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(parser->error, parser->error_size, format, args);
    va_end(args);
    return MUR_EXIT_USAGE;
}

/* ---- what each option does ---- */

static int set_ranks(struct parser *parser, const char *value)
{
    char *end;
    long ranks;

    errno = 0;
    ranks = strtol(value, &end, 10);
    if (errno || end == value || *end || ranks < 1 || ranks > RANKS_MAX)
        return fail(parser, "%s wants a number of ranks from 1 to %d, not '%s'", parser->option, RANKS_MAX, value);
    if (parser->has_count)
        return fail(parser, "%s %s: the number of ranks is given twice; ':' separates programs", parser->option, value);
    parser->has_count = true;
    parser->context->ranks = (int)ranks;
    return 0;
}

static void assign(struct mur_assignments *list, char *assignment)
{
    list->items = mur_alloc_again(list->items, (size_t)list->count + 1, sizeof *list->items);
    list->items[list->count++] = assignment;
}

/* `-env NAME value`, or `-env NAME=value` in one word. */
static int set_variable(struct parser *parser, struct mur_assignments *list, const char *name)
{
    const char *equals = strchr(name, '=');

    if (!*name || equals == name)
        return fail(parser, "%s wants the name of a variable, not '%s'", parser->option, name);
    if (equals) {
        assign(list, mur_alloc_text("%s", name));
        return 0;
    }
    if (!*parser->next)
        return fail(parser, "%s %s wants a value: %s %s VALUE", parser->option, name, parser->option, name);
    assign(list, mur_alloc_text("%s=%s", name, *parser->next++));
    return 0;
}

static int set_env(struct parser *parser, const char *value)
{
    return set_variable(parser, &parser->context->environment, value);
}

static int set_genv(struct parser *parser, const char *value)
{
    return set_variable(parser, &parser->job->environment, value);
}

/* `-x NAME=value`, where the value is all that follows, commas too; or `-x NAME,NAME`: our own environment is passed on
 * whole anyway, so names alone need nothing but a check. */
static int set_export(struct parser *parser, const char *value)
{
    if (!*value || *value == '=' || *value == ',')
        return fail(parser, "%s wants NAME, NAME=value or NAME,NAME,..., not '%s'", parser->option, value);
    if (strchr(value, '=')) {
        if (strcspn(value, ",") < strcspn(value, "="))
            return fail(parser, "%s '%s' mixes names and values; use one %s for each variable with a value",
                        parser->option, value, parser->option);
        assign(&parser->context->environment, mur_alloc_text("%s", value));
    }
    return 0;
}

static int set_wdir(struct parser *parser, const char *value)
{
    if (!*value)
        return fail(parser, "%s wants a directory, not an empty name", parser->option);
    parser->context->wdir = value;
    return 0;
}

/* What errors do before the program says so itself (MPI-5.0 §11.5). */
static int set_initial_errhandler(struct parser *parser, const char *value)
{
    static const char *const names[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(value, names[i]) == 0) {
            parser->context->initial_errhandler = value;
            return 0;
        }
    return fail(parser, "%s wants mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, not '%s'",
                parser->option, value);
}

static int set_timeout(struct parser *parser, const char *value)
{
    char *end;
    double seconds;

    errno = 0;
    seconds = strtod(value, &end);
    if (errno || end == value || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return fail(parser, "%s wants seconds, 0 for no limit, not '%s'", parser->option, value);
    parser->job->timeout_ms = (int64_t)(seconds * 1000 + 0.999);
    return 0;
}

static int set_label(struct parser *parser, const char *value)
{
    (void)value;
    parser->job->is_labelled = true;
    return 0;
}

static int set_verbose(struct parser *parser, const char *value)
{
    (void)value;
    parser->job->is_verbose = true;
    return 0;
}

static int set_help(struct parser *parser, const char *value)
{
    (void)value;
    parser->job->wants_help = true;
    return 0;
}

static int set_version(struct parser *parser, const char *value)
{
    (void)value;
    parser->job->wants_version = true;
    return 0;
}

/* Root and more ranks than cores need no permission here; the habit of giving it is no error. */
static int set_nothing(struct parser *parser, const char *value)
{
    (void)parser;
    (void)value;
    return 0;
}

static const struct option options[] = {
    {"n", "N", set_ranks},
    {"np", "N", set_ranks},
    {"c", "N", set_ranks},
    {"env", "NAME VALUE", set_env},
    {"genv", "NAME VALUE", set_genv},
    {"x", "NAME[=VALUE]", set_export},
    {"wdir", "DIR", set_wdir},
    {"wd", "DIR", set_wdir},
    {"initial-errhandler", "HANDLER", set_initial_errhandler},
    {"l", NULL, set_label},
    {"prepend-rank", NULL, set_label},
    {"timeout", "SECONDS", set_timeout},
    {"v", NULL, set_verbose},
    {"verbose", NULL, set_verbose},
    {"h", NULL, set_help},
    {"help", NULL, set_help},
    {"?", NULL, set_help},
    {"V", NULL, set_version},
    {"version", NULL, set_version},
    {"allow-run-as-root", NULL, set_nothing},
    {"oversubscribe", NULL, set_nothing},
};

#define OPTION_COUNT (sizeof options / sizeof options[0])

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

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        size_t distance = edit_distance(name, options[i].name);

        if (distance < best_distance && strlen(options[i].name) > 1) {
            best = options[i].name;
            best_distance = distance;
        }
    }
    return best;
}

static int unknown_option(struct parser *parser, const char *name)
{
    const char *near = nearest_option(name);

    if (near)
        return fail(parser, "unknown option %s; did you mean -%s? (mpiexec -help lists all)", parser->option, near);
    return fail(parser, "unknown option %s (mpiexec -help lists all)", parser->option);
}

/* Reads the option `word`, whose value may be the next word. */
static int read_option(struct parser *parser, char *word)
{
    size_t dashes = strspn(word, "-");
    char *name = word + dashes;
    char *equals = strchr(name, '=');
    char *value = NULL;

    parser->option = word;
    if (equals) { /* name and value apart: the user's own words stay as they were */
        parser->option = mur_alloc_text("%.*s", (int)(equals - word), word);
        name = mur_alloc_text("%.*s", (int)(equals - name), name);
        value = equals + 1;
    }
    if (dashes > 2)
        return unknown_option(parser, name);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(options[i].name, name) != 0)
            continue;
        if (!options[i].value && value)
            return fail(parser, "%s takes no value, but '%s' is given", parser->option, value);
        if (options[i].value && !value) {
            if (!*parser->next)
                return fail(parser, "%s wants %s after it", parser->option, options[i].value);
            value = *parser->next++;
        }
        return options[i].set(parser, value);
    }
    return unknown_option(parser, name);
}

/* ---- contexts ---- */

static void begin_context(struct parser *parser)
{
    struct mur_jobspec *job = parser->job;

    job->contexts = mur_alloc_again(job->contexts, (size_t)job->context_count + 1, sizeof *job->contexts);
    parser->context = &job->contexts[job->context_count++];
    *parser->context = (struct mur_context){.ranks = 1};
    parser->has_count = false;
}

/* Takes the program and its arguments, up to ':' or the end. */
static void take_program(struct parser *parser)
{
    size_t count = 0;

    while (parser->next[count] && strcmp(parser->next[count], ":") != 0)
        count++;
    parser->context->argv = mur_alloc(count + 1, sizeof *parser->context->argv);
    memcpy(parser->context->argv, parser->next, count * sizeof *parser->next);
    parser->next += count;
}

static int read_context(struct parser *parser)
{
    struct mur_jobspec *job = parser->job;

    begin_context(parser);
    while (*parser->next && **parser->next == '-' && parser->next[0][1]) {
        char *word = *parser->next++;
        int rc;

        if (strcmp(word, "--") == 0)
            break;
        rc = read_option(parser, word);
        if (rc || job->wants_help || job->wants_version)
            return rc;
    }
    if (!*parser->next || !**parser->next || strcmp(*parser->next, ":") == 0) {
        if (job->context_count > 1 || *parser->next)
            return fail(parser, "no program in part %d of the ':'-separated command line", job->context_count);
        return fail(parser, "no program to run; try: mpiexec -n 4 ./program (mpiexec -help lists the options)");
    }
    take_program(parser);
    if (parser->context->ranks > RANKS_MAX - job->size)
        return fail(parser, "the parts ask for more than %d ranks together", RANKS_MAX);
    job->size += parser->context->ranks;
    return 0;
}

int mur_options_parse(char **argv, struct mur_jobspec *job, char *error, size_t error_size)
{
    struct parser parser = {.job = job, .next = argv + 1, .error = error, .error_size = error_size};
    const char *timeout = getenv("MPIEXEC_TIMEOUT");
    int rc;

    memset(job, 0, sizeof *job);
    if (timeout && *timeout) {
        parser.option = "MPIEXEC_TIMEOUT";
        rc = set_timeout(&parser, timeout);
        if (rc)
            return rc;
    }
    for (;;) {
        rc = read_context(&parser);
        if (rc || job->wants_help || job->wants_version || !*parser.next)
            return rc;
        parser.next++; /* the ':' */
    }
}

void mur_options_print_help(void)
{
    fputs(
        "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n"
        "Starts the ranks of an MPI job on this machine and tends them until all have ended.\n"
        "An option may have one or two dashes, and its value may follow '='.\n"
        "\n"
        "For each part between ':'\n"
        "  -n N, -np N, -c N      number of ranks (default 1)\n"
        "  -env NAME VALUE        set an environment variable; the rest of the environment is passed on\n"
        "  -x NAME=VALUE          the same; -x NAME,NAME is accepted and needs nothing done\n"
        "  -wdir DIR, -wd DIR     start the ranks in DIR; a relative program is looked for from there\n"
        "  -initial-errhandler H  mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return\n"
        "For the job\n"
        "  -genv NAME VALUE       set an environment variable for all parts\n"
        "  -l, -prepend-rank      start each line of output with \"[rank] \"\n"
        "  -timeout SECONDS       end the job after this time (also MPIEXEC_TIMEOUT; 0: no limit)\n"
        "  -v, -verbose           say on stderr what is started where\n"
        "  -h, -help, -?          this text\n"
        "  -V, -version           the version\n"
        "  -oversubscribe, -allow-run-as-root are accepted: both are allowed anyway\n"
        "\n"
        "Standard input goes to rank 0; the others read nothing. Lines of ranks never mix; a line that stays\n"
        "unfinished for 50 ms is shown as far as it is, and other ranks wait up to 200 ms for its end.\n"
        "SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed to the ranks, which then have 2 s to end; a second one\n"
        "kills them. SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on. Signals go to each rank's process group.\n"
        "\n"
        "Exit code: 0 when all ranks exit with 0, else that of the rank that failed first:\n"
        "  its own code, or 128 + the signal that killed it; other ranks go on after a plain exit with a code,\n"
        "  and are ended when one dies by a signal or exits between MPI_Init and MPI_Finalize (with 0: code 1);\n"
        "  after MPI_Abort(comm, code): the low 8 bits of code, 1 when those are 0 but code is not.\n"
        "  124 time limit, 126 program cannot be executed, 127 program or directory not found, 2 wrong usage,\n"
        "  1 other trouble of mpiexec, 128 + signal when a signal to mpiexec ended the job, 141 output pipe closed.\n",
        stdout);
}
