/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about snapshots of the job. The first four are Hydra's. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot/job.h"
#include "launch/alloc.h"
#include "launch/options/parser.h"

static int set_library(struct mur_parser *parser, const char *value)
{
    if (strcasecmp(value, "criu") != 0 && strcasecmp(value, "blcr") != 0 && strcasecmp(value, "app") != 0)
        return mur_parser_fail(parser, "%s wants criu or app, not '%s'", parser->option, value);
    parser->job->checkpointing.is_app = strcasecmp(value, "app") == 0;
    if (strcasecmp(value, "blcr") == 0)
        mur_parser_ignore(parser, "%s blcr (CRIU takes its place)", parser->option);
    parser->job->checkpointing.is_on = true;
    return 0;
}

/* Agents change their directory, and CRIU its root. */
static int make_absolute(struct mur_parser *parser, const char *value, size_t length, const char **path)
{
    char *name = mur_alloc_text("%.*s", (int)length, value), *whole = realpath(name, NULL);
    struct stat status;

    if (!whole)
        return mur_parser_fail(parser, "%s %s: %s; the directory must be there, and be seen by all hosts",
                               parser->option, name, strerror(errno));
    if (stat(whole, &status) < 0 || !S_ISDIR(status.st_mode))
        return mur_parser_fail(parser, "%s %s: this is not a directory", parser->option, name);
    free(name);
    *path = whole;
    return 0;
}

/* Of several directories between ':' Hydra uses the first, too. */
static int set_prefix(struct mur_parser *parser, const char *value)
{
    return make_absolute(parser, value, strcspn(value, ":"), &parser->job->checkpointing.prefix);
}

