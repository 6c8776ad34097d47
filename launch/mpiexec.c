/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reads the command line, checks what can be checked, and runs the job.
 *
 * The way through the files: options/ makes a jobspec.h, hosts/ finds hosts for the ranks, program.c and limits.c check
 * it; supervisor.c forks the agent and decides; agent/ starts the ranks (spawn.c, environment.c), forwards what they
 * write (output.c, sink.c) and read (input.c), and leaves no process behind (descendants.c); the two speak frame.h;
 * report.c says what went wrong. On other hosts agents are this program too, started by each other: tree/tree.h. What
 * is no job
 * (-validate, -setup-ssh ...) is in commands/. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/secret.h"
#include "boot/job.h"
#include "boot/spawn.h"
#include "launch/agent/agent.h"
#include "launch/agent/root_process.h"
#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/checkpoint/restart.h"
#include "launch/checkpoint/trigger.h"
#include "launch/daemon/call.h"
#include "launch/daemon/phrase.h"
#include "launch/commands/commands.h"
#include "launch/options/smpd.h"
#include "launch/supervisor.h"
#include "launch/hosts/placement.h"
#include "launch/jobs.h"
#include "launch/limits.h"
#include "launch/options/options.h"
#include "launch/options/parser.h"
#include "launch/options/torch.h"
#include "launch/program.h"
#include "launch/say.h"
#include "launch/tree/tree.h"

/* A closed standard descriptor would be taken by the next file opened, and then read or written for the wrong reason.
 * What ranks write to a stdout that is closed is an error, as for any program: it cannot be written. */
static void fill_standard_descriptors(void)
{
    bool has_stdout = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    fd = has_stdout ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        close(fd);
    }
}

static void name_job(struct mur_jobspec *job)
{
    struct timespec now;

    if (gethostname(job->host, sizeof job->host - 1) < 0 || !job->host[0])
        snprintf(job->host, sizeof job->host, "localhost");
    clock_gettime(CLOCK_REALTIME, &now); /* a process number alone comes again one day, in the same log */
    snprintf(job->id, sizeof job->id, "%s.%d.%llx", job->host, (int)getpid(), (unsigned long long)now.tv_sec);
}

/* Another library's program has spawned the job: its name comes first. */
static void note_spawner(struct mur_jobspec *job, const char *values)
{
    char *text = mur_alloc_text("%s", values);
    size_t bytes = mur_jobs_decode(text), name = strlen(text) + 1;

    job->spawner = text;
    if (bytes > name && !text[bytes - 1]) {
        job->spawner_values = text + name;
        job->spawner_bytes = bytes - name;
    }
}

/* The ranks of a spawned job are told who spawned it. */
static void note_parent(struct mur_jobspec *job)
{
    const char *port = getenv(MUR_ENV_SPAWN_PORT), *values = getenv(MUR_ENV_SPAWN_VALUES);

    if (values)
        note_spawner(job, values);
    if (port)
        mur_assignments_add(&job->environment, mur_alloc_text("%s=%s", MUR_ENV_PARENT, port));
}

/* All jobs of a universe have the same size of it, unless one is larger itself. */
static void inherit_universe(struct mur_jobspec *job)
{
    const char *text = getenv(MUR_ENV_SPAWN_UNIVERSE);
    int size = text ? atoi(text) : 0;

    if (size >= job->size)
        job->universe = size;
}

