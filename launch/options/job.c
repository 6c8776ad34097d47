/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about the program, the number of its ranks, and the job as a whole. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boot/job.h"
#include "launch/alloc.h"
#include "launch/options/parser.h"

int mur_parser_set_ranks(struct mur_parser *parser, const char *value)
{
    int ranks;
    int rc = mur_parser_read_number(parser, value, "a number of ranks", 1, MUR_RANKS_MAX, &ranks);

    if (rc)
        return rc;
    if (parser->context->has_ranks)
        return mur_parser_fail(parser, "%s %s: the number of ranks is given twice; ':' separates programs",
                               parser->option, value);
    parser->context->has_ranks = true;
    parser->context->ranks = ranks;
    return 0;
}

static int set_wdir(struct mur_parser *parser, const char *value)
{
    if (!*value)
        return mur_parser_fail(parser, "%s wants a directory, not an empty name", parser->option);
    parser->context->wdir = value;
    return 0;
}

static int set_search(struct mur_parser *parser, const char *value)
{
    char *directories;

    if (!*value)
        return mur_parser_fail(parser, "%s wants directories between ':', not an empty name", parser->option);
    directories = mur_alloc_text("%s", value);
    for (char *at = directories; (at = strchr(at, ';'));) /* as on Windows */
        *at = ':';
    parser->context->search = directories;
    return 0;
}

/* What errors do before the program says so itself (MPI-5.0 §11.5). */
static int set_initial_errhandler(struct mur_parser *parser, const char *value)
{
    static const char *const names[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(value, names[i]) == 0) {
            parser->context->initial_errhandler = value;
            return 0;
        }
    return mur_parser_fail(parser, "%s wants mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, not '%s'",
                           parser->option, value);
}

/* A name for the part's ranks, which sessions find them by (MPI-5.0 §11.3.2). The ranks are told of it in a list with
 * blanks, which a URI cannot have. */
static int set_process_set(struct mur_parser *parser, const char *value)
{
    const struct mur_assignments *sets = &parser->context->sets;

    if (!*value)
        return mur_parser_fail(parser, "%s wants the name of a process set, not an empty one", parser->option);
    if (strncasecmp(value, "mpi://", 6) == 0)
        return mur_parser_fail(parser, "%s %s: names that begin with mpi:// are the standard's own", parser->option,
                               value);
    if (strlen(value) >= MUR_PSET_NAME_MAX)
        return mur_parser_fail(parser, "%s wants a name of less than %d characters, not %zu", parser->option,
                               MUR_PSET_NAME_MAX, strlen(value));
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 127)
            return mur_parser_fail(parser, "%s wants a name without blanks and control characters, not '%s'",
                                   parser->option, value);
    for (int i = 0; i < sets->count; i++)
        if (strcmp(sets->items[i], value) == 0)
            return mur_parser_fail(parser, "%s %s is given twice; ':' separates programs", parser->option, value);
    mur_assignments_add(&parser->context->sets, mur_alloc_text("%s", value));
    return 0;
}

/* Jobs that this one spawns are started with the same. */
static int set_abi(struct mur_parser *parser, const char *value)
{
    static const char *const words[] = {[MUR_ABI_UNSET] = "auto",
                                        [MUR_ABI_NATIVE] = "native",
                                        [MUR_ABI_MPICH] = "mpich",
                                        [MUR_ABI_OPENMPI] = "openmpi"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(value, words[i]) == 0) {
            parser->job->abi = (int)i;
            setenv("MUR_ABI", words[i], 1);
            return 0;
        }
    return mur_parser_fail(parser, "%s wants auto, native, mpich or openmpi, not '%s'", parser->option, value);
}

/* Ranks pass it on to jobs that they spawn. */
static int set_plaintext(struct mur_parser *parser, const char *value)
{
    (void)value;
    mur_assignments_add(&parser->job->environment, mur_alloc_text("MUR_TCP_SEAL=none"));
    return 0;
}

static int set_configfile(struct mur_parser *parser, const char *value)
{
    return mur_configfile_read(parser, value);
}

