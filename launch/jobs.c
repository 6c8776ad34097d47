/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting an mpiexec for a job that a rank spawns. */
#include "launch/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot/spawn.h"
#include "launch/alloc.h"
#include "launch/say.h"

bool mur_jobs_is_answer(const char *key)
{
    return strncmp(key, MUR_JOB_ANSWER, strlen(MUR_JOB_ANSWER)) == 0;
}

bool mur_jobs_is_question(const char *key)
{
    return strncmp(key, MUR_JOB_QUESTION, strlen(MUR_JOB_QUESTION)) == 0;
}

/* A NUL is "\2n", and "\2" itself "\2e". */
char *mur_jobs_encode(const char *text, size_t bytes)
{
    char *encoded = mur_alloc(2 * bytes + 1, 1), *out = encoded;

    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '\0' || text[i] == '\2') {
            *out++ = '\2';
            *out++ = text[i] ? 'e' : 'n';
        } else {
            *out++ = text[i];
        }
    *out = '\0';
    return encoded;
}

size_t mur_jobs_decode(char *text)
{
    char *out = text;

    for (const char *in = text; *in; in++)
        if (*in == '\2' && in[1])
            *out++ = *++in == 'n' ? '\0' : '\2';
        else
            *out++ = *in;
    return (size_t)(out - text);
}

/* ---- the command line ---- */

struct words {
    char **items;
    int count;
};

