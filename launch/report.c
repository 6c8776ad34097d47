/* SPDX-License-Identifier: BSD-3-Clause */
/* Words for failures: who, where, what, and what became of the others, in one line printed after all output. */
#include "launch/report.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "launch/cgroup.h"
#include "launch/say.h"

void mur_report_start(const struct mur_jobspec *job)
{
    double quota = mur_cgroup_cpus();
    char quota_text[64] = "no quota";
    cpu_set_t cpus;
    int count = 0;

    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        count = CPU_COUNT(&cpus);
    if (quota > 0)
        snprintf(quota_text, sizeof quota_text, "a quota of %.2f", quota);
    mur_say("job %s: %d rank%s on %s, which offers %d CPU%s (affinity) with %s (control group)", job->id, job->size,
            job->size == 1 ? "" : "s", job->host, count, count == 1 ? "" : "s", quota_text);
}

const char *mur_report_signal(int signal)
{
    static char text[32];
    const char *name = sigabbrev_np(signal);

    if (name)
        snprintf(text, sizeof text, "SIG%s", name);
    else
        snprintf(text, sizeof text, "real-time signal");
    return text;
}

int mur_report_exit_code(const struct mur_tree_frame *failure)
{
    int low = failure->code & 0xff;

    switch (failure->cause) {
    case MUR_CAUSE_SIGNAL:
        return MUR_EXIT_SIGNAL + failure->signal;
    case MUR_CAUSE_PIPE:
        return MUR_EXIT_SIGNAL + SIGPIPE;
    case MUR_CAUSE_UNFINALIZED:
    case MUR_CAUSE_MISSING:
        return low ? low : MUR_EXIT_TROUBLE;
    case MUR_CAUSE_ABORT: /* 0 stays 0: the program said so; 256 must not look like it */
        return low || !failure->code ? low : MUR_EXIT_TROUBLE;
    default:
        return low;
    }
}

/* Why the end of a rank with code 0 is a failure. */
static void describe_missing(const struct mur_tree_frame *failure, char *text, size_t bytes)
{
    const struct mur_standing *standing = &failure->standing;

    if (standing->left == 0)
        snprintf(text, bytes, "without MPI_Init, and rank %d, which is in MPI, would wait for it",
                 standing->highest_rank);
    else
        snprintf(text, bytes, "after %u MPI program%s, and rank %d, which is in its %u%s, would wait for it",
                 standing->left, standing->left == 1 ? "" : "s", standing->highest_rank, standing->highest,
                 standing->highest == 2   ? "nd"
                 : standing->highest == 3 ? "rd"
                                          : "th");
}

static void print_text(const struct mur_tree_frame *failure)
{
    if (!failure->length)
        return;
    mur_say_raw(failure->text, failure->length);
    mur_say_raw("\n", 1);
}

void mur_report_failure(const struct mur_jobspec *job, const struct mur_tree_frame *failure, int ended)
{
    char others[64] = "", why[160];
    char who[400];

    snprintf(who, sizeof who, "rank %d on %s (pid %d)", failure->rank,
             failure->rank >= 0 ? mur_jobspec_host(job, failure->rank) : job->host, failure->pid);
    if (ended > 0)
        snprintf(others, sizeof others, "; %d other rank%s ended", ended, ended == 1 ? " was" : "s were");
    switch (failure->cause) {
    case MUR_CAUSE_SIGNAL:
        mur_say("%s was killed by signal %d (%s, %s)%s%s%s", who, failure->signal, mur_report_signal(failure->signal),
                strsignal(failure->signal), failure->has_core ? ", core dumped" : "",
                failure->has_oom ? "; the kernel killed for lack of memory here (OOM), probably this rank" : "",
                others);
        break;
    case MUR_CAUSE_UNFINALIZED:
        if (failure->is_unknown)
            mur_say("%s died before MPI_Finalize%s", who, others);
        else
            mur_say("%s exited with code %d before MPI_Finalize%s", who, failure->code, others);
        break;
    case MUR_CAUSE_EXIT:
        if (job->size > 1) /* the exit code tells all of a job of one */
            mur_say("%s exited with code %d%s", who, failure->code, others);
        break;
    case MUR_CAUSE_MISSING:
        describe_missing(failure, why, sizeof why);
        mur_say("%s exited with code %d %s%s", who, failure->code, why, others);
        break;
    case MUR_CAUSE_ABORT:
        print_text(failure);
        mur_say("%s aborted the job with code %d%s", who, failure->code, others);
        break;
    case MUR_CAUSE_START:
    case MUR_CAUSE_OUTPUT:
        mur_say("%.*s%s", (int)failure->length, failure->text, others);
        break;
    default: /* a closed pipe is the reader's affair */
        break;
    }
}