static int set_timeout(struct mur_parser *parser, const char *value)
{
    char *end;
    double seconds;

    errno = 0;
    seconds = strtod(value, &end);
    if (errno || end == value || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return mur_parser_fail(parser, "%s wants seconds, 0 for no limit, not '%s'", parser->option, value);
    parser->job->timeout_ms = (int64_t)(seconds * 1000 + 0.999);
    return 0;
}

/* MPI_UNIVERSE_SIZE: "infinite" and "system" leave it at the slots of the hosts, which is all that can be promised. */
static int set_universe(struct mur_parser *parser, const char *value)
{
    parser->job->universe = 0;
    if (strcmp(value, "infinite") == 0 || strcmp(value, "INFINITE") == 0 || strcmp(value, "system") == 0 ||
        strcmp(value, "SYSTEM") == 0)
        return 0;
    return mur_parser_read_number(parser, value, "a number of ranks", 1, MUR_RANKS_MAX, &parser->job->universe);
}

static int set_stdin(struct mur_parser *parser, const char *value)
{
    if (strcmp(value, "all") == 0)
        parser->job->stdin_rank = MUR_STDIN_ALL;
    else if (strcmp(value, "none") == 0)
        parser->job->stdin_rank = MUR_STDIN_NONE;
    else if (!mur_number_read(value, strlen(value), 0, MUR_RANKS_MAX, &parser->job->stdin_rank))
        return mur_parser_fail(parser, "%s wants a rank, all or none, not '%s'", parser->option, value);
    return 0;
}

static int set_exits(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->shows_exits = true;
    return 0;
}

static int set_keeps_going(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->keeps_going = true;
    return 0;
}

/* Open MPI's parameter: whether a rank's exit code other than 0 ends the job. */
static int set_abort_on_exit(struct mur_parser *parser, const char *value)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(value, words[i]) == 0) {
            parser->job->keeps_going = i % 2 == 0;
            return 0;
        }
    return mur_parser_fail(parser, "%s wants 0 or 1, not '%s'", parser->option, value);
}

static int set_torch(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->is_torch = true;
    return 0;
}

static int set_verbose(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->is_verbose = true;
    return 0;
}

/* The options of each program. */
const struct mur_option mur_program_options[] = {
    {"n", "N", mur_parser_set_ranks, "number of ranks (default: the slots of the hosts that were listed; else 1)"},
    {"np", "N", mur_parser_set_ranks, NULL},
    {"c", "N", mur_parser_set_ranks, NULL},
    {"wdir", "DIR", set_wdir, "start the ranks in DIR; a relative program is looked for from there"},
    {"wd", "DIR", set_wdir, NULL},
    {"dir", "DIR", set_wdir, NULL},
    {"path", "DIR[:DIR...]", set_search, "look for the program there before PATH; ';' may stand for ':'"},
    {"initial-errhandler", "HANDLER", set_initial_errhandler,
     "mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return"},
    {"pset", "NAME", set_process_set,
     "a process set of these ranks, for sessions; parts may share one, and be in several"},
    {"abi", "FAMILY", set_abi,
     "mpich or openmpi: the ranks' MPI is Murmur's library with the binary interface of that MPI, whatever the "
     "program's own paths say; native: what the program finds by itself; auto (default): Murmur's for any, found by "
     "LD_LIBRARY_PATH (also MUR_ABI)"},
    {"configfile", "FILE", set_configfile, "read what follows from a file, the parts in lines instead of between ':'"},
    {"app", "FILE", set_configfile, NULL},
    {NULL, NULL, NULL, NULL},
};

/* The options of the whole job. */
const struct mur_option mur_job_options[] = {
    {"timeout", "SECONDS", set_timeout,
     "end the job after this time, and print what -status would (also MPIEXEC_TIMEOUT; 0: "
     "no limit)"},
    {"usize", "N", set_universe, "MPI_UNIVERSE_SIZE (default: the slots of all hosts, or of this machine's CPUs)"},
    {"stdin", "RANK", set_stdin, "the rank that reads standard input (default 0); none; all: each reads all of it"},
    {"exitcodes", NULL, set_exits, "say at the end how each rank ended; with -l, as each ends"},
    {"print-all-exitcodes", NULL, set_exits, NULL},
    {"torch", NULL, set_torch,
     "set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT for PyTorch"},
    {"continue-on-failure", NULL, set_keeps_going,
     "a rank that is not in MPI may fail without ending the others; the exit code still shows it"},
    {"disable-auto-cleanup", NULL, set_keeps_going, NULL},
    {"enable-recovery", NULL, set_keeps_going, NULL},
    {"abort-on-nonzero-exit", "0|1", set_abort_on_exit,
     "whether a rank's exit code other than 0 ends the job (default 1); -mca orte_abort_on_non_zero_status is the "
     "same"},
    {"plaintext", NULL, set_plaintext,
     "what ranks say to each other is neither encrypted nor authenticated (MUR_TCP_SEAL=none): for networks that only "
     "trusted people reach"},
    {"v", NULL, set_verbose,
     "say on stderr what is started where; and rank 0, which algorithm performs each kind of collective and why "
     "(unless MUR_COLL_VERBOSE=0)"},
    {"verbose", NULL, set_verbose, NULL},
    {NULL, NULL, NULL, NULL},
};
