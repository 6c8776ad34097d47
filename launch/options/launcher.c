/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about the command that starts agents on other hosts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/daemon/phrase.h"
#include "launch/options/parser.h"
#include "launch/say.h"

static int set_launcher(struct mur_parser *parser, const char *value)
{
    static const char *const names[] = {"fork", "ssh", "rsh", "smpd", "slurm", "lsf", "sge", "pbs"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(value, names[i]) == 0) {
            parser->job->launcher.name = names[i];
            return 0;
        }
    return mur_parser_fail(parser,
                           "%s wants fork, ssh, rsh, smpd, slurm, lsf, sge or pbs, not '%s'; another command can be "
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

static int set_phrase(struct mur_parser *parser, const char *value)
{
    parser->job->launcher.phrase = mur_phrase_take((char *)(uintptr_t)value);
    mur_say("%s: others on this host may have seen the phrase in the list of processes; ~/.smpd, -pwdfile FILE or "
            "MUR_PHRASE_FILE tell it to nobody else",
            parser->option);
    return 0;
}

static int set_phrase_file(struct mur_parser *parser, const char *value)
{
    parser->job->launcher.phrase_file = value;
    return 0;
}

static int set_smpdfile(struct mur_parser *parser, const char *value)
{
    parser->job->launcher.smpdfile = value;
    return 0;
}

static int set_no_prompt(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->launcher.asks_nobody = true;
    return 0;
}

static int set_prompt(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->launcher.asks_first = true;
    return 0;
}

/* As smpd's users keep several accounts: here several phrases, as phrase.1=... */
static int set_user(struct mur_parser *parser, const char *value)
{
    return mur_parser_read_number(parser, value, "the number of a phrase", 0, 1000000,
                                  &parser->job->launcher.phrase_number);
}

static int set_prefix(struct mur_parser *parser, const char *value)
{
    if (*value != '/')
        return mur_parser_fail(parser,
                               "%s wants the directory, from '/' on, where Murmur is installed on the hosts, not "
                               "'%s'",
                               parser->option, value);
    parser->job->launcher.prefix = value;
    return 0;
}

static int set_hybrid(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->launcher.is_hybrid = true;
    return 0;
}

static int set_wait(struct mur_parser *parser, const char *value)
{
    int seconds, rc = mur_parser_read_number(parser, value, "seconds", 0, 1000000, &seconds);

    if (rc == 0)
        parser->job->launcher.wait_ms = seconds * 1000;
    return rc;
}

const struct mur_option mur_launcher_options[] = {
    {"launcher", "NAME", set_launcher,
     "fork, ssh, rsh, smpd, slurm, lsf, sge or pbs (also HYDRA_LAUNCHER, HYDRA_BOOTSTRAP); smpd: by the daemons that "
     "stand there (smpd -help; also MPIEXEC_SMPD=1), without -launcher, too, if there is a phrase and a daemon answers "
     "on every host"},
    {"bootstrap", "NAME", set_launcher, NULL},
    {"launcher-exec", "COMMAND", set_command,
     "this command instead, called as COMMAND HOST WORDS (HYDRA_LAUNCHER_EXEC, OMPI_MCA_plm_rsh_agent, "
     "PRTE_MCA_plm_ssh_agent)"},
    {"bootstrap-exec", "COMMAND", set_command, NULL},
    {"launcher-args", "OPTIONS", set_arguments, "options for it"},
    {"bootstrap-exec-args", "OPTIONS", set_arguments, NULL},
    {"launcher-slurm-args", "OPTIONS", set_slurm_arguments, "options for srun"},
    {"launcher-port", "PORT", set_port, "the port of ssh or of the daemons"},
    {"port", "PORT", set_port, NULL},
    {"p", "PORT", set_port, NULL},
    {"phrase", "PHRASE", set_phrase, "the daemons' phrase, for all to see for a moment"},
    {"pwdfile", "FILE", set_phrase_file, "a file that holds the phrase alone (also MUR_PHRASE_FILE)"},
    {"smpdfile", "FILE", set_smpdfile, "where the daemons' phrase stands (default ~/.smpd)"},
    {"user", "N", set_user, "the line phrase.N=... of several in the file"},
    {"noprompt", NULL, set_no_prompt, "do not ask for the phrase at the terminal"},
    {"logon", NULL, set_prompt, "ask for the phrase first"},
    {"agent-width", "N", set_width, "how many agents each agent starts"},
    {"prefix", "DIR", set_prefix,
     "Murmur is installed in DIR on the other hosts, to which ranks' PATH and LD_LIBRARY_PATH lead, too"},
    {"hybrid-hosts", NULL, set_hybrid,
     "Murmur is where PATH finds it on the other hosts, and directories may differ there"},
    {"wait", "SECONDS", set_wait,
     "hosts that refuse, or whose names do not resolve yet, are tried again for so long (also HYDRA_PROXY_RETRY_COUNT, "
     "a second for each)"},
    {NULL, NULL, NULL, NULL},
};