static int set_interval(struct mur_parser *parser, const char *value)
{
    char *end;
    double seconds;

    errno = 0;
    seconds = strtod(value, &end);
    if (errno || end == value || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return mur_parser_fail(parser, "%s wants seconds, 0 for none by time, not '%s'", parser->option, value);
    parser->job->checkpointing.interval_ms = (int64_t)(seconds * 1000 + 0.999);
    return 0;
}

static int set_number(struct mur_parser *parser, const char *value)
{
    int rc = mur_parser_read_number(parser, value, "the number of a snapshot", 0, 1000000000,
                                    &parser->job->checkpointing.number);

    parser->job->checkpointing.has_number = !rc;
    return rc;
}

/* The folder of one snapshot stands for its number. */
static int set_restart(struct mur_parser *parser, const char *value)
{
    struct mur_checkpointing *checkpointing = &parser->job->checkpointing;
    char *manifest = mur_alloc_text("%s/manifest", value), *whole = realpath(value, NULL), *slash;

    checkpointing->is_on = checkpointing->is_restart = true;
    if (whole && access(manifest, F_OK) == 0 && (slash = strrchr(whole, '/')) && set_number(parser, slash + 1) == 0) {
        *slash = '\0';
        value = whole;
    }
    free(manifest);
    return set_prefix(parser, value);
}

static int set_keep(struct mur_parser *parser, const char *value)
{
    return mur_parser_read_number(parser, value, "a number of snapshots", 1, 1000000, &parser->job->checkpointing.keep);
}

static int set_on_term(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->checkpointing.is_on_term = true;
    return 0;
}

static int set_check(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->command = MUR_COMMAND_CHECKPOINT;
    return 0;
}

static int set_job(struct mur_parser *parser, const char *value)
{
    parser->job->command = MUR_COMMAND_TRIGGER;
    parser->job->command_word = value;
    return 0;
}

const struct mur_option mur_checkpoint_options[] = {
    {"ckpointlib", "LIB", set_library,
     "take snapshots of the job by criu, and restart it from them (also HYDRA_CKPOINTLIB); blcr means the same here; "
     "app: the program takes them itself (murmur.h)"},
    {"ckpoint-prefix", "DIR", set_prefix,
     "the directory of the snapshots, which all hosts see (also HYDRA_CKPOINT_PREFIX)"},
    {"ckpoint-interval", "SECONDS", set_interval,
     "take one so often (also HYDRA_CKPOINT_INTERVAL); SIGUSR1 or SIGALRM to mpiexec takes one at once, and is not "
     "passed on"},
    {"ckpoint-num", "N", set_number,
     "restart the job from this snapshot; no program is given then (default: the latest whole one)"},
    {"restart", "DIR", set_restart,
     "restart the job from the latest whole snapshot in DIR, from -ckpoint-num, or from the snapshot that DIR itself "
     "is"},
    {"ckpoint-keep", "N", set_keep, "how many snapshots stay in the directory (default 2)"},
    {"ckpoint-on-term", NULL, set_on_term,
     "SIGTERM takes a snapshot and ends the job with exit code 85, for a scheduler to queue it again"},
    {"checkpoint", "PID", set_job, "ask the mpiexec with this process number for a snapshot, and return"},
    {"ckpoint-check", NULL, set_check, "say whether snapshots can be taken on this machine, by trying it"},
    {NULL, NULL, NULL, NULL},
};

static void set_of_app(struct mur_jobspec *job, const char *name, const char *value)
{
    mur_assignments_add(&job->environment, mur_alloc_text("MUR_CKPT_%s=%s", name, value));
}

/* A program that takes its snapshots itself is told by the environment (libmurmur/settings.h). It starts from its
 * beginning unless a restart is asked for. */
static int settle_app(struct mur_parser *parser)
{
    struct mur_jobspec *job = parser->job;
    const struct mur_checkpointing *asked = &job->checkpointing;

    if (asked->is_on_term)
        return mur_parser_fail(parser,
                               "-ckpoint-on-term wants -ckpointlib criu: a program cannot be made to save itself "
                               "and end");
    if (asked->is_restart && job->size == 0)
        return mur_parser_fail(parser, "-ckpointlib app wants the program also for a restart");
    set_of_app(job, "PREFIX", asked->prefix);
    if (asked->interval_ms)
        set_of_app(job, "INTERVAL", mur_alloc_text("%.3f", (double)asked->interval_ms / 1000));
    if (asked->keep)
        set_of_app(job, "KEEP", mur_alloc_text("%d", asked->keep));
    if (asked->has_number)
        set_of_app(job, "RESTART", mur_alloc_text("%d", asked->number));
    else if (asked->is_restart)
        set_of_app(job, "RESTART", "latest");
    set_of_app(job, "SIGNAL", mur_alloc_text("%d", SIGUSR1));
    job->checkpointing = (struct mur_checkpointing){.is_app = true};
    return 0;
}

/* With snapshots, what CRIU cannot save is not used. */
int mur_checkpoint_settle(struct mur_parser *parser)
{
    struct mur_jobspec *job = parser->job;
    struct mur_checkpointing *checkpointing = &job->checkpointing;

    if (!checkpointing->is_on)
        return checkpointing->is_on_term || checkpointing->interval_ms
                   ? mur_parser_fail(parser, "snapshots want -ckpointlib criu and -ckpoint-prefix DIR")
                   : 0;
    if (!checkpointing->prefix)
        return mur_parser_fail(parser, "-ckpointlib wants -ckpoint-prefix DIR, the directory of the snapshots");
    if (checkpointing->is_app)
        return settle_app(parser);
    if (job->starting.has_local_root)
        return mur_parser_fail(parser, "-localroot and snapshots exclude each other: a terminal cannot be saved");
    if (!checkpointing->has_number)
        checkpointing->number = -1;
    if (!checkpointing->keep)
        checkpointing->keep = 2;
    mur_assignments_add(&job->environment, mur_alloc_text("%s=1", MUR_ENV_SNAPSHOTS));
    mur_assignments_add(&job->environment, mur_alloc_text("MUR_IO_URING=0"));
    return 0;
}
