/* SPDX-License-Identifier: BSD-3-Clause */
/* How many sockets, caches or cores other hosts have.
 *
 * -map-by ppr:N:OBJECT makes the number of a host's ranks depend on it, so mpiexec must know before it gives ranks
 * their hosts, when there are no agents yet. It runs `mpiexec -survey PART` on each of them by the command that will
 * start the agents, so many at a time, and reads a line with a mark and the number; what else a login script prints
 * there is passed over. Only what such a process may use counts, as for the agent's own ranks. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/hosts/placement.h"
#include "launch/say.h"
#include "launch/tree/tree.h"

#define MARK "mpiexec-survey "

enum { WIDTH = 64, ANSWER_MS = 60000, TEXT_BYTES = 4096 };

struct question {
    int host; /* its number; -1: not in use */
    pid_t pid;
    int fd;
    int64_t due;
    int pause_ms; /* before it is asked again */
    size_t length;
    char text[TEXT_BYTES]; /* the end of what it has printed */
};

struct survey {
    const struct mur_jobspec *job;
    const struct mur_hosts *hosts;
    enum mur_part part;
    int *counts;
    bool goes_on; /* a host that does not answer is told, and the others are asked all the same */
    struct mur_problem *problem;
    struct question *questions;
    int64_t wait_until; /* hosts that cannot be reached are asked again until then */
    int next;           /* the first host that may not have been asked */
    int open;
};

/* ---- the side that asks ---- */

/* Whether to go on after a host's problem, which is then said now. */
static bool pass_over(const struct survey *survey)
{
    if (survey->goes_on)
        mur_say("%s", survey->problem->text);
    return survey->goes_on;
}

static bool ask(struct survey *survey, struct question *question, int host)
{
    const struct mur_host *asked = &survey->hosts->items[host];

    question->pid = mur_start_question(survey->job, asked, mur_part_name(survey->part), &question->fd);
    if (question->pid < 0)
        return mur_problem_set(survey->problem, "cannot start %s to ask host %s how many %ss it has: %s",
                               mur_start_name(survey->job), asked->name, mur_part_name(survey->part),
                               strerror(errno)) ||
               pass_over(survey);
    question->host = host;
    question->length = 0;
    question->due = mur_loop_now() + ANSWER_MS;
    survey->open++;
    return true;
}

static bool ask_more(struct survey *survey)
{
    for (int i = 0; i < WIDTH; i++) {
        if (survey->questions[i].host >= 0)
            continue;
        while (survey->next < survey->hosts->count && survey->counts[survey->next] != MUR_PART_UNKNOWN)
            survey->next++;
        if (survey->next == survey->hosts->count)
            return true;
        survey->questions[i].pause_ms = 0;
        if (!ask(survey, &survey->questions[i], survey->next++))
            return false;
    }
    return true;
}

/* After a pause, in which the answers of others wait, too. */
static bool ask_again(struct survey *survey, struct question *question, int host)
{
    question->pause_ms = mur_wait_pause(question->pause_ms);
    if (poll(NULL, 0, question->pause_ms) < 0 && errno != EINTR)
        return mur_problem_set(survey->problem, "cannot wait: %s", strerror(errno));
    return ask(survey, question, host);
}

/* The number behind the last mark; -1: there is none. */
static int find_answer(char *text, size_t length)
{
    int count = MUR_PART_UNKNOWN;

    text[length] = '\0';
    for (size_t i = 0; i < length; i++) /* what is printed may hold NULs */
        if (strncmp(text + i, MARK, strlen(MARK)) == 0) {
            const char *digits = text + i + strlen(MARK);

            if (!mur_number_read(digits, strspn(digits, "0123456789"), 0, MUR_SLOTS_MAX, &count))
                count = MUR_PART_UNKNOWN;
        }
    return count;
}

