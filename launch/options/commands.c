/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that ask for something else than a job, and those about mpiexec itself. */
#include "launch/options/parser.h"

#define COMMAND(function, kind)                                                                                        \
    static int function(struct mur_parser *parser, const char *value)                                                  \
    {                                                                                                                  \
        (void)value;                                                                                                   \
        parser->job->command = kind;                                                                                   \
        return 0;                                                                                                      \
    }

COMMAND(set_version, MUR_COMMAND_VERSION)
COMMAND(set_who, MUR_COMMAND_WHO)
COMMAND(set_info, MUR_COMMAND_INFO)
COMMAND(set_account, MUR_COMMAND_ACCOUNT)
COMMAND(set_validate, MUR_COMMAND_VALIDATE)
COMMAND(set_check_ssh, MUR_COMMAND_CHECK_SSH)
COMMAND(set_setup_ssh, MUR_COMMAND_SETUP_SSH)

/* A word that is no option may follow: what the help is about. */
static int set_help(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->command = MUR_COMMAND_HELP;
    if (*parser->next && **parser->next != '-')
        parser->job->command_word = *parser->next;
    return 0;
}

/* A job may follow; without one it is all. */
static int set_status(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->command = MUR_COMMAND_STATUS;
    if (*parser->next && **parser->next != '-')
        parser->job->command_word = *parser->next++;
    return 0;
}

static int set_json(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->is_json = true;
    return 0;
}

static int set_all_options(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->command = MUR_COMMAND_HELP;
    parser->job->command_word = "all";
    return 0;
}

static int set_manual(struct mur_parser *parser, const char *value)
{
    parser->job->command = MUR_COMMAND_MANUAL;
    parser->job->command_word = value;
    return 0;
}

static int set_trial(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->is_trial = true;
    return 0;
}

static int set_pid_place(struct mur_parser *parser, const char *value)
{
    if (!*value)
        return mur_parser_fail(parser, "%s wants '-' (stdout), '+' (stderr) or a file, not an empty name",
                               parser->option);
    parser->job->pid_place = value;
    return 0;
}

const struct mur_option mur_command_options[] = {
    {"help", NULL, set_help, "how to use mpiexec; the name of a topic or of an option may follow, or all"},
    {"h", NULL, set_help, NULL},
    {"?", NULL, set_help, NULL},
    {"man", "NAME", set_manual, "show a page of the manual: mpiexec, murmur, MPI_Send and so on"},
    {"version", NULL, set_version, "print the version"},
    {"V", NULL, set_version, NULL},
    {"help2", NULL, set_all_options, "all topics, as -help all"},
    {"whoami", NULL, set_who, "print the name of the user"},
    {"whomai", NULL, set_who, NULL},
    {"info", NULL, set_info, "print the version and what mpiexec knows of"},
    {"register", NULL, set_account, "print a note that no account need be registered or removed"},
    {"remove", NULL, set_account, NULL},
    {"validate", NULL, set_validate, "start no job, but say for each host whether one can be started there"},
    {"setup-ssh", NULL, set_check_ssh,
     "start no job, but say for each host what is missing for jobs by ssh: a key, the host's own, its port, Murmur at "
     "its place, its version"},
    {"setup-ssh-do", NULL, set_setup_ssh, "the same, and do what can be done"},
    {"status", NULL, set_status,
     "start no job, but print what running ones are doing: who waits on whom, in which call, for how long, and who "
     "holds "
     "all others up; a job's id, or the process number of its mpiexec, may follow"},
    {"json", NULL, set_json, "with -status: print it as JSON, with the ranks' counters"},
    {"do-not-launch", NULL, set_trial, "find hosts, CPUs and programs, but start nothing"},
    {"report-pid", "FILE", set_pid_place, "write mpiexec's process number to a file, '-' (stdout) or '+' (stderr)"},
    {NULL, NULL, NULL, NULL},
};
