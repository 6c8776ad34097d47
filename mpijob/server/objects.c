/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects: created, read, listed, updated, patched, by the rules of the API server. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "launch/alloc.h"
#include "mpijob/server/server.h"
#include "mpijob/store/store.h"

void mur_reply_fail(struct mur_reply *reply, int code, const char *reason, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    mur_value_free(reply->body);
    reply->code = code;
    reply->body = mur_failure(code, reason, "%s", text ? text : reason);
    free(text);
}

static void name_object(struct mur_reply *reply, const struct mur_resource *resource, const char *name)
{
    mur_value_set(reply->body, "details.name", mur_value_text("%s", name));
    mur_value_set(reply->body, "details.group", mur_value_text("%s", resource->group));
    mur_value_set(reply->body, "details.kind", mur_value_text("%s", resource->plural));
}

void mur_reply_missing(struct mur_reply *reply, const struct mur_resource *resource, const char *name)
{
    char *full = mur_resource_name(resource);

    mur_reply_fail(reply, 404, "NotFound", "%s \"%s\" not found", full, name);
    name_object(reply, resource, name);
    free(full);
}

static void fail_conflict(struct mur_reply *reply, const struct mur_resource *resource, const char *name,
                          const char *why)
{
    char *full = mur_resource_name(resource);

    mur_reply_fail(reply, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s", full, name, why);
    name_object(reply, resource, name);
    free(full);
}

bool mur_selectors_read(const struct mur_api_request *request, struct mur_selectors *selectors, struct mur_reply *reply)
{
    char *why = NULL;

    selectors->labels = mur_selector_labels(request->option(request, "labelSelector"), &why);
    selectors->fields =
        why ? NULL : mur_selector_fields(request->option(request, "fieldSelector"), request->resource, &why);
    if (!why)
        return true;
    mur_reply_fail(reply, 400, "BadRequest", "%s", why);
    free(why);
    mur_selectors_free(selectors);
    return false;
}

bool mur_selectors_match(const struct mur_selectors *selectors, const struct mur_value *object)
{
    return mur_selector_matches(selectors->labels, object) && mur_selector_matches(selectors->fields, object);
}

void mur_selectors_free(struct mur_selectors *selectors)
{
    mur_selector_free(selectors->labels);
    mur_selector_free(selectors->fields);
    selectors->labels = selectors->fields = NULL;
}

struct mur_value *mur_list_object(const struct mur_resource *resource, const char *version, struct mur_value *items)
{
    struct mur_value *list = mur_value_new(MUR_MAP);

    mur_value_put(list, "kind", mur_value_text("%sList", resource->kind));
    mur_value_put(list, "apiVersion", mur_value_text("%s%s%s", resource->group, *resource->group ? "/" : "", version));
    mur_value_set(list, "metadata.resourceVersion", mur_value_text("%lld", mur_base_version()));
    mur_value_put(list, "items", items);
    return list;
}

static void answer_list(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_selectors selectors;
    struct mur_value *all, *items;

    if (!mur_selectors_read(request, &selectors, reply))
        return;
    all = mur_base_list(request->resource, request->space);
    items = mur_value_new(MUR_LIST);
    for (int i = 0; i < all->count; i++)
        if (mur_selectors_match(&selectors, all->members[i].value)) {
            mur_value_add(items, all->members[i].value);
            all->members[i].value = NULL;
        }
    mur_value_free(all);
    mur_selectors_free(&selectors);
    reply->code = 200;
    reply->body = mur_list_object(request->resource, request->version, items);
}

/* The API's way to make names: five characters that form no word. */
static void generate_name(struct mur_value *object)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char random[5] = {0};
    char ending[6] = "";

    if (getrandom(random, sizeof random, 0) < 0)
        random[0] = (unsigned char)time(NULL);
    for (int i = 0; i < 5; i++)
        ending[i] = letters[random[i] % (sizeof letters - 1)];
    mur_value_set(object, "metadata.name",
                  mur_value_text("%s%s", mur_value_string(object, "metadata.generateName", ""), ending));
    mur_value_drop(mur_value_get(object, "metadata"), "generateName");
}

/* A subdomain of DNS (RFC 1123). */
static bool is_name(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > 253 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != length)
        return false;
    if (strstr(name, "..") || strstr(name, "-.") || strstr(name, ".-"))
        return false;
    return name[0] != '.' && name[0] != '-' && name[length - 1] != '.' && name[length - 1] != '-';
}