/* It has printed all: that must hold an answer. */
static bool close_question(struct survey *survey, struct question *question)
{
    int host = question->host, status = 0, count = find_answer(question->text, question->length);
    const char *command = mur_start_name(survey->job), *name = survey->hosts->items[host].name;
    char how[64];

    close(question->fd);
    while (waitpid(question->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    question->host = -1;
    survey->open--;
    survey->counts[host] = count;
    if (count != MUR_PART_UNKNOWN)
        return true;
    if (mur_loop_now() < survey->wait_until)
        return ask_again(survey, question, host);
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "ended with code %d", WEXITSTATUS(status));
    return mur_problem_set(survey->problem,
                           "cannot ask host %s how many %ss it has: %s %s and gave no answer; its message above may "
                           "say why. ppr:N:node needs no answer",
                           name, mur_part_name(survey->part), command, how) ||
           pass_over(survey);
}

static bool read_answer(struct survey *survey, struct question *question)
{
    ssize_t got;

    if (question->length == TEXT_BYTES - 1) { /* the answer comes last */
        question->length = TEXT_BYTES / 2;
        memmove(question->text, question->text + TEXT_BYTES - 1 - question->length, question->length);
    }
    got = read(question->fd, question->text + question->length, TEXT_BYTES - 1 - question->length);
    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0)
        return close_question(survey, question);
    question->length += (size_t)got;
    return true;
}

static void give_up(struct survey *survey, struct question *question)
{
    kill(question->pid, SIGTERM);
    close(question->fd);
    question->host = -1;
    survey->open--;
}

static bool wait_for_some(struct survey *survey)
{
    struct pollfd polls[WIDTH];
    int64_t now = mur_loop_now(), due = now + ANSWER_MS;

    for (int i = 0; i < WIDTH; i++) {
        const struct question *question = &survey->questions[i];

        polls[i] = (struct pollfd){.fd = question->host < 0 ? -1 : question->fd, .events = POLLIN};
        if (question->host >= 0 && question->due < due)
            due = question->due;
    }
    if (poll(polls, WIDTH, due > now ? (int)(due - now) : 0) < 0)
        return errno == EINTR ||
               mur_problem_set(survey->problem, "cannot wait for answers of hosts: %s", strerror(errno));
    for (int i = 0; i < WIDTH; i++) {
        struct question *question = &survey->questions[i];

        if (question->host < 0)
            continue;
        if (polls[i].revents) {
            if (!read_answer(survey, question))
                return false;
        } else if (mur_loop_now() >= question->due) {
            mur_problem_set(survey->problem,
                            "host %s has not told within %d s how many %ss it has; ppr:N:node needs no answer",
                            survey->hosts->items[question->host].name, ANSWER_MS / 1000, mur_part_name(survey->part));
            if (!pass_over(survey))
                return false;
            give_up(survey, question);
        }
    }
    return true;
}

static void stop(struct survey *survey)
{
    for (int i = 0; i < WIDTH; i++)
        if (survey->questions[i].host >= 0) {
            kill(survey->questions[i].pid, SIGTERM);
            close(survey->questions[i].fd);
        }
    free(survey->questions);
}

static bool run(struct survey survey)
{
    bool is_good;

    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL); /* ignored, it would eat exit codes */
    survey.questions = mur_alloc(WIDTH, sizeof *survey.questions);
    for (int i = 0; i < WIDTH; i++)
        survey.questions[i].host = -1;
    survey.wait_until = mur_loop_now() + survey.job->launcher.wait_ms;
    is_good = ask_more(&survey);
    while (is_good && survey.open)
        is_good = wait_for_some(&survey) && ask_more(&survey);
    stop(&survey);
    return is_good;
}

void mur_survey_reach(const struct mur_jobspec *job, const struct mur_hosts *hosts, int *counts)
{
    struct mur_problem problem;

    run((struct survey){
        .job = job, .hosts = hosts, .part = MUR_PART_HWTHREAD, .counts = counts, .goes_on = true, .problem = &problem});
}

bool mur_survey_ask(const struct mur_jobspec *job, const struct mur_hosts *hosts, enum mur_part part, int *counts,
                    struct mur_problem *problem)
{
    if (!run((struct survey){.job = job,
                             .hosts = hosts,
                             .part = part,
                             .counts = counts,
                             .problem = problem})) /* not for what the command line says, which has a code of its own */
        mur_quit(MUR_EXIT_TROUBLE, "%s", problem->text);
    return true;
}

/* ---- the side that answers ---- */

int mur_survey_answer(const char *part)
{
    enum mur_part wanted = mur_part_read(part, (int)strlen(part));
    struct mur_hardware topology;
    struct mur_problem problem;

    if (wanted == MUR_PART_NONE || wanted == MUR_PART_COUNT)
        mur_quit(MUR_EXIT_USAGE, "'-survey' is for mpiexec's own use, and '%s' no part of a machine", part);
    if (!mur_topology_load(&topology, &problem))
        mur_quit(MUR_EXIT_TROUBLE, "%s", problem.text);
    printf("\n" MARK "%d\n", topology.parts[wanted].count);
    mur_topology_free(&topology);
    return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
}