static void add(struct words *words, char *word)
{
    words->items = mur_alloc_again(words->items, (size_t)words->count + 2, sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

static bool has_free_slots(const struct mur_hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        if (hosts->items[i].slots > hosts->items[i].ranks)
            return true;
    return false;
}

/* The job's list of hosts, unless it is just this machine: those that have free slots, or all where none has. */
static void add_hosts(struct words *words, const struct mur_jobspec *job)
{
    bool has_free = has_free_slots(&job->offered);
    char *list = NULL;

    if (job->offered.count == 1 && job->offered.items[0].is_local)
        return;
    for (int i = 0; i < job->offered.count; i++) {
        const struct mur_host *host = &job->offered.items[i];
        int slots = has_free ? host->slots - host->ranks : host->slots;
        char *longer;

        if (has_free && slots <= 0)
            continue;
        longer = mur_alloc_text("%s%s%s%s%s:%d", list ? list : "", list ? "," : "", host->user ? host->user : "",
                                host->user ? "@" : "", host->name, slots > 0 ? slots : 1);

        free(list);
        list = longer;
    }
    add(words, mur_alloc_text("-host"));
    add(words, list);
}

static void add_option(struct words *words, const char *option, const char *value)
{
    add(words, mur_alloc_text("%s", option));
    add(words, mur_alloc_text("%s", value));
}

/* As one text, that is split into the same words again (options/words.c). */
static void add_list(struct words *words, const char *option, char **list)
{
    size_t bytes = 1;
    char *text, *out;

    if (!list)
        return;
    for (char **word = list; *word; word++)
        bytes += 4 * strlen(*word) + 3;
    text = out = mur_alloc(bytes, 1);
    for (char **word = list; *word; word++) {
        *out++ = '\'';
        for (const char *in = *word; *in; in++)
            if (*in == '\'')
                out = stpcpy(out, "'\\''");
            else
                *out++ = *in;
        out = stpcpy(out, "' ");
    }
    add_option(words, option, text);
    free(text);
}

static void add_launcher(struct words *words, const struct mur_launcher *launcher)
{
    char number[16];

    if (launcher->name)
        add_option(words, "-launcher", launcher->name);
    add_list(words, "-launcher-exec", launcher->command);
    add_list(words, "-launcher-args", launcher->options);
    add_list(words, "-launcher-slurm-args", launcher->slurm_options);
    if (launcher->port) {
        snprintf(number, sizeof number, "%d", launcher->port);
        add_option(words, "-launcher-port", number);
    }
    if (launcher->width) {
        snprintf(number, sizeof number, "%d", launcher->width);
        add_option(words, "-agent-width", number);
    }
}

/* What this job's output looks like, and how its hosts are reached, holds for the new one, too. */
static void add_habits(struct words *words, const struct mur_jobspec *job)
{
    if (job->formats.is_ranked)
        add(words, mur_alloc_text("-l"));
    if (job->formats.is_tagged)
        add(words, mur_alloc_text("-tag-output"));
    if (job->formats.is_timed)
        add(words, mur_alloc_text("-timestamp-output"));
    add_launcher(words, &job->launcher);
}

/* Keys and values, one behind the other as boot/spawn.h says, each ended by a NUL. */
struct values {
    char *bytes;
    size_t length;
};

static void add_value(struct values *values, const char *text)
{
    size_t bytes = strlen(text) + 1;

    values->bytes = mur_alloc_again(values->bytes, values->length + bytes, 1);
    memcpy(values->bytes + values->length, text, bytes);
    values->length += bytes;
}

static struct words make_arguments(const struct mur_jobspec *job, const char *at, const char *end,
                                   struct values *values)
{
    struct words words = {0};

    add(&words, mur_alloc_text("mpiexec"));
    add_habits(&words, job);
    for (; at < end; at += strlen(at) + 1)
        if (strcmp(at, MUR_SPAWN_HOSTS) == 0) {
            add_hosts(&words, job);
        } else if (strcmp(at, MUR_SPAWN_VALUE) == 0) {
            for (int i = 0; i < 2 && at + strlen(at) + 1 < end; i++) {
                at += strlen(at) + 1;
                add_value(values, at);
            }
        } else {
            add(&words, mur_alloc_text("%s", at));
        }
    return words;
}

/* ---- the process ---- */

struct ends {
    int out[2], err[2], line[2];
    int exec[2]; /* closed by the exec */
};

static bool open_ends(struct ends *ends)
{
    return pipe2(ends->out, O_CLOEXEC) == 0 && pipe2(ends->err, O_CLOEXEC) == 0 &&
           socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->line) == 0 &&
           pipe2(ends->exec, O_CLOEXEC) == 0 && fcntl(ends->out[0], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(ends->err[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(ends->line[0], F_SETFL, O_NONBLOCK) == 0;
}

/* Until the exec, the child has copies of all our descriptors, and what is closed here would stay in epoll sets. */
static void wait_for_exec(struct ends *ends)
{
    char nothing;

    while (read(ends->exec[0], &nothing, 1) < 0 && errno == EINTR)
        continue;
    close(ends->exec[0]);
}

static void close_ends(struct ends *ends, int side)
{
    close(ends->out[side]);
    close(ends->err[side]);
    close(ends->line[side]);
    close(ends->exec[side]);
}

/* In the child, which has memory of its own. */
static __attribute__((noreturn)) void become(const struct mur_jobs *jobs, const struct ends *ends, char **argv,
                                             const char *port, const char *separator, const char *values, pid_t agent)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char number[16];
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != agent)
        _exit(127);
    setpgid(0, 0);
    dup2(nothing, 0);
    dup2(ends->out[1], 1);
    dup2(ends->err[1], 2);
    fcntl(ends->line[1], F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &jobs->files);
    snprintf(number, sizeof number, "%d", ends->line[1]);
    setenv(MUR_ENV_SPAWN_FD, number, 1);
    if (*port)
        setenv(MUR_ENV_SPAWN_PORT, port, 1);
    else
        setenv(MUR_ENV_SPAWN_VALUES, values, 1);
    setenv(MUR_ENV_SPAWN_SEPARATOR, separator, 1);
    snprintf(number, sizeof number, "%d", jobs->job->universe);
    setenv(MUR_ENV_SPAWN_UNIVERSE, number, 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static void line_ready(void *owner)
{
    struct mur_child_job *child = owner;
    char data[4096];
    ssize_t got;

    mur_packets_flush(&child->answers, child->jobs->loop, &child->line);
    while ((got = recv(child->line.fd, data, sizeof data, 0)) > 0)
        child->jobs->message(child->jobs->owner, child, data, (size_t)got);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    mur_loop_unwatch(child->jobs->loop, &child->line);
}

static void adopt(struct mur_jobs *jobs, const char *name, pid_t pid, const struct ends *ends, bool is_foreign)
{
    struct mur_child_job *child = LIST_FIRST(&jobs->spare);

    if (child)
        LIST_REMOVE(child, in_jobs);
    else
        child = mur_alloc(1, sizeof *child);
    child->jobs = jobs;
    child->pid = pid;
    child->is_foreign = is_foreign;
    child->has_run = false;
    child->name = mur_alloc_text("%s", name);
    child->line = (struct mur_watch){.fd = ends->line[0], .ready = line_ready, .owner = child};
    child->out = (struct mur_stream){.fd = ends->out[0], .rank = -1, .copy_fd = -1, .is_relay = true};
    child->err =
        (struct mur_stream){.fd = ends->err[0], .rank = -1, .copy_fd = -1, .is_relay = true, .is_stderr = true};
    mur_loop_watch(jobs->loop, &child->line, EPOLLIN);
    mur_output_add_relay(jobs->output, &child->out, &child->err);
    LIST_INSERT_HEAD(&jobs->list, child, in_jobs);
}

bool mur_jobs_start(struct mur_jobs *jobs, const char *name, const char *text, size_t bytes)
{
    const char *end = text + bytes, *port = text, *separator = port + strlen(port) + 1;
    struct ends ends = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    struct words words = {0};
    struct values values = {0};
    pid_t agent = getpid(), pid = -1;
    char *encoded;

    if (bytes == 0 || end[-1] != '\0' || separator >= end)
        return false; /* not from our library */
    add_value(&values, jobs->job->id);
    words = make_arguments(jobs->job, separator + strlen(separator) + 1, end, &values);
    encoded = mur_jobs_encode(values.bytes, values.length);
    if (open_ends(&ends))
        pid = fork();
    if (pid == 0)
        become(jobs, &ends, words.items, port, separator, encoded, agent);
    if (pid > 0) {
        close_ends(&ends, 1);
        wait_for_exec(&ends);
        adopt(jobs, name, pid, &ends, !*port);
    } else {
        mur_say("cannot start an mpiexec for a spawned job: %s", strerror(errno));
        close_ends(&ends, 0);
        close_ends(&ends, 1);
    }
    for (int i = 0; i < words.count; i++)
        free(words.items[i]);
    free(words.items);
    free(values.bytes);
    free(encoded);
    return pid > 0;
}

/* ---- later ---- */

struct mur_child_job *mur_jobs_find(struct mur_jobs *jobs, pid_t pid)
{
    struct mur_child_job *child;

    LIST_FOREACH(child, &jobs->list, in_jobs)
    if (child->pid == pid)
        return child;
    return NULL;
}

void mur_jobs_signal(struct mur_jobs *jobs, int signal)
{
    struct mur_child_job *child;

    LIST_FOREACH(child, &jobs->list, in_jobs)
    if (child->pid)
        kill(child->pid, signal);
}

void mur_jobs_sweep(struct mur_jobs *jobs)
{
    struct mur_child_job *child, *next;

    for (child = LIST_FIRST(&jobs->list); child; child = next) {
        next = LIST_NEXT(child, in_jobs);
        if (child->pid || child->out.fd >= 0 || child->err.fd >= 0)
            continue;
        mur_loop_unwatch(jobs->loop, &child->line);
        mur_packets_drop(&child->answers);
        close(child->line.fd);
        LIST_REMOVE(child, in_jobs);
        free(child->name);
        LIST_INSERT_HEAD(&jobs->spare, child, in_jobs);
    }
}
