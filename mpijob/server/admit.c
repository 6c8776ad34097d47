/* SPDX-License-Identifier: BSD-3-Clause */
/* What the API server adds to objects, and which it refuses. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/document/base64.h"
#include "mpijob/schema/schema.h"
#include "mpijob/server/server.h"

const char *mur_node_name = "localhost";

static void set_default(struct mur_value *object, const char *path, struct mur_value *value)
{
    if (mur_value_at(object, path))
        mur_value_free(value);
    else
        mur_value_set(object, path, value);
}

static void admit_pod(struct mur_value *pod)
{
    if (!mur_value_get(pod, "spec") || mur_value_get(pod, "spec")->kind != MUR_MAP)
        return;
    set_default(pod, "spec.restartPolicy", mur_value_text("Always"));
    set_default(pod, "spec.terminationGracePeriodSeconds", mur_value_integer(30));
    set_default(pod, "spec.nodeName", mur_value_text("%s", mur_node_name));
    mur_value_set(pod, "status.phase", mur_value_text("Pending"));
}

static void admit_service(struct mur_value *service)
{
    if (mur_value_get(service, "spec") && mur_value_get(service, "spec")->kind != MUR_MAP)
        return;
    set_default(service, "spec.type", mur_value_text("ClusterIP"));
    set_default(service, "spec.clusterIP", mur_value_text("None"));
}

/* stringData is written only: it becomes data, in base64. */
static void admit_secret(struct mur_value *secret)
{
    const struct mur_value *plain = mur_value_get(secret, "stringData");
    struct mur_value *data = mur_value_get(secret, "data");

    set_default(secret, "type", mur_value_text("Opaque"));
    if (!plain)
        return;
    if (!data || data->kind != MUR_MAP)
        mur_value_put(secret, "data", data = mur_value_new(MUR_MAP));
    for (int i = 0; i < plain->count; i++) {
        const char *text = plain->members[i].value->text;
        char *coded = mur_base64_encode(text ? text : "", text ? strlen(text) : 0);

        mur_value_put(data, plain->members[i].name, mur_value_text("%s", coded));
        free(coded);
    }
    mur_value_drop(secret, "stringData");
}

/* What must not change in an object that is there. */
static bool check_change(const struct mur_resource *resource, const struct mur_value *object,
                         const struct mur_value *old, struct mur_reply *reply)
{
    const char *name = mur_value_string(old, "metadata.name", "");

    if (strcmp(resource->kind, "Pod") == 0 &&
        !mur_value_equal(mur_value_get(object, "spec"), mur_value_get(old, "spec"))) {
        mur_reply_fail(reply, 422, "Invalid", "Pod \"%s\" is invalid: spec: Forbidden: a pod's spec does not change",
                       name);
        return false;
    }
    if (mur_value_true(old, "immutable") &&
        !mur_value_equal(mur_value_get(object, "data"), mur_value_get(old, "data"))) {
        mur_reply_fail(reply, 422, "Invalid",
                       "%s \"%s\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
                       resource->kind, name);
        return false;
    }
    return true;
}

/* A finding stands behind the name of a file, a line and its severity. */
static const char *skip_place(const char *line)
{
    for (int i = 0; i < 2; i++)
        line = strstr(line, ": ") ? strstr(line, ": ") + 2 : line;
    return line;
}

/* As the API server words it: the first finding in the message, and each with its field, which kubectl prints. */
static void tell_findings(const struct mur_resource *resource, const struct mur_value *object, char *findings,
                          struct mur_reply *reply)
{
    const char *name = mur_value_string(object, "metadata.name", "");
    struct mur_value *causes = mur_value_new(MUR_LIST);
    char *first = NULL, *rest = NULL;

    for (char *line = strtok_r(findings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *text = skip_place(line), *colon = strstr(text, ": ");
        struct mur_value *cause = mur_value_new(MUR_MAP);

        first = first ? first : (char *)text;
        mur_value_put(cause, "reason", mur_value_text("FieldValueInvalid"));
        mur_value_put(cause, "message", mur_value_text("%s", colon ? colon + 2 : text));
        mur_value_put(cause, "field", mur_value_text("%.*s", colon ? (int)(colon - text) : 0, text));
        mur_value_add(causes, cause);
    }
    mur_reply_fail(reply, 422, "Invalid", "%s%s%s \"%s\" is invalid: %s", resource->kind, *resource->group ? "." : "",
                   resource->group, name, first ? first : "");
    mur_value_set(reply->body, "details.name", mur_value_text("%s", name));
    mur_value_set(reply->body, "details.group", mur_value_text("%s", resource->group));
    mur_value_set(reply->body, "details.kind", mur_value_text("%s", resource->kind));
    mur_value_set(reply->body, "details.causes", causes);
}

/* Names that a job's template must leave to the job are a pod's own. */
static struct mur_value *without_names(const struct mur_value *object)
{
    struct mur_value *copy = mur_value_copy(object), *spec = mur_value_get(copy, "spec");

    if (strcmp(mur_value_string(object, "kind", ""), "Pod") == 0 && spec && spec->kind == MUR_MAP) {
        mur_value_drop(spec, "hostname");
        mur_value_drop(spec, "subdomain");
    }
    return copy;
}

static bool check(const struct mur_resource *resource, const struct mur_value *object, struct mur_reply *reply)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct mur_findings findings = {.file = "", .out = out, .tells_use = true, .hides_notes = true};
    struct mur_value *copy = without_names(object);

    mur_schema_check(copy, &findings);
    if (!mur_schema_of(copy) && mur_value_get(copy, "metadata"))
        mur_fields_check(mur_value_get(copy, "metadata"), mur_metadata_fields, "metadata", &findings);
    if (findings.errors == 0)
        mur_rules_check(copy, &findings);
    fclose(out);
    if (findings.errors || findings.refused)
        tell_findings(resource, object, text, reply);
    mur_value_free(copy);
    free(text);
    return findings.errors == 0 && findings.refused == 0;
}

bool mur_admit(const struct mur_resource *resource, struct mur_value *object, const struct mur_value *old,
               struct mur_reply *reply)
{
    if (strcmp(resource->kind, "Pod") == 0 && !old)
        admit_pod(object);
    else if (strcmp(resource->kind, "Service") == 0)
        admit_service(object);
    else if (strcmp(resource->kind, "Namespace") == 0 && !old)
        mur_value_set(object, "status.phase", mur_value_text("Active"));
    if (!check(resource, object, reply))
        return false;
    if (strcmp(resource->kind, "Secret") == 0)
        admit_secret(object);
    return !old || check_change(resource, object, old, reply);
}
