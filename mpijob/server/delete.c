/* SPDX-License-Identifier: BSD-3-Clause */
/* Deletion. An object goes at once, or is marked and goes later: a pod when its node has ended it, an object with
 * finalizers when the last of them is taken away, a namespace when it is empty. What an object owns goes after it
 * (Background), before it (Foreground), or stays (Orphan). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "mpijob/server/server.h"
#include "mpijob/store/store.h"

#define FOREGROUND "foregroundDeletion"

enum { EVENTS_LIVE = 3600 }; /* seconds */

static const struct mur_deletion in_background = {-1, "Background"};

static const struct mur_resource *resource_of(const struct mur_value *object)
{
    return mur_resource_of_kind(mur_value_string(object, "kind", ""));
}

static bool is_owned_by(const struct mur_value *owner, const char *uid)
{
    return strcmp(mur_value_string(owner, "uid", ""), uid) == 0;
}

static bool has_finalizer(const struct mur_value *object, const char *name)
{
    const struct mur_value *list = mur_value_at(object, "metadata.finalizers");

    for (int i = 0; i < mur_value_count(list); i++)
        if (list->members[i].value->text && strcmp(list->members[i].value->text, name) == 0)
            return true;
    return false;
}

static void set_finalizer(struct mur_value *object, const char *name, bool is_there)
{
    const struct mur_value *old = mur_value_at(object, "metadata.finalizers");
    struct mur_value *list = mur_value_new(MUR_LIST);

    for (int i = 0; i < mur_value_count(old); i++)
        if (old->members[i].value->text && strcmp(old->members[i].value->text, name) != 0)
            mur_value_add(list, mur_value_copy(old->members[i].value));
    if (is_there)
        mur_value_add(list, mur_value_text("%s", name));
    mur_value_set(object, "metadata.finalizers", list);
}

/* Takes this owner off an object. Returns how many others are left. */
static int drop_owner(struct mur_value *object, const char *uid)
{
    const struct mur_value *old = mur_value_at(object, "metadata.ownerReferences");
    struct mur_value *list = mur_value_new(MUR_LIST);
    int count;

    for (int i = 0; i < mur_value_count(old); i++)
        if (!is_owned_by(old->members[i].value, uid))
            mur_value_add(list, mur_value_copy(old->members[i].value));
    count = list->count;
    if (count > 0) {
        mur_value_set(object, "metadata.ownerReferences", list);
    } else {
        mur_value_free(list);
        mur_value_drop(mur_value_get(object, "metadata"), "ownerReferences");
    }
    return count;
}

/* Those that other owners keep lose this one only, and so do all if they become orphans. */
static void let_dependents_go(const char *uid, bool are_orphans)
{
    struct mur_value *list = mur_base_dependents(uid);

    for (int i = 0; i < list->count; i++) {
        struct mur_value *object = list->members[i].value, *lighter = mur_value_copy(object);

        if (drop_owner(lighter, uid) > 0 || are_orphans)
            mur_object_store(resource_of(object), lighter, false);
        else if (!mur_value_at(object, "metadata.deletionTimestamp"))
            mur_value_free(mur_object_delete(resource_of(object), mur_value_copy(object), &in_background));
        mur_value_free(lighter);
    }
    mur_value_free(list);
}

/* An owner that waits for its dependents goes when none is left that blocks it. */
static void finish_owner(const char *uid)
{
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++) {
        struct mur_value *list = mur_base_list(resource, "");

        for (int i = 0; i < list->count; i++) {
            struct mur_value *object = list->members[i].value, *rest;

            if (strcmp(mur_value_string(object, "metadata.uid", ""), uid) != 0 || !has_finalizer(object, FOREGROUND))
                continue;
            rest = mur_base_dependents(uid);
            if (rest->count == 0) {
                set_finalizer(object, FOREGROUND, false);
                mur_object_store(resource, object, false);
            }
            mur_value_free(rest);
        }
        mur_value_free(list);
    }
}

int mur_object_remove(const struct mur_resource *resource, struct mur_value *object)
{
    const struct mur_value *owners = mur_value_at(object, "metadata.ownerReferences");
    const char *space = mur_value_string(object, "metadata.namespace", "");

    if (mur_base_remove(resource, object) < 0)
        return -1;
    let_dependents_go(mur_value_string(object, "metadata.uid", ""), false);
    for (int i = 0; i < mur_value_count(owners); i++)
        if (mur_value_true(owners->members[i].value, "blockOwnerDeletion"))
            finish_owner(mur_value_string(owners->members[i].value, "uid", ""));
    if (*space)
        mur_space_empty(space);
    return 0;
}

/* A namespace that is being deleted: all in it goes, and then the namespace itself. */
void mur_space_empty(const char *space)
{
    const struct mur_resource *spaces = mur_resource_find("", "v1", "namespaces");
    struct mur_value *object = mur_base_get(spaces, "", space);

    if (object && mur_value_at(object, "metadata.deletionTimestamp") && mur_base_is_empty(space) &&
        mur_value_count(mur_value_at(object, "metadata.finalizers")) == 0)
        mur_base_remove(spaces, object);
    mur_value_free(object);
}

