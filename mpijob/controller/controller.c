/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of the controller: see controller.h. */
#include "mpijob/controller/controller.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/signals.h"
#include "mpijob/reconcile/reconcile.h"
#include "mpijob/runner/runner.h"

enum { PATIENCE = 30, WATCHES = 5 }; /* seconds for one call */

/* A job that there is, or was. */
struct job {
    struct job *next;
    struct mur_space *space;
    char *name;
    double due, delay; /* when to look at it again, 0: only after a change; after a failure */
    bool is_refused;   /* which has been said */
};

static struct {
    const struct mur_controller_plan *plan;
    struct mur_mirror mirror;
    struct mur_api_watch watches[WATCHES];
    struct job *jobs;
    char *private_key, *public_key;
} controller;

static void touch(struct mur_space *space, const char *name)
{
    struct job **at = &controller.jobs;

    while (*at && ((*at)->space != space || strcmp((*at)->name, name) != 0))
        at = &(*at)->next;
    if (!*at) {
        *at = mur_alloc(1, sizeof **at);
        (*at)->space = space;
        (*at)->name = mur_alloc_text("%s", name);
    }
    (*at)->due = mur_clock();
}

static const char *job_of(const struct mur_value *object)
{
    const struct mur_value *label = mur_value_get(mur_value_at(object, "metadata.labels"), MUR_LABEL_JOB);

    if (strcmp(mur_value_string(object, "kind", ""), "MPIJob") == 0)
        return mur_value_string(object, "metadata.name", "");
    return label && label->text ? label->text : "";
}

static long long version_of(const struct mur_value *object)
{
    return strtoll(mur_value_string(object, "metadata.resourceVersion", "0"), NULL, 10);
}

/* What a call has answered may be newer than what a watch tells of. */
static void take(void *whom, const char *type, struct mur_value *object)
{
    const char *kind = mur_value_string(object, "kind", ""), *name = mur_value_string(object, "metadata.name", "");
    struct mur_space *space = mur_mirror_space(&controller.mirror, mur_value_string(object, "metadata.namespace", ""));
    const struct mur_value *old = mur_store_find(&space->store, kind, name);

    (void)whom;
    touch(space, job_of(object));
    if (old && version_of(old) > version_of(object)) {
        mur_value_free(object);
    } else if (strcmp(type, "DELETED") == 0) {
        mur_store_remove(&space->store, kind, name);
        mur_value_free(object);
    } else {
        mur_store_put(&space->store, object);
    }
}

static bool is_listed(const struct mur_value *uids, const char *uid)
{
    for (int i = 0; i < uids->count; i++)
        if (strcmp(uids->members[i].value->text, uid) == 0)
            return true;
    return false;
}

/* After a list: what is not in it has gone while nobody watched. */
static void listed(void *whom, const struct mur_resource *resource, const struct mur_value *uids)
{
    (void)whom;
    for (struct mur_space *space = controller.mirror.spaces; space; space = space->next)
        for (int i = space->store.objects->count - 1; i >= 0; i--) {
            const struct mur_value *object = space->store.objects->members[i].value;

            if (strcmp(mur_value_string(object, "kind", ""), resource->kind) != 0 ||
                is_listed(uids, mur_value_string(object, "metadata.uid", "")))
                continue;
            touch(space, job_of(object));
            mur_store_remove(&space->store, resource->kind, mur_value_string(object, "metadata.name", ""));
        }
}

/* ---- actions ---- */

static struct mur_value *data_patch(const struct mur_value *object)
{
    struct mur_value *patch = mur_value_new(MUR_MAP);

    mur_value_put(patch, "data", mur_value_copy(mur_value_get(object, "data")));
    return patch;
}

static struct mur_value *deletion_of(const struct mur_value *object)
{
    struct mur_value *options = mur_value_new(MUR_MAP);

    mur_value_put(options, "apiVersion", mur_value_text("v1"));
    mur_value_put(options, "kind", mur_value_text("DeleteOptions"));
    mur_value_put(options, "propagationPolicy", mur_value_text("Background"));
    mur_value_set(options, "preconditions.uid", mur_value_text("%s", mur_value_string(object, "metadata.uid", "")));
    return options;
}

