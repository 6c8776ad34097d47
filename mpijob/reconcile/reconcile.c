/* SPDX-License-Identifier: BSD-3-Clause */
/* From observed objects to actions: see reconcile.h. */
#include "mpijob/reconcile/reconcile.h"

#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/reconcile/inside.h"

static void add_action(struct mur_actions *plan, enum mur_verb verb, struct mur_value *object)
{
    plan->actions = mur_alloc_again(plan->actions, (size_t)plan->count + 1, sizeof *plan->actions);
    plan->actions[plan->count++] = (struct mur_action){verb, object};
}

void mur_plan_free(struct mur_actions *plan)
{
    for (int i = 0; i < plan->count; i++)
        mur_value_free(plan->actions[i].object);
    free(plan->actions);
    *plan = (struct mur_actions){0};
}

static void delete_object(struct mur_actions *plan, const struct mur_value *object)
{
    if (!mur_value_at(object, "metadata.deletionTimestamp"))
        add_action(plan, MUR_VERB_DELETE, mur_value_copy(object));
}

/* Takes over what the object should be. A ConfigMap whose data differs is updated; a Secret keeps the keys it has. */
static void want_object(const struct mur_facts *facts, struct mur_actions *plan, enum mur_want want,
                        struct mur_value *object)
{
    const struct mur_value *existing = mur_store_find(facts->observed->store, mur_value_string(object, "kind", ""),
                                                      mur_value_string(object, "metadata.name", ""));
    bool differs = existing && strcmp(mur_value_string(object, "kind", ""), "ConfigMap") == 0 &&
                   !mur_value_equal(mur_value_get(existing, "data"), mur_value_get(object, "data"));

    if (want == MUR_WANT_NONE && existing)
        delete_object(plan, existing);
    if (want == MUR_WANT_ALL && (!existing || differs))
        add_action(plan, existing ? MUR_VERB_UPDATE : MUR_VERB_CREATE, object);
    else
        mur_value_free(object);
}

static const struct mur_value *find_worker(const struct mur_facts *facts, long long index)
{
    char *name = mur_alloc_text("%s-worker-%lld", facts->name, index);
    const struct mur_value *pod = mur_store_find(facts->observed->store, "Pod", name);

    free(name);
    return pod;
}

/* Of pods that need not run any more. */
static bool is_unwanted(const struct mur_facts *facts, const struct mur_value *pod, enum mur_want want)
{
    const char *phase = mur_value_string(pod, "status.phase", "Pending");
    bool has_ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;

    if (want == MUR_WANT_NONE)
        return true;
    if (want == MUR_WANT_ENDED)
        return !has_ended;
    if (want == MUR_WANT_CLEAN && strcmp(facts->clean_policy, "All") == 0)
        return true;
    return want == MUR_WANT_CLEAN && strcmp(facts->clean_policy, "Running") == 0 && !has_ended;
}

static void want_pods(const struct mur_facts *facts, struct mur_actions *plan, const struct mur_role_facts *role,
                      enum mur_want want)
{
    for (int i = 0; i < role->count; i++)
        if (is_unwanted(facts, role->pods[i], want))
            delete_object(plan, role->pods[i]);
}

static void want_launcher(const struct mur_facts *facts, struct mur_actions *plan)
{
    bool has_one = facts->launcher && strcmp(mur_value_string(facts->launcher, "status.phase", ""), "Failed") != 0;

    if (!has_one && (!facts->waits_for_workers || facts->workers.running >= facts->worker_count))
        add_action(plan, MUR_VERB_CREATE, mur_make_launcher(facts));
}

void mur_reconcile(const struct mur_observed *observed, struct mur_actions *plan)
{
    struct mur_facts facts;
    enum mur_state state;
    const struct mur_state_row *row;
    struct mur_value *job;

    *plan = (struct mur_actions){0};
    mur_facts_find(observed, &facts);
    state = mur_state_of(&facts, &plan->wake);
    row = &mur_state_table[state];

    want_object(&facts, plan, row->objects, mur_make_service(&facts));
    want_object(&facts, plan, row->objects, mur_make_config(&facts));
    if (!facts.is_v1)
        want_object(&facts, plan, row->objects, mur_make_secret(&facts));
    want_pods(&facts, plan, &facts.workers, row->workers);
    want_pods(&facts, plan, &facts.launchers, row->launcher);
    for (long long i = 0; row->workers == MUR_WANT_ALL && i < facts.worker_count; i++)
        if (!find_worker(&facts, i))
            add_action(plan, MUR_VERB_CREATE, mur_make_worker(&facts, i));
    if (row->launcher == MUR_WANT_ALL)
        want_launcher(&facts, plan);

    job = mur_make_status(&facts, state);
    if (state == MUR_STATE_EXPIRED)
        add_action(plan, MUR_VERB_DELETE, job);
    else if (!mur_value_equal(mur_value_get(job, "status"), mur_value_get(observed->job, "status")))
        add_action(plan, MUR_VERB_STATUS, job);
    else
        mur_value_free(job);
    mur_facts_free(&facts);
}
