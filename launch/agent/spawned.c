/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that ranks have spawned: mpiexec's own agent starts an mpiexec for each, and answers its questions about names.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "boot/job.h"
#include "boot/spawn.h"
#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/names.h"

void mur_agent_start_job(struct mur_agent *agent, const char *name, const char *value)
{
    char *text = mur_alloc_text("%s", value), *answer = mur_alloc_text("%s%s", MUR_JOB_ANSWER, name);
    size_t bytes = mur_jobs_decode(text);

    if (!agent->is_ending && mur_jobs_start(&agent->jobs, answer, text, bytes)) {
        agent->running++;
        agent->has_descendants = true;
    } else {
        mur_agent_keep(agent, answer, "failed");
    }
    free(text);
    free(answer);
}

/* The rank has told all of it. */
void mur_agent_spawn(struct mur_agent_rank *rank, const char *name)
{
    char *value = mur_jobs_encode(rank->spawn ? rank->spawn : "", rank->spawn_bytes);
    char *text = mur_alloc_text("%s%s%c%s", MUR_JOB_QUESTION, name, '\0', value);

    mur_agent_put(rank->agent, text);
    free(text);
    free(value);
    free(rank->spawn);
    rank->spawn = NULL;
    rank->spawn_bytes = 0;
}

/* Programs of other libraries do not notice that the other end of a connection is gone, and would wait for ever. */
static void report_foreign_failure(struct mur_agent *agent, const struct mur_child_job *child, int code)
{
    struct mur_tree_frame frame = {.kind = MUR_FRAME_FAILURE, .cause = MUR_CAUSE_START, .rank = -1, .code = code};

    if (!child->is_foreign || !child->has_run || !code || agent->is_ending)
        return;
    mur_frame_set_text(&frame, "a job that a rank has spawned ended with code %d", code);
    mur_agent_report(agent, &frame);
}

/* The job that spawned it may still wait for it. Otherwise nobody needs to know how it ended. */
bool mur_agent_end_job_of(struct mur_agent *agent, pid_t pid, int status)
{
    struct mur_child_job *child = mur_jobs_find(&agent->jobs, pid);

    if (!child)
        return false;
    child->pid = 0;
    agent->running--;
    if (!child->is_foreign || !child->has_run) /* else it was answered when it had come up */
        mur_agent_keep(agent, child->name, "ended");
    report_foreign_failure(agent, child, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return true;
}

static void answer_job(void *owner, const char *key, const char *value)
{
    struct mur_child_job *child = owner;
    struct mur_control_message message = {.kind = MUR_CONTROL_VALUE};
    size_t name = strlen(key) + 1, bytes = value ? strlen(value) : 0;

    if (!value || name + bytes > sizeof message.text || !child->line.is_active)
        return;
    memcpy(message.text, key, name);
    memcpy(message.text + name, value, bytes);
    message.length = (uint32_t)(name + bytes);
    mur_packets_send(&child->answers, child->jobs->loop, &child->line, &message,
                     offsetof(struct mur_control_message, text) + message.length, -1);
}

/* A spawned job asks for names, and says that its programs, of another library, run. */
static void message_from_job(void *owner, struct mur_child_job *child, const void *data, size_t bytes)
{
    const size_t head = offsetof(struct mur_control_message, text);
    struct mur_agent *agent = owner;
    struct mur_control_message message;
    char text[sizeof message.text + 2] = "";

    memcpy(&message, data, bytes < sizeof message ? bytes : sizeof message);
    if (bytes < head || bytes > sizeof message || message.length != bytes - head)
        return;
    memcpy(text, message.text, message.length);
    if (message.kind == MUR_CONTROL_INIT && child->is_foreign && child->pid) {
        child->has_run = true;
        mur_agent_keep(agent, child->name, MUR_JOB_RUNS);
    } else if (message.kind == MUR_CONTROL_PUT && mur_names_is_question(text)) {
        mur_agent_put(agent, text);
    } else if (message.kind == MUR_CONTROL_GET && mur_names_is_answer(text)) {
        mur_agent_get(agent, text, answer_job, child);
    }
}

static void parent_ready(void *owner)
{
    const ssize_t head = offsetof(struct mur_control_message, text);
    struct mur_agent *agent = owner;
    struct mur_control_message message;
    char text[sizeof message.text + 2];
    ssize_t got;

    mur_packets_flush(&agent->to_parent, agent->loop, &agent->parent);
    while ((got = recv(agent->parent.fd, &message, sizeof message, MSG_DONTWAIT)) > 0) {
        if (got < head || message.length != (size_t)(got - head) || message.kind != MUR_CONTROL_VALUE)
            continue;
        memset(text, 0, sizeof text);
        memcpy(text, message.text, message.length);
        mur_agent_keep(agent, text, text + strlen(text) + 1);
    }
    if (got == 0) { /* the other agent has died; this job goes on without its names */
        mur_loop_unwatch(agent->loop, &agent->parent);
        mur_packets_drop(&agent->to_parent);
        agent->parent.fd = -1;
    }
}

void mur_agent_open_jobs(struct mur_agent *agent)
{
    const char *line = getenv(MUR_ENV_SPAWN_FD);

    agent->jobs = (struct mur_jobs){
        .job = agent->job, .loop = agent->loop, .output = &agent->output, .message = message_from_job, .owner = agent};
    agent->parent = (struct mur_watch){.fd = -1, .ready = parent_ready, .owner = agent};
    if (!line || agent->parent_link)
        return;
    agent->parent.fd = atoi(line);
    fcntl(agent->parent.fd, F_SETFD, FD_CLOEXEC);
    mur_loop_watch(agent->loop, &agent->parent, EPOLLIN);
}
