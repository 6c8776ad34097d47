/* SPDX-License-Identifier: BSD-3-Clause */
/* What the observed objects say about a job, with the defaults of its version. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/reconcile/inside.h"

static void find_policies(struct mur_facts *facts)
{
    const struct mur_value *job = facts->job, *policy = mur_value_at(job, "spec.runPolicy");
    const char *restart =
        mur_value_string(job, "spec.mpiReplicaSpecs.Launcher.restartPolicy", facts->is_v1 ? "Never" : "OnFailure");

    facts->is_suspended = mur_value_true(policy, "suspend");
    facts->waits_for_workers =
        strcmp(mur_value_string(job, "spec.launcherCreationPolicy", facts->is_v1 ? "WaitForWorkersReady" : "AtStartup"),
               "WaitForWorkersReady") == 0;
    facts->launcher_works = mur_value_true(job, "spec.runLauncherAsWorker");
    if (mur_value_at(job, "spec.mpiReplicaSpecs.Worker"))
        facts->worker_count = mur_value_long(job, "spec.mpiReplicaSpecs.Worker.replicas", facts->is_v1);
    facts->slots = mur_value_long(job, "spec.slotsPerWorker", 1);
    facts->backoff_limit = mur_value_long(policy, "backoffLimit", 6);
    facts->deadline = mur_value_long(policy, "activeDeadlineSeconds", -1);
    facts->ttl = mur_value_long(policy, "ttlSecondsAfterFinished", -1);
    facts->clean_policy =
        mur_value_string(policy, "cleanPodPolicy", mur_value_string(job, "spec.cleanPodPolicy", "None"));
    facts->restart = strcmp(restart, "OnFailure") == 0  ? MUR_RESTART_ON_FAILURE
                     : strcmp(restart, "Always") == 0   ? MUR_RESTART_ALWAYS
                     : strcmp(restart, "ExitCode") == 0 ? MUR_RESTART_EXIT_CODE
                                                        : MUR_RESTART_NEVER;
}

static void count_pod(struct mur_role_facts *role, const struct mur_value *pod)
{
    const char *phase = mur_value_string(pod, "status.phase", "Pending");

    role->pods = mur_alloc_again(role->pods, (size_t)role->count + 1, sizeof *role->pods);
    role->pods[role->count++] = pod;
    role->running += strcmp(phase, "Running") == 0;
    role->pending += strcmp(phase, "Pending") == 0;
    role->succeeded += strcmp(phase, "Succeeded") == 0;
    if (strcmp(phase, "Failed") == 0) {
        role->failed++;
        role->evicted += strcmp(mur_value_string(pod, "status.reason", ""), "Evicted") == 0;
    }
}

static const struct mur_value *first_container(const struct mur_value *pod)
{
    const struct mur_value *list = mur_value_at(pod, "status.containerStatuses");

    return mur_value_count(list) ? list->members[0].value : NULL;
}

/* A restart is a failure that the node has dealt with; a container that waits for one has failed once more. */
static void count_failures(struct mur_facts *facts, const struct mur_value *pod)
{
    const struct mur_value *container = first_container(pod);
    const struct mur_value *ended = mur_value_at(container, "state.terminated");
    bool has_failed = strcmp(mur_value_string(pod, "status.phase", ""), "Failed") == 0;
    bool waits = mur_value_at(container, "state.waiting") && mur_value_at(container, "lastState.terminated");
    double finished;

    if (!ended)
        ended = mur_value_at(container, "lastState.terminated");
    facts->failures += mur_value_long(container, "restartCount", 0) + has_failed + waits;
    finished = mur_time_read(mur_value_string(ended, "finishedAt", ""));
    if ((has_failed || waits) && finished >= facts->failed_at) {
        facts->failed_at = finished;
        facts->exit_code = (int)mur_value_long(ended, "exitCode", 0);
    }
}

/* What an earlier job of the same name has left is not this one's. */
static bool is_of_job(const struct mur_value *object, const struct mur_facts *facts)
{
    const struct mur_value *label = mur_value_get(mur_value_at(object, "metadata.labels"), MUR_LABEL_JOB);
    const struct mur_value *owners = mur_value_at(object, "metadata.ownerReferences");
    const char *uid = mur_value_string(facts->job, "metadata.uid", "");

    if (!label || !label->text || strcmp(label->text, facts->name) != 0)
        return false;
    for (int i = 0; i < mur_value_count(owners); i++)
        if (strcmp(mur_value_string(owners->members[i].value, "uid", ""), uid) == 0)
            return true;
    return false;
}

/* Of tries that were made in the same second, that with the higher number. */
static bool is_later(const struct mur_value *pod, const struct mur_value *other)
{
    const char *name = mur_value_string(pod, "metadata.name", ""),
               *other_name = mur_value_string(other, "metadata.name", "");
    double made = mur_time_read(mur_value_string(pod, "metadata.creationTimestamp", ""));
    double other_made = mur_time_read(mur_value_string(other, "metadata.creationTimestamp", ""));

    if (!other || made != other_made)
        return !other || made > other_made;
    if (strlen(name) != strlen(other_name))
        return strlen(name) > strlen(other_name);
    return strcmp(name, other_name) > 0;
}

static bool has_ended(const struct mur_value *pod)
{
    const char *phase = mur_value_string(pod, "status.phase", "");

    return strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
}

static void find_pods(struct mur_facts *facts)
{
    const struct mur_value *objects = facts->observed->store->objects;

    for (int i = 0; i < objects->count; i++) {
        const struct mur_value *pod = objects->members[i].value;
        const struct mur_value *role = mur_value_get(mur_value_at(pod, "metadata.labels"), MUR_LABEL_ROLE);

        if (strcmp(mur_value_string(pod, "kind", ""), "Pod") != 0 || !is_of_job(pod, facts) || !role)
            continue;
        if (mur_value_at(pod, "metadata.deletionTimestamp") && has_ended(pod))
            continue; /* it is as good as gone */
        if (strcmp(role->text, "launcher") == 0) {
            count_pod(&facts->launchers, pod);
            count_failures(facts, pod);
            if (is_later(pod, facts->launcher))
                facts->launcher = pod;
        } else {
            count_pod(&facts->workers, pod);
        }
    }
}

static bool is_true(const struct mur_value *job, const char *type)
{
    const struct mur_value *condition = mur_condition_of(job, type);

    return condition && strcmp(mur_value_string(condition, "status", ""), "True") == 0;
}

void mur_facts_find(const struct mur_observed *observed, struct mur_facts *facts)
{
    *facts = (struct mur_facts){.observed = observed, .job = observed->job};
    facts->name = mur_value_string(observed->job, "metadata.name", "");
    facts->space = mur_value_string(observed->job, "metadata.namespace", "default");
    facts->is_v1 = strcmp(mur_value_string(observed->job, "apiVersion", ""), "kubeflow.org/v1") == 0;
    find_policies(facts);
    find_pods(facts);
    facts->started = mur_time_read(mur_value_string(observed->job, "status.startTime", ""));
    facts->has_succeeded = is_true(observed->job, "Succeeded");
    facts->is_finished = facts->has_succeeded || is_true(observed->job, "Failed");
    facts->completed = mur_time_read(mur_value_string(observed->job, "status.completionTime", ""));
}

void mur_facts_free(struct mur_facts *facts)
{
    free(facts->workers.pods);
    free(facts->launchers.pods);
}
