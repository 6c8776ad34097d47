/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client asks first: which groups, versions and resources there are, and how objects look. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "launch/alloc.h"
#include "mpijob/server/server.h"

static struct mur_value *make(const char *kind, const char *version)
{
    struct mur_value *object = mur_value_new(MUR_MAP);

    mur_value_put(object, "kind", mur_value_text("%s", kind));
    if (version)
        mur_value_put(object, "apiVersion", mur_value_text("%s", version));
    return object;
}

static void add_texts(struct mur_value *object, const char *name, const char *words)
{
    struct mur_value *list = mur_value_new(MUR_LIST);

    for (const char *at = words ? words : ""; *at; at += strcspn(at, " "), at += *at == ' ')
        mur_value_add(list, mur_value_text("%.*s", (int)strcspn(at, " "), at));
    mur_value_put(object, name, list);
}

static struct mur_value *api_versions(void)
{
    struct mur_value *object = make("APIVersions", NULL);

    add_texts(object, "versions", "v1");
    mur_value_put(object, "serverAddressByClientCIDRs", mur_value_new(MUR_LIST));
    return object;
}

static struct mur_value *version_of_group(const char *group, const char *version, int length)
{
    struct mur_value *entry = mur_value_new(MUR_MAP);

    mur_value_put(entry, "groupVersion", mur_value_text("%s/%.*s", group, length, version));
    mur_value_put(entry, "version", mur_value_text("%.*s", length, version));
    return entry;
}

static struct mur_value *group_object(const struct mur_resource *resource)
{
    struct mur_value *group = mur_value_new(MUR_MAP), *versions = mur_value_new(MUR_LIST);

    mur_value_put(group, "name", mur_value_text("%s", resource->group));
    for (const char *at = resource->versions; *at; at += strcspn(at, " "), at += *at == ' ')
        mur_value_add(versions, version_of_group(resource->group, at, (int)strcspn(at, " ")));
    mur_value_put(group, "versions", versions);
    mur_value_put(group, "preferredVersion", mur_value_copy(versions->members[0].value));
    return group;
}

/* Each group beside the core has one resource. */
static struct mur_value *group_list(void)
{
    struct mur_value *object = make("APIGroupList", "v1"), *groups = mur_value_new(MUR_LIST);

    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++)
        if (*resource->group)
            mur_value_add(groups, group_object(resource));
    mur_value_put(object, "groups", groups);
    return object;
}

static struct mur_value *one_group(const char *name)
{
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++)
        if (*resource->group && strcmp(resource->group, name) == 0) {
            struct mur_value *group = group_object(resource);

            mur_value_put(group, "kind", mur_value_text("APIGroup"));
            mur_value_put(group, "apiVersion", mur_value_text("v1"));
            return group;
        }
    return NULL;
}

static void add_resource(struct mur_value *list, const struct mur_resource *resource, const char *part,
                         const char *verbs)
{
    struct mur_value *entry = mur_value_new(MUR_MAP);
    bool is_exec = strcmp(part, "/exec") == 0;

    mur_value_put(entry, "name", mur_value_text("%s%s", resource->plural, part));
    mur_value_put(entry, "singularName", mur_value_text("%s", *part ? "" : resource->singular));
    mur_value_put(entry, "namespaced", mur_value_bool(resource->is_namespaced));
    mur_value_put(entry, "kind", mur_value_text("%s", is_exec ? "PodExecOptions" : resource->kind));
    add_texts(entry, "verbs", verbs);
    if (!*part && resource->shorts)
        add_texts(entry, "shortNames", resource->shorts);
    if (!*part)
        add_texts(entry, "categories", "all");
    mur_value_add(list, entry);
}

static struct mur_value *resource_list(const char *group, const char *version)
{
    struct mur_value *object = make("APIResourceList", "v1"), *list = mur_value_new(MUR_LIST);

    mur_value_put(object, "groupVersion", mur_value_text("%s%s%s", group, *group ? "/" : "", version));
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++) {
        if (strcmp(resource->group, group) != 0 || !mur_resource_has_version(resource, version))
            continue;
        add_resource(list, resource, "", "create delete deletecollection get list patch update watch");
        if (resource->has_status)
            add_resource(list, resource, "/status", "get patch update");
        if (strcmp(resource->kind, "Pod") == 0) {
            add_resource(list, resource, "/log", "get");
            add_resource(list, resource, "/exec", "create get");
        }
    }
    mur_value_put(object, "resources", list);
    if (list->count > 0)
        return object;
    mur_value_free(object);
    return NULL;
}

/* The version of the API that is spoken, not that of a Kubernetes. */
static struct mur_value *version(void)
{
    struct mur_value *object = mur_value_new(MUR_MAP);
    struct utsname system;

    uname(&system);
    mur_value_put(object, "major", mur_value_text("1"));
    mur_value_put(object, "minor", mur_value_text("20"));
    mur_value_put(object, "gitVersion", mur_value_text("v1.20.0+murmur-" MUR_VERSION));
    mur_value_put(object, "platform", mur_value_text("linux/%s", system.machine));
    return object;
}

/* Documents without descriptions of objects: clients then leave the checks to this server. */
static struct mur_value *open_api(bool is_v3)
{
    struct mur_value *object = mur_value_new(MUR_MAP);

    if (!is_v3) {
        mur_value_put(object, "swagger", mur_value_text("2.0"));
        mur_value_set(object, "info.title", mur_value_text("mpijob serve"));
        mur_value_set(object, "info.version", mur_value_text("v" MUR_VERSION));
    }
    mur_value_put(object, "paths", mur_value_new(MUR_MAP));
    return object;
}

static struct mur_value *answer_group(const char *path)
{
    char *group = mur_alloc_text("%.*s", (int)strcspn(path, "/"), path);
    const char *rest = path + strlen(group);
    struct mur_value *object = *rest ? resource_list(group, rest + 1) : one_group(group);

    free(group);
    return object;
}

bool mur_discovery_answer(const char *path, struct mur_reply *reply)
{
    size_t length = strlen(path);
    char *plain = mur_alloc_text("%.*s", (int)(length > 1 && path[length - 1] == '/' ? length - 1 : length), path);
    struct mur_value *object = NULL;

    if (strcmp(plain, "/api") == 0)
        object = api_versions();
    else if (strcmp(plain, "/apis") == 0)
        object = group_list();
    else if (strcmp(plain, "/api/v1") == 0)
        object = resource_list("", "v1");
    else if (strcmp(plain, "/version") == 0)
        object = version();
    else if (strcmp(plain, "/openapi/v2") == 0 || strcmp(plain, "/openapi/v3") == 0)
        object = open_api(plain[10] == '3');
    else if (strncmp(plain, "/apis/", 6) == 0)
        object = answer_group(plain + 6);
    free(plain);
    *reply = (struct mur_reply){200, object};
    return object != NULL;
}