static bool check_body(const struct mur_api_request *request, const struct mur_value *object, struct mur_reply *reply)
{
    const char *kind = mur_value_string(object, "kind", ""), *version = mur_value_string(object, "apiVersion", "");
    const struct mur_resource *resource = request->resource;
    const char *slash = strrchr(version, '/'), *own = slash ? slash + 1 : version;
    char *full = mur_alloc_text("%s%s%s", resource->group, *resource->group ? "/" : "", own);
    bool fits =
        strcmp(kind, resource->kind) == 0 && strcmp(full, version) == 0 && mur_resource_has_version(resource, own);

    free(full);
    if (!fits)
        mur_reply_fail(reply, 400, "BadRequest", "the body is of kind \"%s\" in \"%s\", where %s of \"%s\" is expected",
                       kind, version, resource->kind, resource->group);
    else if (mur_value_get(object, "metadata") && mur_value_get(object, "metadata")->kind != MUR_MAP)
        mur_reply_fail(reply, 400, "BadRequest", "metadata is no object");
    else if (strcmp(mur_value_string(object, "metadata.namespace", request->space), request->space) != 0)
        mur_reply_fail(reply, 400, "BadRequest",
                       "the namespace of the provided object does not match the namespace sent on the request");
    else
        return true;
    return false;
}

static struct mur_value *read_object(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_document_error error;
    struct mur_value *object = NULL;
    const char *type = request->content_type;

    if (strstr(type, "yaml")) {
        struct mur_value *list = mur_yaml_read(request->body, request->length, &error);

        if (list && list->count == 1)
            object = mur_value_copy(list->members[0].value);
        else if (list)
            snprintf(error.text, sizeof error.text, "one document is expected");
        mur_value_free(list);
    } else if (*type && !strstr(type, "json")) {
        mur_reply_fail(reply, 415, "UnsupportedMediaType",
                       "the body of the request was in an unknown format - accepted media types include: "
                       "application/json, application/yaml; not %s",
                       type);
        return NULL;
    } else {
        object = mur_json_read(request->body, request->length, &error);
    }
    if (object && object->kind == MUR_MAP)
        return object;
    mur_reply_fail(reply, 400, "BadRequest", "the body of the request is no object: %s",
                   object ? "it is another value" : error.text);
    mur_value_free(object);
    return NULL;
}

static bool is_dry(const struct mur_api_request *request)
{
    return strcmp(request->option(request, "dryRun"), "All") == 0;
}

/* Whether objects can be made in the namespace. */
static bool check_space(const struct mur_api_request *request, struct mur_reply *reply)
{
    const struct mur_resource *spaces = mur_resource_find("", "v1", "namespaces");
    struct mur_value *space;

    if (!request->resource->is_namespaced)
        return true;
    space = mur_base_get(spaces, "", request->space);
    if (!space)
        mur_reply_missing(reply, spaces, request->space);
    else if (mur_value_at(space, "metadata.deletionTimestamp"))
        mur_reply_fail(reply, 403, "Forbidden",
                       "unable to create new content in namespace %s because it is being terminated", request->space);
    mur_value_free(space);
    return !reply->body;
}

static void set_new_metadata(const struct mur_api_request *request, struct mur_value *object)
{
    struct mur_value *metadata = mur_value_get(object, "metadata");

    if (request->resource->is_namespaced)
        mur_value_put(metadata, "namespace", mur_value_text("%s", request->space));
    mur_value_put(metadata, "uid", mur_uid_node());
    mur_value_put(metadata, "creationTimestamp", mur_time_node((double)time(NULL)));
    mur_value_drop(metadata, "deletionTimestamp");
    mur_value_drop(metadata, "deletionGracePeriodSeconds");
    mur_value_drop(metadata, "managedFields");
    mur_value_drop(metadata, "selfLink");
    if (request->resource->has_generation)
        mur_value_put(metadata, "generation", mur_value_integer(1));
    if (request->resource->has_status)
        mur_value_drop(object, "status");
}

int mur_object_store(const struct mur_resource *resource, struct mur_value *object, bool is_new)
{
    if (!is_new && mur_value_at(object, "metadata.deletionTimestamp") &&
        mur_value_count(mur_value_at(object, "metadata.finalizers")) == 0 &&
        mur_value_long(object, "metadata.deletionGracePeriodSeconds", 0) == 0)
        return mur_object_remove(resource, object);
    return mur_base_put(resource, object, is_new);
}

