/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that ask for something else than a job, and those about mpiexec itself. */
#include "launch/options/parser.h"

#define ERRAND(function, kind)                                                                                         \
    static int function(struct mur_parser *parser, const char *value)                                                  \
    {                                                                                                                  \
        (void)value;                                                                                                   \
        parser->job->errand = kind;                                                                                    \
        return 0;                                                                                                      \
    }

ERRAND(set_help, MUR_ERRAND_HELP)
ERRAND(set_all_options, MUR_ERRAND_ALL_OPTIONS)
ERRAND(set_version, MUR_ERRAND_VERSION)
ERRAND(set_who, MUR_ERRAND_WHO)
ERRAND(set_info, MUR_ERRAND_INFO)
ERRAND(set_account, MUR_ERRAND_ACCOUNT)
ERRAND(set_validate, MUR_ERRAND_VALIDATE)
ERRAND(set_check_ssh, MUR_ERRAND_CHECK_SSH)
ERRAND(set_setup_ssh, MUR_ERRAND_SETUP_SSH)

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

const struct mur_option mur_errand_options[] = {
    {"h", NULL, set_help},
    {"help", NULL, set_help},
    {"?", NULL, set_help},
    {"help2", NULL, set_all_options},
    {"V", NULL, set_version},
    {"version", NULL, set_version},
    {"whoami", NULL, set_who},
    {"whomai", NULL, set_who}, /* as smpd's manual has it */
    {"info", NULL, set_info},
    {"register", NULL, set_account},
    {"remove", NULL, set_account},
    {"validate", NULL, set_validate},
    {"setup-ssh", NULL, set_check_ssh},
    {"setup-ssh-do", NULL, set_setup_ssh},
    {"do-not-launch", NULL, set_trial},
    {"report-pid", "FILE, - or +", set_pid_place},
    {NULL, NULL, NULL},
};
