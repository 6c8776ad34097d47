/* SPDX-License-Identifier: BSD-3-Clause */
/* Errands: one function each. */
#include "launch/commands/commands.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/daemon/phrase.h"
#include "launch/hosts/placement.h"
#include "launch/manual.h"
#include "launch/options/options.h"
#include "launch/say.h"
#include "launch/status/desk.h"
#include "launch/commands/setup_ssh.h"
#include "launch/tree/tree.h"

static int tell_help(const char *topic)
{
    char error[256];
    int code = mur_options_print_help(topic, error, sizeof error);

    if (code)
        mur_say("%s", error);
    return code;
}

static int tell_who(void)
{
    const struct passwd *own = getpwuid(geteuid());

    if (own)
        puts(own->pw_name);
    else
        printf("%u\n", (unsigned)geteuid());
    return 0;
}

/* Tools look for a name that they know, to choose the options that they pass. */
static void tell_version(void)
{
    printf("mpiexec (Murmur) %s\nOptions: those of MPICH's mpiexec (Hydra), and more\n", MUR_VERSION);
}

static void tell_info(void)
{
    tell_version();
    puts("Launchers:          fork ssh rsh smpd slurm lsf sge pbs, or any command (-launcher-exec)\n"
         "Resource managers:  slurm ll lsf sge pbs cobalt volcano\n"
         "Binary interfaces:  the standard's (libmpi_abi.so.1), MPICH's, Open MPI's\n"
         "Process managers:   PMI-1, PMI-2 and PMIx of others, for Murmur's programs; PMI-1 and PMI-2 for others'\n"
         "More:               murmur-info");
}

/* smpd's users type these where passwords are kept by the launcher. */
static int refuse_account(void)
{
    mur_say("note: there is nothing to register or to remove: ssh's keys or the phrase in ~/.smpd prove who you are");
    return 0;
}

/* The hosts that the command line means, all of them; this machine where it names none. */
static struct mur_hosts find_hosts(struct mur_jobspec *job)
{
    struct mur_problem problem;

    if (!mur_placement_make(job, mur_survey_ask, &problem))
        mur_quit(MUR_EXIT_USAGE, "%s", problem.text);
    return job->offered;
}

/* A line a host; the code says whether all can be reached. */
static int validate(struct mur_jobspec *job)
{
    struct mur_hosts hosts = find_hosts(job);
    int *counts = mur_alloc((size_t)hosts.count, sizeof *counts), failed = 0;

    for (int i = 0; i < hosts.count; i++)
        counts[i] = hosts.items[i].is_local ? 1 : MUR_PART_UNKNOWN;
    if (mur_start_is_by_daemon(job))
        mur_phrase_key(&job->launcher);
    mur_survey_reach(job, &hosts, counts);
    for (int i = 0; i < hosts.count; i++) {
        const char *name = hosts.items[i].name;

        if (hosts.items[i].is_local)
            printf("SUCCESS: %s is this machine\n", name);
        else if (counts[i] != MUR_PART_UNKNOWN)
            printf("SUCCESS: jobs can be started on %s by %s\n", name, mur_start_name(job));
        else
            printf("FAIL: no job can be started on %s by %s\n", name, mur_start_name(job));
        failed += counts[i] == MUR_PART_UNKNOWN;
    }
    return failed ? MUR_EXIT_TROUBLE : 0;
}

static int set_up(struct mur_jobspec *job)
{
    struct mur_hosts hosts = find_hosts(job);

    return mur_setup_ssh(job, &hosts, job->command == MUR_COMMAND_SETUP_SSH) ? 0 : MUR_EXIT_TROUBLE;
}

/* Whether the process runs this program. */
static bool is_mpiexec(int pid)
{
    char *path = mur_alloc_text("/proc/%d/exe", pid);
    struct stat own, other;
    bool is_same = stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 && own.st_ino == other.st_ino &&
                   own.st_dev == other.st_dev;

    free(path);
    return is_same;
}

/* mpiexec -checkpoint: the signal takes a snapshot, or means nothing where the job has none. */
static int ask_for_snapshot(const char *word)
{
    int pid;

    if (!mur_number_read(word, strlen(word), 1, INT_MAX, &pid) || !is_mpiexec(pid)) {
        mur_say("-checkpoint wants the process number of an mpiexec here, not '%s'", word);
        return MUR_EXIT_USAGE;
    }
    if (kill(pid, SIGALRM) == 0)
        return 0;
    mur_say("-checkpoint: cannot signal process %d: %s", pid, strerror(errno));
    return MUR_EXIT_TROUBLE;
}

int mur_command_run(struct mur_jobspec *job)
{
    int code = 0;

    switch (job->command) {
    case MUR_COMMAND_HELP:
        code = tell_help(job->command_word);
        break;
    case MUR_COMMAND_MANUAL:
        return mur_manual_show(job->command_word);
    case MUR_COMMAND_VERSION:
        tell_version();
        break;
    case MUR_COMMAND_WHO:
        code = tell_who();
        break;
    case MUR_COMMAND_INFO:
        tell_info();
        break;
    case MUR_COMMAND_ACCOUNT:
        code = refuse_account();
        break;
    case MUR_COMMAND_STATUS:
        code = mur_status_print(job->command_word, job->is_json);
        break;
    case MUR_COMMAND_VALIDATE:
        code = validate(job);
        break;
    case MUR_COMMAND_CHECKPOINT:
        code = mur_checkpoint_try();
        break;
    case MUR_COMMAND_TRIGGER:
        code = ask_for_snapshot(job->command_word);
        break;
    case MUR_COMMAND_CHECK_SSH:
    case MUR_COMMAND_SETUP_SSH:
        code = set_up(job);
        break;
    case MUR_COMMAND_NONE:
        break;
    }
    return fflush(stdout) ? MUR_EXIT_TROUBLE : code;
}
