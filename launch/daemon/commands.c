/* SPDX-License-Identifier: BSD-3-Clause */
/* What a visitor may ask in a session, by words. What changes the daemon is for the user whose daemon it is. */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/daemon/daemon.h"

enum { WORDS = 3 };

static const char *user_name(uid_t uid, char text[64])
{
    const struct passwd *entry = getpwuid(uid);

    if (entry)
        snprintf(text, 64, "%s", entry->pw_name);
    else
        snprintf(text, 64, "%d", (int)uid);
    return text;
}

static int count_jobs(const struct mur_daemon *daemon)
{
    const struct mur_visit *visit;
    int count = 0;

    TAILQ_FOREACH(visit, &daemon->visits, in_visits)
    count += visit->agent > 0;
    return count;
}

static int tell_status(struct mur_visit *visit, char **words)
{
    const struct mur_daemon *daemon = visit->daemon;
    char host[256] = "", name[64];

    (void)words;
    gethostname(host, sizeof host - 1);
    mur_visit_print(
        visit, "smpd of Murmur %s on %s: process %d of user %s, port %d, for %lld s; agents: %d now, %ld so far\n",
        MUR_VERSION, host, (int)getpid(), user_name(geteuid(), name), daemon->port,
        (long long)(mur_loop_now() - daemon->started_at) / 1000, count_jobs(daemon), daemon->started_agents);
    return 0;
}

/* A user other than the daemon's sees his own. */
static bool is_visible(const struct mur_visit *visitor, const struct mur_visit *visit)
{
    return visit->agent > 0 && (visitor->uid == geteuid() || visitor->uid == visit->uid);
}

static int tell_jobs(struct mur_visit *visitor, char **words)
{
    const struct mur_visit *visit;
    char name[64];

    (void)words;
    TAILQ_FOREACH(visit, &visitor->daemon->visits, in_visits)
    if (is_visible(visitor, visit))
        mur_visit_print(visitor, "%s: agent %d, user %s, for %lld s\n", visit->job, (int)visit->agent,
                        user_name(visit->uid, name), (long long)(mur_loop_now() - visit->since) / 1000);
    return 0;
}

/* The processes that a process has started; at most `room`. */
static int find_children(pid_t parent, pid_t *pids, int room)
{
    char path[64];
    FILE *file;
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    file = fopen(path, "re");
    while (file && count < room && fscanf(file, "%d", &pids[count]) == 1)
        count++;
    if (file)
        fclose(file);
    return count;
}

/* Those of the agent, which is the child of its guard, which is the child of the daemon. */
static int tell_ranks(struct mur_visit *visitor, char **words)
{
    const struct mur_visit *visit;
    pid_t agents[4], ranks[1024];
    char path[64], name[64];
    int told = 0;

    TAILQ_FOREACH(visit, &visitor->daemon->visits, in_visits)
    {
        if (!is_visible(visitor, visit) || (words[1] && strcmp(visit->job, words[1]) != 0) ||
            find_children(visit->agent, agents, 4) == 0)
            continue;
        for (int i = 0, count = find_children(agents[0], ranks, 1024); i < count; i++, told++) {
            FILE *file;

            snprintf(path, sizeof path, "/proc/%d/comm", (int)ranks[i]);
            file = fopen(path, "re");
            if (file && fgets(name, sizeof name, file))
                mur_visit_print(visitor, "%s: process %d: %s", visit->job, (int)ranks[i], name);
            if (file)
                fclose(file);
        }
    }
    return told == 0;
}

/* Where an agent is killed, its guard kills the ranks, and mpiexec ends the job. */
static int end_job(struct mur_visit *visitor, char **words)
{
    struct mur_visit *visit;
    pid_t agents[4];
    int count = 0;

    TAILQ_FOREACH(visit, &visitor->daemon->visits, in_visits)
    if (is_visible(visitor, visit) && words[1] && strcmp(visit->job, words[1]) == 0 &&
        find_children(visit->agent, agents, 4) > 0)
        count += kill(agents[0], SIGKILL) == 0;
    if (!count)
        mur_visit_print(visitor, "no job %s is here\n", words[1] ? words[1] : "");
    return !count;
}

