/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of a job: conditions with the operator's reasons and words, counts per role, times. */
#include <string.h>

#include "mpijob/reconcile/inside.h"

const struct mur_value *mur_condition_of(const struct mur_value *job, const char *type)
{
    const struct mur_value *list = mur_value_at(job, "status.conditions");

    for (int i = 0; i < mur_value_count(list); i++)
        if (strcmp(mur_value_string(list->members[i].value, "type", ""), type) == 0)
            return list->members[i].value;
    return NULL;
}

const char *mur_conditions_state(const struct mur_value *job)
{
    static const char *const order[] = {"Failed", "Succeeded", "Suspended", "Restarting", "Running", "Created"};
    const struct mur_value *list = mur_value_at(job, "status.conditions");

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (int j = 0; j < mur_value_count(list); j++)
            if (strcmp(mur_value_string(list->members[j].value, "type", ""), order[i]) == 0 &&
                strcmp(mur_value_string(list->members[j].value, "status", ""), "True") == 0)
                return order[i];
    return "";
}

/* Which conditions a new one leaves: it replaces its own kind; Running and Restarting exclude each other. */
static bool stays(const char *type, const char *new_type)
{
    if (strcmp(type, new_type) == 0)
        return false;
    return !(strcmp(new_type, "Running") == 0 && strcmp(type, "Restarting") == 0) &&
           !(strcmp(new_type, "Restarting") == 0 && strcmp(type, "Running") == 0);
}

/* Does nothing if the condition has this status and reason already. */
static bool set_condition(struct mur_value *job, const char *type, bool status, const char *reason,
                          struct mur_value *message, double now)
{
    const struct mur_value *old = mur_condition_of(job, type), *list = mur_value_at(job, "status.conditions");
    struct mur_value *conditions = mur_value_new(MUR_LIST), *condition = mur_value_new(MUR_MAP);
    bool ends = status && (strcmp(type, "Succeeded") == 0 || strcmp(type, "Failed") == 0);
    const char *word = status ? "True" : "False";
    bool is_same = old && strcmp(mur_value_string(old, "status", ""), word) == 0;

    mur_value_put(condition, "type", mur_value_text("%s", type));
    mur_value_put(condition, "status", mur_value_text("%s", word));
    mur_value_put(condition, "reason", mur_value_text("%s", reason));
    mur_value_put(condition, "message", message);
    mur_value_put(condition, "lastUpdateTime", mur_time_node(now));
    mur_value_put(condition, "lastTransitionTime",
                  is_same ? mur_value_text("%s", mur_value_string(old, "lastTransitionTime", "")) : mur_time_node(now));
    if (is_same && strcmp(mur_value_string(old, "reason", ""), reason) == 0) {
        mur_value_free(condition);
        mur_value_free(conditions);
        return false;
    }
    for (int i = 0; i < mur_value_count(list); i++) {
        const struct mur_value *other = list->members[i].value;
        struct mur_value *copy;

        if (!stays(mur_value_string(other, "type", ""), type))
            continue;
        copy = mur_value_copy(other);
        if (ends && strcmp(mur_value_string(other, "type", ""), "Running") == 0)
            mur_value_put(copy, "status", mur_value_text("False"));
        mur_value_add(conditions, copy);
    }
    mur_value_add(conditions, condition);
    mur_value_set(job, "status.conditions", conditions);
    return true;
}

static void set_counts(struct mur_value *job, const char *role, const struct mur_role_facts *facts)
{
    struct mur_value *counts = mur_value_new(MUR_MAP), *all = mur_value_at(job, "status.replicaStatuses");

    if (facts->running)
        mur_value_put(counts, "active", mur_value_integer(facts->running));
    if (facts->succeeded)
        mur_value_put(counts, "succeeded", mur_value_integer(facts->succeeded));
    if (facts->failed)
        mur_value_put(counts, "failed", mur_value_integer(facts->failed));
    if (!all)
        mur_value_set(job, "status.replicaStatuses", all = mur_value_new(MUR_MAP));
    mur_value_put(all, role, counts);
}

static void set_failed(struct mur_value *job, const struct mur_facts *facts, const char *reason,
                       struct mur_value *message)
{
    set_condition(job, "Failed", true, reason, message, facts->observed->now);
    if (!mur_value_at(job, "status.completionTime"))
        mur_value_set(job, "status.completionTime", mur_time_node(facts->observed->now));
}

