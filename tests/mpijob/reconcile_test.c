/* SPDX-License-Identifier: BSD-3-Clause */
/* The reconciler against a machine that does what it likes: pods run, fail, succeed, are evicted, are restarted in
 * their place, the job is suspended and resumed, time passes. Whatever happens: there is at most one launcher that may
 * run, a job ends once and stays ended, what has been asked for is not asked for again, and the conditions agree. */
#include "mpijob/reconcile/reconcile.h"
#include "mpijob/schema/schema.h"
#include "unit.h"

enum { JOBS = 400, EVENTS = 60 };

static double now;

static struct mur_value *draw_job(void)
{
    static const char *const policies[2][4] = {{"Never", "OnFailure", "Never", "OnFailure"},
                                               {"Never", "OnFailure", "ExitCode", "Always"}};
    static const char *const cleans[] = {"None", "Running", "All"};
    bool is_v1 = below(3) == 0;
    char text[2000];
    struct mur_document_error error;
    struct mur_value *list, *job;
    struct mur_findings findings = {.file = "job", .out = stderr};

    snprintf(text, sizeof text,
             "apiVersion: kubeflow.org/%s\nkind: MPIJob\nmetadata: {name: j}\nspec:\n  runPolicy: {backoffLimit: %u, "
             "cleanPodPolicy: %s%s%s}\n%s  mpiReplicaSpecs:\n"
             "    Launcher: {restartPolicy: %s, template: {spec: {containers: [{name: l, command: [a]}]}}}\n"
             "    Worker: {replicas: %u, template: {spec: {containers: [{name: w}]}}}\n",
             is_v1 ? "v1" : "v2beta1", below(4), cleans[below(3)], below(2) ? ", activeDeadlineSeconds: 500" : "",
             below(2) ? ", ttlSecondsAfterFinished: 50" : "",
             !is_v1 && below(2) ? "  launcherCreationPolicy: WaitForWorkersReady\n" : "", policies[is_v1][below(4)],
             1 + below(4));
    list = mur_yaml_read(text, strlen(text), &error);
    CHECK(list && list->count == 1);
    if (!list)
        exit(1);
    mur_schema_check(list->members[0].value, &findings);
    mur_rules_check(list->members[0].value, &findings);
    CHECK(findings.errors == 0);
    job = mur_value_copy(list->members[0].value);
    mur_value_free(list);
    return job;
}

static bool is_pod(const struct mur_value *object)
{
    return strcmp(mur_value_string(object, "kind", ""), "Pod") == 0;
}

static bool is_in(const struct mur_value *pod, const char *phase)
{
    return strcmp(mur_value_string(pod, "status.phase", ""), phase) == 0;
}

static void set_container(struct mur_value *pod, const char *state, const char *field, struct mur_value *value)
{
    struct mur_value *list = mur_value_new(MUR_LIST), *status = mur_value_new(MUR_MAP),
                     *details = mur_value_new(MUR_MAP);
    struct mur_value *old = mur_value_at(pod, "status.containerStatuses");
    char path[64];

    mur_value_put(
        status, "restartCount",
        mur_value_integer(mur_value_count(old) ? mur_value_long(old->members[0].value, "restartCount", 0) : 0));
    mur_value_put(details, field, value);
    if (strcmp(state, "terminated") == 0)
        mur_value_put(details, "finishedAt", mur_time_node(now));
    snprintf(path, sizeof path, "state.%s", state);
    mur_value_set(status, path, details);
    mur_value_add(list, status);
    mur_value_set(pod, "status.containerStatuses", list);
}

/* Something happens to one pod that has not ended. */
static void move_pod(struct mur_value *pod)
{
    unsigned what = below(8);
    int code = below(2) ? 1 + (int)below(100) : 130;

    if (is_in(pod, "Pending")) {
        mur_value_set(pod, "status.phase", mur_value_text("Running"));
        set_container(pod, "running", "startedAt", mur_time_node(now));
    } else if (is_in(pod, "Running") && what < 3) {
        mur_value_set(pod, "status.phase", mur_value_text(what == 0 ? "Succeeded" : "Failed"));
        if (what == 2 && below(4) == 0)
            mur_value_set(pod, "status.reason", mur_value_text("Evicted"));
        set_container(pod, "terminated", "exitCode", mur_value_integer(what == 0 ? 0 : code));
    } else if (is_in(pod, "Running") && what == 3) {
        struct mur_value *status = mur_value_at(pod, "status.containerStatuses")->members[0].value;

        mur_value_put(status, "restartCount", mur_value_integer(mur_value_long(status, "restartCount", 0) + 1));
    }
}