static void tell_condition(void *job, const struct mur_value *condition)
{
    const char *type = mur_value_string(condition, "type", ""), *message = mur_value_string(condition, "message", "");

    mur_say("%s/%s: %s: %s: %s", mur_value_string(job, "metadata.namespace", ""),
            mur_value_string(job, "metadata.name", ""), type, mur_value_string(condition, "reason", ""), message);
    mur_event_send(controller.plan->cluster, job, "mpijob-controller",
                   strcmp(type, "Failed") == 0 ? "Warning" : "Normal", mur_value_string(condition, "reason", ""),
                   message);
}

static void tell_conditions(struct mur_space *space, const struct mur_value *object)
{
    struct mur_value *job =
        mur_value_copy(mur_store_find(&space->store, "MPIJob", mur_value_string(object, "metadata.name", "")));

    if (job)
        mur_conditions_tell(job, object, tell_condition, job);
    mur_value_free(job);
}

/* The call that carries an action out. */
static void call(const struct mur_action *action, const char *space, struct mur_answer *answer)
{
    static const char *const methods[] = {[MUR_VERB_CREATE] = "POST",
                                          [MUR_VERB_DELETE] = "DELETE",
                                          [MUR_VERB_UPDATE] = "PATCH",
                                          [MUR_VERB_STATUS] = "PUT"};
    const struct mur_value *object = action->object;
    const char *type = action->verb == MUR_VERB_UPDATE ? "application/merge-patch+json" : "application/json";
    const char *name = action->verb == MUR_VERB_CREATE ? NULL : mur_value_string(object, "metadata.name", "");
    char *path = mur_path(mur_resource_of_kind(mur_value_string(object, "kind", "")),
                          mur_value_string(object, "apiVersion", NULL), space, name,
                          action->verb == MUR_VERB_STATUS ? "status" : NULL);
    struct mur_value *body = action->verb == MUR_VERB_DELETE   ? deletion_of(object)
                             : action->verb == MUR_VERB_UPDATE ? data_patch(object)
                                                               : mur_value_copy(object);

    mur_call(controller.plan->cluster, methods[action->verb], path, type, body, PATIENCE, answer);
    mur_value_free(body);
    free(path);
}

/* Returns false if it has to be tried again. Somebody else's change (409), and what is gone already (404), comes by a
 * watch. */
static bool carry_out(const struct mur_action *action, struct mur_space *space)
{
    static const char *const words[] = {"create", "delete", "update", "update the status of"};
    struct mur_answer answer;
    char *what = mur_alloc_text("cannot %s %s %s/%s", words[action->verb], mur_value_string(action->object, "kind", ""),
                                space->name, mur_value_string(action->object, "metadata.name", ""));
    bool is_well;

    call(action, space->name, &answer);
    is_well = mur_answer_is_well(&answer);
    if (is_well && action->verb == MUR_VERB_STATUS)
        tell_conditions(space, action->object);
    if (is_well && answer.body && mur_value_at(answer.body, "metadata.uid")) {
        take(NULL, "MODIFIED", answer.body);
        answer.body = NULL;
    } else if (!is_well && answer.code != 404 && answer.code != 409) {
        mur_answer_say(&answer, what);
    }
    mur_answer_free(&answer);
    free(what);
    return is_well;
}

static void refuse(struct job *job, const struct mur_value *object)
{
    static const char text[] = "this controller enters pods by ssh, which jobs of kubeflow.org/v1 do not have: "
                               "use kubeflow.org/v2beta1, or Kubeflow's operator of v1";

    if (!job->is_refused)
        mur_event_send(controller.plan->cluster, object, "mpijob-controller", "Warning", "Unsupported", text);
    job->is_refused = true;
}

static char *agent_of(const struct mur_space *space)
{
    const char *folder = controller.plan->agent_folder;

    return folder ? mur_alloc_text("%s/spaces/%s/door/agent", folder, space->name) : NULL;
}