/* v2beta1's launcher is a Job, whose reason comes first; v1's is a pod. */
static void set_exhausted(struct mur_value *job, const struct mur_facts *facts)
{
    if (facts->is_v1)
        set_failed(job, facts, "MPIJobFailed", mur_value_text("MPIJob %s/%s has failed", facts->space, facts->name));
    else
        set_failed(
            job, facts, "BackoffLimitExceeded",
            mur_value_text("Job has reached the specified backoff limit: the launcher has failed %lld times, the "
                           "last time with exit code %d",
                           facts->failures, facts->exit_code));
}

static void set_suspension(struct mur_value *job, const struct mur_facts *facts)
{
    double now = facts->observed->now;

    if (facts->is_suspended) {
        set_condition(job, "Suspended", true, "MPIJobSuspended", mur_value_text("MPIJob suspended"), now);
        set_condition(job, "Running", false, "MPIJobSuspended",
                      mur_value_text("MPIJob %s/%s is suspended.", facts->space, facts->name), now);
    } else if (mur_condition_of(job, "Suspended") &&
               set_condition(job, "Suspended", false, "MPIJobResumed", mur_value_text("MPIJob resumed"), now)) {
        mur_value_set(job, "status.startTime", mur_time_node(now));
    }
}

static void set_state(struct mur_value *job, const struct mur_facts *facts, enum mur_state state)
{
    double now = facts->observed->now;
    const char *space = facts->space, *name = facts->name;

    switch (state) {
    case MUR_STATE_SUCCEEDED:
        set_condition(job, "Succeeded", true, "MPIJobSucceeded",
                      mur_value_text("MPIJob %s/%s successfully completed.", space, name), now);
        mur_value_set(job, "status.completionTime", mur_time_node(now));
        break;
    case MUR_STATE_EXHAUSTED:
        set_exhausted(job, facts);
        break;
    case MUR_STATE_PERMANENT:
        set_failed(job, facts, "MPIJobFailed",
                   mur_value_text("MPIJob %s/%s has failed: the launcher ended with exit code %d", space, name,
                                  facts->exit_code));
        break;
    case MUR_STATE_LATE:
        set_failed(job, facts, "DeadlineExceeded", mur_value_text("Job was active longer than specified deadline"));
        break;
    case MUR_STATE_EVICTED:
        set_failed(job, facts, "MPIJobEvicted",
                   mur_value_text("%d/%d workers are evicted", facts->workers.evicted, facts->workers.count));
        break;
    case MUR_STATE_WAITING:
    case MUR_STATE_STARTING:
        if (facts->is_v1 && facts->launcher &&
            strcmp(mur_value_string(facts->launcher, "status.phase", ""), "Failed") == 0)
            set_condition(job, "Restarting", true, "MPIJobRestarting",
                          mur_value_text("MPIJob %s/%s is restarting because its launcher ended with exit code %d.",
                                         space, name, facts->exit_code),
                          now);
        break;
    case MUR_STATE_RUNNING:
        if (facts->launchers.running && facts->workers.running == facts->workers.count)
            set_condition(job, "Running", true, "MPIJobRunning",
                          mur_value_text("MPIJob %s/%s is running.", space, name), now);
        break;
    default:
        break;
    }
}

struct mur_value *mur_make_status(const struct mur_facts *facts, enum mur_state state)
{
    struct mur_value *job = mur_value_copy(facts->job);
    double now = facts->observed->now;

    if (!mur_value_at(job, "status.conditions"))
        set_condition(job, "Created", true, "MPIJobCreated",
                      mur_value_text("MPIJob %s/%s is created.", facts->space, facts->name), now);
    if (!mur_value_at(job, "status.startTime") && !facts->is_suspended)
        mur_value_set(job, "status.startTime", mur_time_node(now));
    if (!facts->is_finished) {
        set_suspension(job, facts);
        set_state(job, facts, state);
    }
    if (state != MUR_STATE_EXPIRED) {
        set_counts(job, "Launcher", &facts->launchers);
        set_counts(job, "Worker", &facts->workers);
    }
    return job;
}

void mur_conditions_tell(const struct mur_value *before, const struct mur_value *after,
                         void (*tell)(void *whom, const struct mur_value *condition), void *whom)
{
    const struct mur_value *list = mur_value_at(after, "status.conditions"),
                           *old = mur_value_at(before, "status.conditions");

    for (int i = 0; i < mur_value_count(list); i++) {
        const struct mur_value *condition = list->members[i].value;
        bool is_old = false;

        for (int j = 0; j < mur_value_count(old); j++)
            is_old |= mur_value_equal(condition, old->members[j].value);
        if (!is_old && strcmp(mur_value_string(condition, "status", ""), "True") == 0)
            tell(whom, condition);
    }
}