static void carry_out(struct mur_store *store, struct mur_actions *plan, bool has_finished)
{
    for (int i = 0; i < plan->count; i++) {
        const struct mur_value *object = plan->actions[i].object;
        const char *kind = mur_value_string(object, "kind", ""), *name = mur_value_string(object, "metadata.name", "");
        struct mur_value *existing = mur_store_find(store, kind, name);

        switch (plan->actions[i].verb) {
        case MUR_VERB_CREATE:
            CHECK(!existing);
            CHECK(!has_finished);
            mur_store_create(store, mur_value_copy(object), now);
            break;
        case MUR_VERB_DELETE:
            CHECK(existing);
            if (is_pod(object))
                mur_value_set(existing, "metadata.deletionTimestamp", mur_time_node(now));
            else if (strcmp(kind, "MPIJob") != 0)
                mur_store_remove(store, kind, name);
            break;
        case MUR_VERB_UPDATE:
            mur_value_put(existing, "data", mur_value_copy(mur_value_get(object, "data")));
            break;
        case MUR_VERB_STATUS:
            mur_value_put(existing, "status", mur_value_copy(mur_value_get(object, "status")));
            break;
        }
    }
}

static bool is_true(const struct mur_value *job, const char *type)
{
    const struct mur_value *list = mur_value_at(job, "status.conditions");

    for (int i = 0; i < mur_value_count(list); i++)
        if (strcmp(mur_value_string(list->members[i].value, "type", ""), type) == 0)
            return strcmp(mur_value_string(list->members[i].value, "status", ""), "True") == 0;
    return false;
}

static void check_world(const struct mur_store *store, const struct mur_value *job)
{
    int launchers = 0;

    for (int i = 0; i < store->objects->count; i++) {
        const struct mur_value *pod = store->objects->members[i].value;

        launchers += is_pod(pod) && strstr(mur_value_string(pod, "metadata.name", ""), "launcher") &&
                     (is_in(pod, "Pending") || is_in(pod, "Running"));
    }
    CHECK(launchers <= 1);
    CHECK(is_true(job, "Created"));
    CHECK(!(is_true(job, "Succeeded") && is_true(job, "Failed")));
    CHECK(!(is_true(job, "Running") && (is_true(job, "Succeeded") || is_true(job, "Failed"))));
    CHECK(!(is_true(job, "Running") && is_true(job, "Restarting")));
    CHECK(!(is_true(job, "Running") && is_true(job, "Suspended")));
}

/* One look, and the looks that its actions call for: they come to an end. Returns false when the job is gone. */
static bool settle(struct mur_store *store)
{
    for (int round = 0; round < 20; round++) {
        struct mur_value *job = mur_store_find(store, "MPIJob", "j");
        bool has_finished = is_true(job, "Succeeded") || is_true(job, "Failed"),
             has_succeeded = is_true(job, "Succeeded");
        struct mur_observed observed = {.job = job,
                                        .store = store,
                                        .now = now,
                                        .retry_delay = 10,
                                        .agent = "/agent",
                                        .private_key = "",
                                        .public_key = ""};
        struct mur_actions plan;
        int count;
        bool expires = false;

        mur_reconcile(&observed, &plan);
        count = plan.count;
        for (int i = 0; i < count; i++)
            expires |= plan.actions[i].verb == MUR_VERB_DELETE &&
                       strcmp(mur_value_string(plan.actions[i].object, "kind", ""), "MPIJob") == 0;
        CHECK(!expires || has_finished);
        carry_out(store, &plan, has_finished);
        CHECK(plan.wake == 0 || plan.wake > now);
        mur_plan_free(&plan);
        if (expires)
            return false;
        check_world(store, job);
        if (has_finished)
            CHECK(has_succeeded == is_true(job, "Succeeded"));
        if (count == 0)
            return true;
    }
    CHECK(!"the reconciler comes to an end");
    return true;
}

static void run_job(void)
{
    struct mur_store store;
    struct mur_value *job;

    mur_store_start(&store);
    now = 1e9 + below(1000);
    job = mur_store_create(&store, draw_job(), now);
    if (below(4) == 0)
        mur_value_set(job, "spec.runPolicy.suspend", mur_value_bool(true));
    for (int event = 0; event < EVENTS && settle(&store); event++) {
        unsigned what = below(10);
        struct mur_value *object = store.objects->members[below((size_t)store.objects->count)].value;

        if (what == 0)
            now += below(30);
        else if (what == 1)
            mur_value_set(job, "spec.runPolicy.suspend", mur_value_bool(below(2)));
        else if (is_pod(object) && mur_value_at(object, "metadata.deletionTimestamp"))
            mur_store_remove(&store, "Pod", mur_value_string(object, "metadata.name", ""));
        else if (is_pod(object))
            move_pod(object);
    }
    mur_store_end(&store);
}

int main(void)
{
    unit_start();
    for (int i = 0; i < JOBS; i++)
        run_job();
    return unit_end();
}
