/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks leave for each other: values under keys. mpiexec's own agent knows all of them; the others keep those that
 * pass on their way up, or come down for somebody who asked. Some keys are questions: about names of services, and
 * what is to be spawned. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"
#include "launch/agent/inside.h"
#include "launch/names.h"

/* A rank that waits for a value that could not be kept would wait for ever. */
static void report_full(struct mur_agent *agent)
{
    struct mur_tree_frame failure;

    mur_frame_set_failure(&failure,
                          "the values that the ranks leave for each other take more than %zu MiB, which is all that "
                          "the agent on host %s keeps",
                          (size_t)MUR_AGENT_VALUES_MAX >> 20, agent->job->host);
    if (!agent->is_ending)
        mur_agent_report(agent, &failure);
}

/* The answer to a question that one rank has asked: as soon as it is told, nobody needs it any more. */
static bool is_for_one(const char *key)
{
    return mur_names_is_answer(key) || mur_jobs_is_answer(key);
}

/* Says it to the agent that has started this mpiexec. */
static void tell_parent(struct mur_agent *agent, uint32_t kind, const char *text, size_t bytes)
{
    struct mur_control_message message = {.kind = kind, .length = (uint32_t)bytes};

    if (bytes > sizeof message.text)
        return;
    memcpy(message.text, text, bytes);
    mur_packets_send(&agent->to_parent, agent->loop, &agent->parent, &message,
                     offsetof(struct mur_control_message, text) + bytes, -1);
}

/* Questions about names end at the agent of the first job; what is to be spawned, at mpiexec's own. */
static void act(struct mur_agent *agent, const char *key, const char *value)
{
    if (mur_agent_is_of_machine(key))
        mur_agent_note_machine(agent, value);
    else if (strcmp(key, MUR_JOB_RUNS) == 0)
        tell_parent(agent, MUR_CONTROL_INIT, "", 0);
    else if (mur_jobs_is_question(key))
        mur_agent_start_job(agent, key + strlen(MUR_JOB_QUESTION), value);
    else if (agent->parent.fd >= 0)
        tell_parent(agent, MUR_CONTROL_PUT, key, (size_t)(value - key) + strlen(value));
    else
        mur_names_act(agent->names, agent->kvs, key, value);
}

void mur_agent_keep(struct mur_agent *agent, const char *key, const char *value)
{
    if (!(is_for_one(key) ? mur_kvs_give : mur_kvs_put)(agent->kvs, key, value))
        report_full(agent);
}

/* `text` is a key, a NUL, and a value. All values are known to mpiexec's own agent; the others keep those that pass. */
void mur_agent_put(void *owner, const char *text)
{
    struct mur_agent *agent = owner;
    const char *value = text + strlen(text) + 1;
    bool is_question = mur_agent_is_of_machine(text) || mur_names_is_question(text) || mur_jobs_is_question(text) ||
                       strcmp(text, MUR_JOB_RUNS) == 0;

    if (is_question && !agent->parent_link)
        act(agent, text, value);
    else if (!is_question)
        mur_agent_keep(agent, text, value);
    if (agent->parent_link)
        mur_branch_send(&agent->parent_link->branch, MUR_BRANCH_PUT, text, (size_t)(value - text) + strlen(value));
}

void mur_agent_get(struct mur_agent *agent, const char *key, mur_kvs_waiter *answer, void *who)
{
    bool is_first = false;

    if (!mur_kvs_wait(agent->kvs, key, answer, who, &is_first))
        report_full(agent);
    if (is_for_one(key))
        mur_kvs_remove(agent->kvs, key);
    if (is_first && agent->parent_link)
        mur_branch_send(&agent->parent_link->branch, MUR_BRANCH_GET, key, strlen(key));
    else if (is_first && agent->parent.fd >= 0 && mur_names_is_answer(key))
        tell_parent(agent, MUR_CONTROL_GET, key, strlen(key));
}

/* The same for a value that may not be there: mpiexec's own agent knows. */
void mur_agent_ask(void *owner, const char *key, mur_kvs_waiter *answer, void *who)
{
    struct mur_agent *agent = owner;
    const char *value = mur_kvs_get(agent->kvs, key);
    bool is_first = false;

    if (value || !agent->parent_link) {
        answer(who, key, value);
        return;
    }
    if (!mur_kvs_wait(agent->kvs, key, answer, who, &is_first))
        report_full(agent);
    if (is_first)
        mur_branch_send(&agent->parent_link->branch, MUR_BRANCH_ASK, key, strlen(key));
}
