/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -help: an overview, and what the tables of options and a few texts say by topic. Each topic fits on a screen
 * of 40 lines. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"
#include "launch/options/options.h"
#include "launch/options/parser.h"
#include "launch/say.h"
#include "launch/wrap.h"

#define WIDTH  100
#define INDENT 25 /* of what options mean */

static const char usage[] =
    "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n"
    "Starts the ranks of an MPI job, or of any programs, and tends them until all have ended.\n";

static const char common[] = "  mpiexec -n 4 ./program                  4 ranks on this machine\n"
                             "  mpiexec -host node1:8,node2:8 ./program on two machines, 16 ranks\n"
                             "  mpiexec -hostfile FILE -ppn 2 ./program 2 ranks on each of the hosts in a file\n"
                             "  mpiexec -n 1 ./server : -n 7 ./client   two programs in one job\n"
                             "  mpiexec -n 4 -bind-to core -l ./program bound to cores; lines begin with [rank]\n"
                             "  mpiexec -man MPI_Send                   a page of the manual\n";

static const char form[] = "An option may have one or two dashes, capitals where its name is longer than two letters, "
                           "and '=' before its value.";

static const char host_text[] =
    "Hosts are those of the command line; else of MUR_HOSTFILE, HYDRA_HOST_FILE, I_MPI_HYDRA_HOST_FILE, "
    "PRTE_MCA_prte_default_hostfile, OMPI_MCA_orte_default_hostfile or I_MPI_HYDRA_HOSTS_GROUP; else of the resource "
    "manager (Slurm, LoadLeveler, LSF, Grid Engine, PBS, Cobalt, Volcano); else this machine, for any number of ranks.";

static const char input_text[] =
    "Standard input goes to rank 0 unless -stdin says otherwise; the others read nothing. Lines of ranks never mix; a "
    "line that stays unfinished for 50 ms is shown as far as it is, and other ranks wait up to 200 ms for its end.";

static const char signal_text[] =
    "SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed to the ranks, which then have 2 s to end (more while they wait for "
    "a core); a second one kills them. Before SIGQUIT is passed, what -status would tell is printed. SIGUSR1, SIGUSR2, "
    "SIGTSTP and SIGCONT are passed on. Signals go to each rank's "
    "process group.";

static const char exit_text[] =
    "Exit code: 0 when all ranks exit with 0, else that of the rank that failed first: its own code, or 128 + the "
    "signal "
    "that killed it (1 where it failed with code 0); after MPI_Abort(comm, code): the low 8 bits of code, 1 when those "
    "are 0 but code is not.\n"
    "A rank fails when it exits with another code than 0, dies by a signal, exits between MPI_Init and MPI_Finalize, "
    "or "
    "exits before an MPI_Init for which other ranks wait. Then the other ranks are ended. If a rank is a script, the "
    "same holds for the MPI programs that it runs, one after the other; -continue-on-failure changes it.\n"
    "Other codes of mpiexec: 85 the job was saved and ended (-ckpoint-on-term), 124 time limit, 126 program cannot be "
    "executed, 127 program or directory not found, 2 "
    "wrong usage, 1 other trouble of mpiexec, 128 + signal when a signal to mpiexec ended the job, 141 output pipe "
    "closed, 200 a host or the agent on it is lost.";

const struct mur_topic mur_topics[] = {
    {"program", "For each program: before it, and again behind each ':'", mur_program_options, NULL},
    {"environment", "Environment variables of the ranks", mur_environment_options, NULL},
    {"hosts", "Hosts that ranks may run on", mur_host_options, host_text},
    {"mapping", "Which rank runs on which host", mur_mapping_options, NULL},
    {"binding", "CPUs of ranks", mur_binding_options, NULL},
    {"agents", "How agents are started on other hosts", mur_launcher_options, NULL},
    {"output", "What ranks write", mur_output_options, NULL},
    {"starting", "How ranks are started", mur_starting_options, NULL},
    {"job", "For the whole job", mur_job_options, NULL},
    {"snapshots", "Snapshots of the job, and its restart", mur_checkpoint_options, NULL},
    {"input", "What ranks read", NULL, input_text},
    {"signals", "Signals to mpiexec", NULL, signal_text},
    {"exit", "Exit codes", NULL, exit_text},
    {"commands", "What else mpiexec does than to run a job", mur_command_options, NULL},
    {"habits", "Options of other launchers", mur_habit_options, NULL},
    {NULL, NULL, NULL, NULL},
};

/* Prints an option with its other names, which are the rows behind it. Returns the next option. */
static const struct mur_option *print_option(const struct mur_option *option)
{
    char *names = mur_alloc_text("-%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    const char *help = option->help;

    while ((++option)->name && !option->help)
        names = mur_alloc_text("%s, -%s", names, option->name);
    if ((int)strlen(names) > INDENT - 4) {
        printf("  ");
        mur_wrap_print(names, 2, 6, WIDTH);
        printf("%*s", INDENT, "");
    } else {
        printf("  %-*s", INDENT - 2, names);
    }
    mur_wrap_print(help, INDENT, INDENT, WIDTH);
    return option;
}

static void print_topic(const struct mur_topic *topic)
{
    printf("%s\n", topic->title);
    for (const struct mur_option *option = topic->options; option && option->name;)
        option = print_option(option);
    if (topic->text)
        mur_wrap_print(topic->text, 0, 0, WIDTH);
}

static void print_overview(void)
{
    printf("%s\n%s\nmpiexec -help TOPIC, -help OPTION or -help all tells more. Topics:\n", usage, common);
    for (const struct mur_topic *topic = mur_topics; topic->name; topic++)
        printf("  %-12s %s\n", topic->name, topic->title);
    putchar('\n');
    mur_wrap_print(form, 0, 0, WIDTH);
}

static void print_all(void)
{
    printf("%s", usage);
    mur_wrap_print(form, 0, 0, WIDTH);
    for (const struct mur_topic *topic = mur_topics; topic->name; topic++) {
        putchar('\n');
        print_topic(topic);
    }
}

int mur_options_print_help(const char *word, char *error, size_t error_size)
{
    const char *name = word ? word + strspn(word, "-") : NULL;
    const struct mur_option *option;

    if (!name) {
        print_overview();
        return 0;
    }
    if (strcasecmp(name, "all") == 0) {
        print_all();
        return 0;
    }
    for (const struct mur_topic *topic = mur_topics; topic->name; topic++)
        if (strcasecmp(topic->name, name) == 0) {
            print_topic(topic);
            return 0;
        }
    option = mur_option_find(name);
    if (!option) {
        snprintf(error, error_size, "-help %s: there is no such topic or option; mpiexec -help lists the topics", word);
        return MUR_EXIT_USAGE;
    }
    while (!option->help)
        option--; /* it is another name of the one above */
    print_option(option);
    return 0;
}