/* Until it has nothing to do any more, or something has failed. */
static void reconcile(struct job *job, const struct mur_value *object)
{
    char *agent = agent_of(job->space);
    struct mur_observed observed = {.job = object,
                                    .store = &job->space->store,
                                    .now = mur_clock(),
                                    .retry_delay = controller.plan->retry_delay,
                                    .agent = agent,
                                    .private_key = controller.private_key,
                                    .public_key = controller.public_key};
    struct mur_actions plan;
    bool is_well = true;

    mur_reconcile(&observed, &plan);
    job->due = plan.wake;
    for (int i = 0; i < plan.count; i++)
        is_well &= carry_out(&plan.actions[i], job->space);
    if (!is_well) {
        job->delay = job->delay > 0 ? (job->delay < 8 ? job->delay * 2 : 15) : 0.1;
        job->due = mur_clock() + job->delay;
    } else {
        job->delay = 0;
        if (plan.count > 0)
            job->due = mur_clock();
    }
    mur_plan_free(&plan);
    free(agent);
}

static void look_at(struct job *job)
{
    const struct mur_value *object = mur_store_find(&job->space->store, "MPIJob", job->name);
    bool is_v1 = strcmp(mur_value_string(object, "apiVersion", ""), "kubeflow.org/v1") == 0;

    job->due = 0;
    if (!object || mur_value_at(object, "metadata.deletionTimestamp"))
        return;
    if (is_v1 && !controller.plan->agent_folder)
        refuse(job, object);
    else
        reconcile(job, object);
}

/* Jobs of which nothing is left are forgotten. */
static void forget(struct job **at)
{
    struct job *job = *at;

    *at = job->next;
    free(job->name);
    free(job);
}

static double look_at_due(double due)
{
    for (struct job **at = &controller.jobs; *at;) {
        struct job *job = *at;

        if (job->due > 0 && job->due <= mur_clock())
            look_at(job);
        if (job->due > 0 && job->due < due)
            due = job->due;
        if (job->due == 0 && !mur_store_find(&job->space->store, "MPIJob", job->name))
            forget(at);
        else
            at = &job->next;
    }
    return due;
}

static bool is_ready(void)
{
    for (int i = 0; i < WATCHES; i++)
        if (!controller.watches[i].is_listed)
            return false;
    return true;
}

static void make_watches(void)
{
    static const char *const kinds[WATCHES] = {"MPIJob", "Pod", "Service", "ConfigMap", "Secret"};

    for (int i = 0; i < WATCHES; i++)
        controller.watches[i] = (struct mur_api_watch){.cluster = controller.plan->cluster,
                                                       .resource = mur_resource_of_kind(kinds[i]),
                                                       .space = controller.plan->space,
                                                       .query = i ? (char *)"labelSelector=training.kubeflow.org%2F"
                                                                            "operator-name%3Dmpi-operator"
                                                                  : NULL,
                                                       .take = take,
                                                       .listed = listed};
}

static void make_keys(void)
{
    char folder[] = "/tmp/mpijob-keys-XXXXXX";

    if (!mkdtemp(folder))
        mur_quit(MUR_EXIT_TROUBLE, "cannot make the folder %s: %s", folder, strerror(errno));
    mur_keys_make(folder, &controller.private_key, &controller.public_key);
    rmdir(folder);
}

int mur_controller_run(const struct mur_controller_plan *plan)
{
    struct curl_waitfd signals = {.fd = mur_signals_open((const int[]){SIGINT, SIGTERM, 0}),
                                  .events = CURL_WAIT_POLLIN};

    controller.plan = plan;
    make_keys();
    make_watches();
    while (!signals.revents) {
        double due, now = mur_clock();

        if (mur_lease_hold(plan, now, &due) && is_ready())
            due = look_at_due(due);
        now = mur_clock();
        mur_watches_wait(controller.watches, WATCHES, &signals, 1, due > now ? due - now : 0);
    }
    mur_watches_stop(controller.watches, WATCHES);
    mur_lease_release(plan);
    return 0;
}
