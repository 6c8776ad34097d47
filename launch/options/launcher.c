/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about the command that starts agents on other hosts. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/options/parser.h"

static int set_launcher(struct mur_parser *parser, const char *value)
{
    static const char *const names[] = {"fork", "ssh", "rsh", "slurm", "lsf", "sge", "pbs"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(value, names[i]) == 0) {
            parser->job->launcher.name = names[i];
            return 0;
        }
    return mur_parser_fail(parser,
                           "%s wants fork, ssh, rsh, slurm, lsf, sge or pbs, not '%s'; another command can be "
                           "given by -launcher-exec",
                           parser->option, value);
}

static int set_words(struct mur_parser *parser, const char *value, char ***words)
{
    *words = mur_words_split(value, strlen(value));
    if (!*words)
        return mur_parser_fail(parser, "%s '%s' has a quote that is not closed", parser->option, value);
    return 0;
}

static int set_command(struct mur_parser *parser, const char *value)
{
    int rc = set_words(parser, value, &parser->job->launcher.command);

    if (rc == 0 && !parser->job->launcher.command[0])
        return mur_parser_fail(parser, "%s wants a command, not an empty one", parser->option);
    return rc;
}

static int set_arguments(struct mur_parser *parser, const char *value)
{
    return set_words(parser, value, &parser->job->launcher.options);
}

static int set_slurm_arguments(struct mur_parser *parser, const char *value)
{
    return set_words(parser, value, &parser->job->launcher.slurm_options);
}

static int set_port(struct mur_parser *parser, const char *value)
{
    return mur_parser_read_number(parser, value, "a port", 1, 65535, &parser->job->launcher.port);
}

static int set_width(struct mur_parser *parser, const char *value)
{
    return mur_parser_read_number(parser, value, "a number of agents", 1, MUR_HOSTS_MAX, &parser->job->launcher.width);
}

const struct mur_option mur_launcher_options[] = {
    {"launcher", "NAME", set_launcher},
    {"bootstrap", "NAME", set_launcher},
    {"launcher-exec", "COMMAND", set_command},
    {"bootstrap-exec", "COMMAND", set_command},
    {"launcher-args", "OPTIONS", set_arguments},
    {"bootstrap-exec-args", "OPTIONS", set_arguments},
    {"launcher-slurm-args", "OPTIONS", set_slurm_arguments},
    {"launcher-port", "PORT", set_port},
    {"agent-width", "N", set_width},
    {NULL, NULL, NULL},
};
