/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -status: finds the user's jobs on this machine, asks each, and prints what they answer. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/loop.h"
#include "launch/say.h"
#include "launch/status/desk.h"
#include "launch/status/name.h"

enum { JOBS_MOST = 1024, ANSWER_MS = 8000 };

struct found {
    uid_t user;
    pid_t pid;
};

/* The sockets of this user; for root, of all. */
static int find_jobs(struct found *jobs)
{
    FILE *file = fopen("/proc/net/unix", "re");
    char line[512];
    int count = 0;

    while (file && count < JOBS_MOST && fgets(line, sizeof line, file)) {
        const char *name = strstr(line, " @" MUR_STATUS_NAME);
        unsigned user;
        int pid, state;

        if (!name || sscanf(name, " @" MUR_STATUS_NAME "%u.%d", &user, &pid) != 2)
            continue;
        if (sscanf(line, "%*s %*s %*s %*s %*s %x", &state) != 1 || state != 1) /* 1: it listens; else it is a caller */
            continue;
        if (user == getuid() || getuid() == 0)
            jobs[count++] = (struct found){user, pid};
    }
    if (file)
        fclose(file);
    return count;
}

/* Until something has come; false: too late. */
static bool await(int fd, int64_t limit)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int64_t left = limit - mur_loop_now();

    return left > 0 && poll(&wait, 1, (int)left) > 0;
}

/* What a job answers, or NULL with errno. The caller frees it. */
static char *ask(const struct found *job, bool is_json)
{
    struct sockaddr_un address;
    socklen_t bytes = mur_status_name(&address, job->user, job->pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int64_t limit = mur_loop_now() + ANSWER_MS;
    size_t length = 0, space = 4096;
    char *answer = mur_alloc(space, 1);
    ssize_t got = -1;

    errno = EPERM;
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, bytes) == 0 && mur_status_is_trusted(fd) &&
        send(fd, is_json ? "json\n" : "text\n", 5, MSG_NOSIGNAL) == 5)
        while (await(fd, limit) && (got = recv(fd, answer + length, space - length - 1, 0)) > 0) {
            length += (size_t)got;
            if (length + 1 == space)
                answer = mur_alloc_again(answer, space *= 2, 1);
        }
    if (fd >= 0)
        close(fd);
    if (got == 0 && length) {
        answer[length] = '\0';
        return answer;
    }
    if (got >= 0)
        errno = ETIMEDOUT;
    free(answer);
    return NULL;
}

/* Whether `wanted` names the job, by its process number or by the start of its id: "host.pid.time". */
static bool is_wanted(const struct found *job, const char *wanted)
{
    const char *number = wanted, *dot = strchr(wanted, '.');
    char *end;
    long pid;

    for (; dot; dot = strchr(number, '.')) { /* a host's name may have dots, too */
        pid = strtol(number, &end, 10);
        if (number > wanted && pid == job->pid && *end == '.')
            return true;
        number = dot + 1;
    }
    pid = strtol(number, &end, 10);
    return pid == job->pid && !*end;
}

int mur_status_print(const char *job, bool is_json)
{
    static struct found jobs[JOBS_MOST];
    int count = find_jobs(jobs), told = 0;

    if (is_json)
        fputs("{\"jobs\":[", stdout);
    for (int i = 0; i < count; i++) {
        char *answer = !job || is_wanted(&jobs[i], job) ? ask(&jobs[i], is_json) : NULL;

        if (!answer) {
            if (!job || is_wanted(&jobs[i], job))
                mur_say("the mpiexec with process number %d does not answer: %s", (int)jobs[i].pid, strerror(errno));
            continue;
        }
        fputs(!told++ ? "" : is_json ? "," : "\n", stdout);
        fputs(answer, stdout);
        free(answer);
    }
    if (is_json)
        fputs("]}\n", stdout);
    if (told)
        return 0;
    if (job)
        mur_say("no job '%s' of yours runs on this machine: give the process number of its mpiexec, or its id", job);
    else
        mur_say("no job of yours runs on this machine");
    return MUR_EXIT_TROUBLE;
}
