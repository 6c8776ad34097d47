/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reads the command line, checks what can be checked, and runs the job.
 *
 * The way through the files: options.c makes a jobspec.h, program.c and limits.c check it; head.c forks the agent and
 * decides; agent.c starts the ranks (spawn.c, environment.c), forwards what they write (output.c, sink.c) and read
 * (input.c), and leaves no process behind (descendants.c); the two speak frame.h; report.c says what went wrong. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "head.h"
#include "limits.h"
#include "options.h"
#include "program.h"
#include "say.h"

/* A closed standard descriptor would be taken by the next file opened, and then read or written for the wrong reason.
 */
static void fill_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static void name_job(struct mur_jobspec *job)
{
    struct timespec now;

    if (gethostname(job->host, sizeof job->host - 1) < 0 || !job->host[0])
        snprintf(job->host, sizeof job->host, "localhost");
    clock_gettime(CLOCK_REALTIME, &now); /* a process number alone comes again one day, in the same log */
    snprintf(job->id, sizeof job->id, "%s.%d.%llx", job->host, (int)getpid(), (unsigned long long)now.tv_sec);
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
    rc = mur_options_parse(argv, &job, error, sizeof error);
    if (rc) {
        mur_say("%s", error);
        return rc;
    }
    if (job.wants_help) {
        mur_options_print_help();
        return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
    }
    if (job.wants_version) {
        printf("mpiexec (Murmur) %s\n", MUR_VERSION);
        return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
    }
    name_job(&job);
    mur_programs_find(&job);
    mur_limits_check(job.size, &files);
    return mur_head_run(&job, &files);
}