static void delete_content(const char *space)
{
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++) {
        struct mur_value *list = resource->is_namespaced ? mur_base_list(resource, space) : mur_value_new(MUR_LIST);

        for (int i = 0; i < list->count; i++) {
            const struct mur_value *object = list->members[i].value;
            struct mur_value *now = /* an earlier one may have taken it along */
                mur_base_get(resource, space, mur_value_string(object, "metadata.name", ""));

            if (now)
                mur_value_free(mur_object_delete(resource, now, &in_background));
        }
        mur_value_free(list);
    }
}

/* How long a pod may take to end; 0 if nothing of it runs. */
static long long grace_of(const struct mur_resource *resource, const struct mur_value *object,
                          const struct mur_deletion *deletion)
{
    const char *phase = mur_value_string(object, "status.phase", "");

    if (strcmp(resource->kind, "Pod") != 0 || strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
        return 0;
    if (deletion->grace >= 0)
        return deletion->grace;
    return mur_value_long(object, "spec.terminationGracePeriodSeconds", 30);
}

/* Marks an object that cannot go yet. A shorter grace replaces a longer one. */
static struct mur_value *mark(const struct mur_resource *resource, struct mur_value *object, long long grace)
{
    bool is_marked = mur_value_at(object, "metadata.deletionTimestamp") != NULL;
    bool is_space = strcmp(resource->kind, "Namespace") == 0;

    if (is_marked && grace >= mur_value_long(object, "metadata.deletionGracePeriodSeconds", 0))
        return object;
    mur_value_set(object, "metadata.deletionTimestamp", mur_time_node((double)(time(NULL) + grace)));
    mur_value_set(object, "metadata.deletionGracePeriodSeconds", mur_value_integer(grace));
    if (is_space)
        mur_value_set(object, "status.phase", mur_value_text("Terminating"));
    mur_base_put(resource, object, false);
    return object;
}

static struct mur_value *delete_space(const struct mur_resource *resource, struct mur_value *object)
{
    char *name = mur_alloc_text("%s", mur_value_string(object, "metadata.name", ""));
    struct mur_value *left;

    mur_value_free(mark(resource, object, 0));
    delete_content(name);
    mur_space_empty(name);
    left = mur_base_get(resource, "", name);
    free(name);
    return left;
}

struct mur_value *mur_object_delete(const struct mur_resource *resource, struct mur_value *object,
                                    const struct mur_deletion *deletion)
{
    const char *uid = mur_value_string(object, "metadata.uid", "");
    long long grace = grace_of(resource, object, deletion);
    struct mur_value *owned;

    if (strcmp(resource->kind, "Namespace") == 0)
        return delete_space(resource, object);
    if (strcmp(deletion->policy, "Orphan") == 0)
        let_dependents_go(uid, true);
    if (strcmp(deletion->policy, "Foreground") == 0 && !has_finalizer(object, FOREGROUND)) {
        owned = mur_base_dependents(uid);
        if (owned->count > 0) {
            set_finalizer(object, FOREGROUND, true);
            object = mark(resource, object, grace);
            let_dependents_go(uid, false);
            finish_owner(uid);
            mur_value_free(owned);
            owned = mur_base_get(resource, mur_value_string(object, "metadata.namespace", ""),
                                 mur_value_string(object, "metadata.name", ""));
            mur_value_free(object);
            return owned;
        }
        mur_value_free(owned);
    }
    if (grace > 0 || mur_value_count(mur_value_at(object, "metadata.finalizers")) > 0)
        return mark(resource, object, grace);
    mur_object_remove(resource, object);
    mur_value_free(object);
    return NULL;
}

void mur_orphans_collect(void)
{
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++) {
        struct mur_value *list = mur_base_list(resource, "");

        for (int i = 0; i < list->count; i++) {
            struct mur_value *object = list->members[i].value;
            const struct mur_value *owners = mur_value_at(object, "metadata.ownerReferences");
            bool is_owned = mur_value_count(owners) == 0;

            for (int j = 0; j < mur_value_count(owners); j++)
                is_owned |= mur_base_has_uid(mur_value_string(owners->members[j].value, "uid", ""));
            if (!is_owned && !mur_value_at(object, "metadata.deletionTimestamp"))
                mur_value_free(mur_object_delete(resource, mur_value_copy(object), &in_background));
        }
        mur_value_free(list);
    }
}

void mur_events_expire(double now)
{
    const struct mur_resource *events = mur_resource_find("", "v1", "events");
    struct mur_value *list = mur_base_list(events, "");

    for (int i = 0; i < list->count; i++) {
        struct mur_value *event = list->members[i].value;
        double made = mur_time_read(mur_value_string(event, "metadata.creationTimestamp", ""));
        double last = mur_time_read(mur_value_string(event, "lastTimestamp", ""));

        if ((last > made ? last : made) + EVENTS_LIVE < now)
            mur_object_remove(events, event);
    }
    mur_value_free(list);
}