/* Into the base, and into the reply. */
static void store(const struct mur_api_request *request, struct mur_value *object, bool is_new, struct mur_reply *reply)
{
    if (!is_dry(request) && mur_object_store(request->resource, object, is_new) < 0) {
        mur_reply_fail(reply, 500, "InternalError", "the database cannot be written");
        mur_value_free(object);
        return;
    }
    reply->code = is_new ? 201 : 200;
    reply->body = object;
}

/* An object whose owners are gone already goes, too. */
static bool is_orphan(const struct mur_value *object)
{
    const struct mur_value *owners = mur_value_at(object, "metadata.ownerReferences");

    for (int i = 0; i < mur_value_count(owners); i++)
        if (mur_base_has_uid(mur_value_string(owners->members[i].value, "uid", "")))
            return false;
    return mur_value_count(owners) > 0;
}

static void fail_exists(const struct mur_api_request *request, const char *name, struct mur_reply *reply)
{
    char *full = mur_resource_name(request->resource);

    mur_reply_fail(reply, 409, "AlreadyExists", "%s \"%s\" already exists", full, name);
    name_object(reply, request->resource, name);
    free(full);
}

static bool check_new(const struct mur_api_request *request, struct mur_value *object, struct mur_reply *reply)
{
    const char *name;
    struct mur_value *old;

    if (!check_body(request, object, reply) || !check_space(request, reply))
        return false;
    if (!mur_value_get(object, "metadata"))
        mur_value_put(object, "metadata", mur_value_new(MUR_MAP));
    if (*mur_value_string(object, "metadata.resourceVersion", "")) {
        mur_reply_fail(reply, 400, "BadRequest", "resourceVersion should not be set on objects to be created");
        return false;
    }
    if (!*mur_value_string(object, "metadata.name", "") && *mur_value_string(object, "metadata.generateName", ""))
        generate_name(object);
    name = mur_value_string(object, "metadata.name", "");
    if (!is_name(name)) {
        mur_reply_fail(reply, 422, "Invalid",
                       "%s \"%s\" is invalid: metadata.name: Invalid value: \"%s\": a lowercase RFC 1123 subdomain "
                       "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                       "alphanumeric character",
                       request->resource->kind, name, name);
        return false;
    }
    old = mur_base_get(request->resource, request->space, name);
    if (old)
        fail_exists(request, name, reply);
    mur_value_free(old);
    return !old;
}

static void create(const struct mur_api_request *request, struct mur_reply *reply)
{
    static const struct mur_deletion now = {0, "Background"};
    struct mur_value *object = read_object(request, reply);

    if (!object)
        return;
    if (!check_new(request, object, reply)) {
        mur_value_free(object);
        return;
    }
    set_new_metadata(request, object);
    if (!mur_admit(request->resource, object, NULL, reply)) {
        mur_value_free(object);
        return;
    }
    store(request, object, true, reply);
    if (reply->code == 201 && !is_dry(request) && is_orphan(object))
        mur_value_free(mur_object_delete(request->resource, mur_value_copy(object), &now));
}

/* What nobody may change comes from the old object. */
static void keep_metadata(struct mur_value *object, const struct mur_value *old)
{
    static const char *const kept[] = {"name",       "namespace",         "uid",
                                       "generation", "creationTimestamp", "deletionTimestamp",
                                       "selfLink",   "generateName",      "deletionGracePeriodSeconds"};
    struct mur_value *metadata = mur_value_get(object, "metadata");
    const struct mur_value *before = mur_value_get(old, "metadata");

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct mur_value *value = mur_value_get(before, kept[i]);

        mur_value_drop(metadata, kept[i]);
        if (value)
            mur_value_put(metadata, kept[i], mur_value_copy(value));
    }
    mur_value_drop(metadata, "managedFields");
}

static bool is_same(const struct mur_value *a, const struct mur_value *b)
{
    char *first = a ? mur_json_text(a) : NULL, *second = b ? mur_json_text(b) : NULL;
    bool same = first && second ? strcmp(first, second) == 0 : first == second;

    free(first);
    free(second);
    return same;
}

static bool check_versions(const struct mur_api_request *request, const struct mur_value *object,
                           const struct mur_value *old, struct mur_reply *reply)
{
    const char *version = mur_value_string(object, "metadata.resourceVersion", "");
    const char *uid = mur_value_string(object, "metadata.uid", ""), *own = mur_value_string(old, "metadata.uid", "");

    if (*version && strcmp(version, mur_value_string(old, "metadata.resourceVersion", "")) != 0)
        fail_conflict(reply, request->resource, request->name,
                      "the object has been modified; please apply your changes to the latest version and try again");
    else if (*uid && strcmp(uid, own) != 0)
        fail_conflict(reply, request->resource, request->name, "its uid is another one");
    else if (strcmp(mur_value_string(object, "apiVersion", ""), mur_value_string(old, "apiVersion", "")) != 0)
        mur_reply_fail(reply, 400, "BadRequest", "%s \"%s\" is of version %s, and cannot be stored as %s",
                       request->resource->kind, request->name, mur_value_string(old, "apiVersion", ""),
                       mur_value_string(object, "apiVersion", ""));
    return !reply->body;
}