/* One note for all that was accepted without an effect. */
static void note_ignored(const struct mur_jobspec *job)
{
    char list[1024] = "";
    size_t length = 0;

    for (int i = 0; i < job->ignored.count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", job->ignored.items[i]);
    if (job->ignored.count)
        mur_say("note: ignored, for nothing here needs it: %s", list);
}

/* Finds the ranks' hosts and CPUs, or ends with what is wrong. */
static void place_ranks(struct mur_jobspec *job)
{
    struct mur_problem problem;

    if (!(job->checkpointing.is_restart ? mur_restart_place : mur_placement_make)(job, mur_survey_ask, &problem))
        mur_quit(MUR_EXIT_USAGE, "%s", problem.text);
    if (job->stdin_rank >= job->size)
        mur_quit(MUR_EXIT_USAGE, "-stdin %d: the job has ranks 0 to %d", job->stdin_rank, job->size - 1);
    if (job->universe < job->size)
        mur_quit(MUR_EXIT_USAGE, "-usize %d: the job itself has %d ranks", job->universe, job->size);
    if (job->shows_map || (job->is_verbose && job->hosts.count > 1))
        mur_placement_show(job);
    job->local_node = -1;
    for (int node = 0; node < job->hosts.count; node++)
        if (job->hosts.items[node].is_local && !job->launcher.is_for_local)
            job->local_node = node;
    if (job->starting.has_local_root && job->node_of[0] != job->local_node)
        mur_quit(MUR_EXIT_USAGE, "-localroot: rank 0 is to run on this machine, not on %s", mur_jobspec_host(job, 0));
    if (job->starting.has_local_root && job->stdin_rank == 0)
        job->stdin_rank = MUR_STDIN_NONE; /* it reads the terminal, or what that is, by itself */
    if (job->local_node >= 0 && !mur_binding_start(job, job->local_node, &problem))
        mur_quit(MUR_EXIT_TROUBLE, "%s", problem.text);
}

/* -report-pid: for scripts that are to signal mpiexec. */
static void report_pid(const struct mur_jobspec *job)
{
    const char *place = job->pid_place;
    FILE *file;

    if (!place)
        return;
    file = strcmp(place, "-") == 0 ? stdout : strcmp(place, "+") == 0 ? stderr : fopen(place, "we");
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || (file == stdout || file == stderr ? fflush : fclose)(file))
        mur_quit(MUR_EXIT_TROUBLE, "-report-pid: cannot write '%s': %s", place, strerror(errno));
}

int main(int argc, char **argv)
{
    struct mur_jobspec job;
    struct rlimit files;
    char error[1024];
    int rc;

    fill_standard_descriptors();
    if (argc < 1)
        return MUR_EXIT_USAGE;
    if (mur_hook_is_meant())
        return mur_hook_run();
    if (argc > 1 && strcmp(argv[1], "-agent") == 0)
        return mur_remote_run(argv + 2);
    if (argc == 3 && strcmp(argv[1], "-root-process") == 0)
        mur_root_process_main(argv[2]);
    if (argc == 3 && strcmp(argv[1], "-survey") == 0)
        return mur_survey_answer(argv[2]);
    if (argc > 1 && strcmp(argv[1], "-daemon-start") == 0)
        return mur_daemon_start_run(argv + 2);
    if (mur_daemon_is_meant(argv))
        return mur_daemon_main(argv);
    rc = mur_options_parse(argv, &job, error, sizeof error);
    if (rc) {
        mur_say("%s", error);
        return rc;
    }
    name_job(&job);
    if (job.is_json && job.command != MUR_COMMAND_STATUS)
        mur_quit(MUR_EXIT_USAGE, "-json says how -status prints, which is not there");
    if (job.command)
        return mur_command_run(&job);
    report_pid(&job);
    note_parent(&job);
    note_ignored(&job);
    if (job.checkpointing.is_restart)
        mur_restart_prepare(&job);
    place_ranks(&job);
    mur_torch_prepare(&job);
    if (!job.is_trial)
        mur_start_choose(&job);
    if (!job.is_trial && job.hosts.count > (job.local_node >= 0) && mur_start_is_by_daemon(&job))
        mur_phrase_key(&job.launcher); /* now: an agent could not ask for it */
    inherit_universe(&job);
    mur_secret_random(job.secret, sizeof job.secret);
    if (!job.checkpointing.is_restart)
        mur_programs_find(&job, job.local_node);
    if (job.is_trial)
        return 0;
    if (job.starting.sends_program && job.hosts.count > (job.local_node >= 0))
        mur_programs_take(&job);
    mur_limits_check(&job, job.local_node, &files);
    mur_trigger_lock(&job);
    return mur_supervisor_run(&job, &files);
}