/* From the body, a DeleteOptions, or the query. */
static bool read_options(const struct mur_api_request *request, struct mur_deletion *deletion, struct mur_value **body,
                         struct mur_reply *reply)
{
    struct mur_document_error error;
    const char *grace = request->option(request, "gracePeriodSeconds"), *policy;

    *body = request->length ? mur_json_read(request->body, request->length, &error) : mur_value_new(MUR_MAP);
    if (!*body || (*body)->kind != MUR_MAP) {
        mur_reply_fail(reply, 400, "BadRequest", "the options of the deletion are no object: %s",
                       *body ? "another value" : error.text);
        return false;
    }
    policy = mur_value_string(*body, "propagationPolicy", request->option(request, "propagationPolicy"));
    deletion->grace = mur_value_long(*body, "gracePeriodSeconds", *grace ? strtoll(grace, NULL, 10) : -1);
    deletion->policy = *policy ? policy : mur_value_true(*body, "orphanDependents") ? "Orphan" : "Background";
    if (strcmp(deletion->policy, "Background") == 0 || strcmp(deletion->policy, "Foreground") == 0 ||
        strcmp(deletion->policy, "Orphan") == 0)
        return true;
    mur_reply_fail(reply, 422, "Invalid",
                   "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"%s\": supported "
                   "values: \"Background\", \"Foreground\", \"Orphan\"",
                   deletion->policy);
    return false;
}

static bool meets_preconditions(const struct mur_api_request *request, const struct mur_value *options,
                                const struct mur_value *object, struct mur_reply *reply)
{
    static const char *const parts[] = {"uid", "resourceVersion"};

    for (int i = 0; i < 2; i++) {
        const char *wanted = mur_value_string(mur_value_get(options, "preconditions"), parts[i], NULL);
        const char *own = mur_value_string(mur_value_get(object, "metadata"), parts[i], "");

        if (!wanted || strcmp(wanted, own) == 0)
            continue;
        mur_reply_fail(reply, 409, "Conflict",
                       "Operation cannot be fulfilled on %s \"%s\": the %s in the precondition (%s) does not match the "
                       "%s in record (%s)",
                       request->resource->plural, request->name, parts[i], wanted, parts[i], own);
        return false;
    }
    return true;
}

static struct mur_value *make_success(const struct mur_resource *resource, const char *name, const char *uid)
{
    struct mur_value *status = mur_value_new(MUR_MAP);

    mur_value_put(status, "kind", mur_value_text("Status"));
    mur_value_put(status, "apiVersion", mur_value_text("v1"));
    mur_value_put(status, "metadata", mur_value_new(MUR_MAP));
    mur_value_put(status, "status", mur_value_text("Success"));
    mur_value_set(status, "details.name", mur_value_text("%s", name));
    mur_value_set(status, "details.group", mur_value_text("%s", resource->group));
    mur_value_set(status, "details.kind", mur_value_text("%s", resource->plural));
    mur_value_set(status, "details.uid", mur_value_text("%s", uid));
    return status;
}

void mur_delete_answer(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_deletion deletion;
    struct mur_value *options, *object = mur_base_get(request->resource, request->space, request->name), *success;

    if (!object) {
        mur_reply_missing(reply, request->resource, request->name);
        return;
    }
    if (!read_options(request, &deletion, &options, reply) || !meets_preconditions(request, options, object, reply)) {
        mur_value_free(object);
        mur_value_free(options);
        return;
    }
    success = make_success(request->resource, request->name, mur_value_string(object, "metadata.uid", ""));
    if (strcmp(request->option(request, "dryRun"), "All") != 0)
        object = mur_object_delete(request->resource, object, &deletion);
    mur_value_free(options);
    *reply = (struct mur_reply){200, object ? object : success};
    if (object)
        mur_value_free(success);
}

void mur_delete_collection(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_selectors selectors;
    struct mur_deletion deletion;
    struct mur_value *options = NULL, *all;

    if (!mur_selectors_read(request, &selectors, reply))
        return;
    if (!read_options(request, &deletion, &options, reply)) {
        mur_value_free(options);
        mur_selectors_free(&selectors);
        return;
    }
    all = mur_base_list(request->resource, request->space);
    for (int i = 0; i < all->count; i++) {
        const struct mur_value *object = all->members[i].value;
        struct mur_value *now =
            mur_selectors_match(&selectors, object)
                ? mur_base_get(request->resource, mur_value_string(object, "metadata.namespace", ""),
                               mur_value_string(object, "metadata.name", ""))
                : NULL;

        if (now)
            mur_value_free(mur_object_delete(request->resource, now, &deletion));
    }
    *reply = (struct mur_reply){200, mur_list_object(request->resource, request->version, all)};
    mur_value_free(options);
    mur_selectors_free(&selectors);
}