/* Of the status subresource only the status counts, of the object itself everything else. */
static struct mur_value *combine(const struct mur_api_request *request, struct mur_value *object,
                                 const struct mur_value *old)
{
    bool is_status = strcmp(request->part, "status") == 0;
    struct mur_value *result = is_status ? mur_value_copy(old) : object;
    const struct mur_value *status = mur_value_get(is_status ? object : old, "status");

    if (is_status || request->resource->has_status) {
        struct mur_value *copy = mur_value_copy(status);

        mur_value_drop(result, "status");
        if (copy)
            mur_value_put(result, "status", copy);
    }
    if (is_status)
        mur_value_free(object);
    else
        keep_metadata(result, old);
    return result;
}

/* Takes the object over. */
static void replace(const struct mur_api_request *request, struct mur_value *object, const struct mur_value *old,
                    struct mur_reply *reply)
{
    bool is_new_spec;

    if (!mur_value_get(object, "metadata"))
        mur_value_put(object, "metadata", mur_value_new(MUR_MAP));
    if (!check_body(request, object, reply) || !check_versions(request, object, old, reply)) {
        mur_value_free(object);
        return;
    }
    object = combine(request, object, old);
    mur_value_set(object, "metadata.resourceVersion",
                  mur_value_text("%s", mur_value_string(old, "metadata.resourceVersion", "")));
    if (strcmp(request->part, "status") != 0 && !mur_admit(request->resource, object, old, reply)) {
        mur_value_free(object);
        return;
    }
    if (is_same(object, old)) {
        *reply = (struct mur_reply){200, object};
        return;
    }
    is_new_spec = !is_same(mur_value_get(object, "spec"), mur_value_get(old, "spec"));
    if (request->resource->has_generation && is_new_spec)
        mur_value_set(object, "metadata.generation",
                      mur_value_integer(mur_value_long(old, "metadata.generation", 1) + 1));
    store(request, object, false, reply);
}

static void update(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_value *old = mur_base_get(request->resource, request->space, request->name), *object;
    const char *name;

    if (!old) {
        mur_reply_missing(reply, request->resource, request->name);
        return;
    }
    object = read_object(request, reply);
    name = mur_value_string(object, "metadata.name", request->name);
    if (object && strcmp(name, request->name) != 0) {
        mur_reply_fail(reply, 400, "BadRequest", "the name of the object (%s) does not match the name on the URL (%s)",
                       name, request->name);
        mur_value_free(object);
    } else if (object) {
        replace(request, object, old, reply);
    }
    mur_value_free(old);
}

static void patch(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_value *old, *object;

    if (!mur_patch_is_known(request, reply))
        return;
    old = mur_base_get(request->resource, request->space, request->name);
    if (!old) {
        mur_reply_missing(reply, request->resource, request->name);
        return;
    }
    object = mur_patch(request, old, reply);
    if (object && object->kind == MUR_MAP) {
        replace(request, object, old, reply);
    } else if (object) {
        mur_reply_fail(reply, 422, "Invalid", "the patch makes no object");
        mur_value_free(object);
    }
    mur_value_free(old);
}

static void get(const struct mur_api_request *request, struct mur_reply *reply)
{
    struct mur_value *object = mur_base_get(request->resource, request->space, request->name);

    if (object)
        *reply = (struct mur_reply){200, object};
    else
        mur_reply_missing(reply, request->resource, request->name);
}

void mur_objects_answer(const struct mur_api_request *request, struct mur_reply *reply)
{
    static const struct {
        const char *verb;
        void (*answer)(const struct mur_api_request *request, struct mur_reply *reply);
    } answers[] = {{"get", get},
                   {"list", answer_list},
                   {"create", create},
                   {"update", update},
                   {"patch", patch},
                   {"delete", mur_delete_answer},
                   {"deletecollection", mur_delete_collection}};

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(answers[i].verb, request->verb) == 0) {
            answers[i].answer(request, reply);
            return;
        }
    mur_reply_fail(reply, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}