static int shut_down(struct mur_visit *visit, char **words)
{
    visit->daemon->is_over = true;
    visit->daemon->is_to_restart = strcmp(words[0], "restart") == 0;
    return 0;
}

static int get_value(struct mur_visit *visit, char **words)
{
    char *path = mur_smpdfile_path(visit->daemon->options->smpdfile), *value = NULL;
    struct mur_problem problem = {.text = ""};

    if (!words[1] || strcmp(words[1], "phrase") == 0)
        snprintf(problem.text, sizeof problem.text, "%s", words[1] ? "the phrase is not told" : "get wants a key");
    else
        value = mur_smpdfile_get(path, geteuid(), words[1], &problem);
    if (value)
        mur_visit_print(visit, "%s\n", value);
    else if (problem.text[0])
        mur_visit_print(visit, "%s\n", problem.text);
    free(path);
    free(value);
    return !value;
}

/* Those of `smpd -sethosts`. */
static int tell_hosts(struct mur_visit *visit, char **words)
{
    (void)words;
    return get_value(visit, (char *[]){"get", "hosts", NULL});
}

static int set_value(struct mur_visit *visit, char **words)
{
    char *path = mur_smpdfile_path(visit->daemon->options->smpdfile);
    struct mur_problem problem = {.text = "set wants a key and a value"};
    bool is_set = words[1] && words[2] && mur_smpdfile_set(path, words[1], words[2], &problem) &&
                  mur_daemon_load(visit->daemon, &problem);

    if (!is_set)
        mur_visit_print(visit, "%s\n", problem.text);
    free(path);
    return !is_set;
}

static int trace_on(struct mur_visit *visit, char **words)
{
    if (words[1] && mur_daemon_trace_to(visit->daemon, words[1]))
        return 0;
    mur_visit_print(visit, "cannot write to %s: %s\n", words[1] ? words[1] : "no file", strerror(errno));
    return 1;
}

static int trace_off(struct mur_visit *visit, char **words)
{
    (void)words;
    mur_daemon_trace_to(visit->daemon, NULL);
    return 0;
}

static const struct command {
    const char *name;
    int (*obey)(struct mur_visit *visit, char **words); /* returns the exit code */
    bool is_for_owner;
} commands[] = {
    {"status", tell_status, false}, {"jobs", tell_jobs, false},    {"ranks", tell_ranks, false},
    {"kill", end_job, false},       {"get", get_value, true},      {"set", set_value, true},
    {"traceon", trace_on, true},    {"traceoff", trace_off, true}, {"shutdown", shut_down, true},
    {"restart", shut_down, true},   {"hosts", tell_hosts, true},
};

void mur_daemon_obey(struct mur_visit *visit)
{
    char *words[WORDS + 1] = {NULL}, name[64];
    const char *at = visit->message + 1, *end = visit->message + visit->bytes;
    int code = 1;
    size_t i;

    for (int count = 0; at < end && count < WORDS; at += strlen(at) + 1)
        words[count++] = (char *)(uintptr_t)at;
    for (i = 0; i < sizeof commands / sizeof commands[0] && strcmp(words[0], commands[i].name) != 0; i++)
        continue;
    if (i == sizeof commands / sizeof commands[0])
        mur_visit_print(visit, "no command '%.100s'\n", words[0]);
    else if (commands[i].is_for_owner && visit->uid != geteuid())
        mur_visit_print(visit, "%s is for user %s, whose daemon this is\n", words[0], user_name(geteuid(), name));
    else
        code = commands[i].obey(visit, words);
    mur_visit_end_answer(visit, code);
}
