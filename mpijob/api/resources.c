/* SPDX-License-Identifier: BSD-3-Clause */
/* The resources of the API, as a table, and the object that tells of a failure. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/api/api.h"

const struct mur_resource mur_resources[] = {
    {.group = "kubeflow.org",
     .versions = "v2beta1 v1",
     .plural = "mpijobs",
     .singular = "mpijob",
     .kind = "MPIJob",
     .shorts = "mj mpij",
     .is_namespaced = true,
     .has_status = true,
     .has_generation = true},
    {.versions = "v1",
     .group = "",
     .plural = "pods",
     .singular = "pod",
     .kind = "Pod",
     .shorts = "po",
     .is_namespaced = true,
     .has_status = true,
     .fields = "spec.nodeName spec.restartPolicy status.phase status.podIP"},
    {.versions = "v1",
     .group = "",
     .plural = "configmaps",
     .singular = "configmap",
     .kind = "ConfigMap",
     .shorts = "cm",
     .is_namespaced = true},
    {.versions = "v1",
     .group = "",
     .plural = "secrets",
     .singular = "secret",
     .kind = "Secret",
     .is_namespaced = true,
     .fields = "type"},
    {.versions = "v1",
     .group = "",
     .plural = "services",
     .singular = "service",
     .kind = "Service",
     .shorts = "svc",
     .is_namespaced = true,
     .has_status = true},
    {.versions = "v1",
     .group = "",
     .plural = "events",
     .singular = "event",
     .kind = "Event",
     .shorts = "ev",
     .is_namespaced = true,
     .fields = "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
               "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason type"},
    {.versions = "v1",
     .group = "",
     .plural = "namespaces",
     .singular = "namespace",
     .kind = "Namespace",
     .shorts = "ns",
     .has_status = true,
     .fields = "status.phase"},
    {.group = "coordination.k8s.io",
     .versions = "v1",
     .plural = "leases",
     .singular = "lease",
     .kind = "Lease",
     .is_namespaced = true},
    {0},
};

bool mur_words_have(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (length > 0 && strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

bool mur_resource_has_version(const struct mur_resource *resource, const char *version)
{
    return mur_words_have(resource->versions, version);
}

const struct mur_resource *mur_resource_find(const char *group, const char *version, const char *plural)
{
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++)
        if (strcmp(resource->group, group) == 0 && strcmp(resource->plural, plural) == 0 &&
            mur_resource_has_version(resource, version))
            return resource;
    return NULL;
}

const struct mur_resource *mur_resource_of_kind(const char *kind)
{
    for (const struct mur_resource *resource = mur_resources; resource->plural; resource++)
        if (strcmp(resource->kind, kind) == 0)
            return resource;
    return NULL;
}

char *mur_resource_version(const struct mur_resource *resource)
{
    return mur_alloc_text("%s%s%.*s", resource->group, *resource->group ? "/" : "",
                          (int)strcspn(resource->versions, " "), resource->versions);
}

char *mur_resource_name(const struct mur_resource *resource)
{
    return mur_alloc_text("%s%s%s", resource->plural, *resource->group ? "." : "", resource->group);
}

struct mur_value *mur_failure(int code, const char *reason, const char *format, ...)
{
    struct mur_value *status = mur_value_new(MUR_MAP);
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    mur_value_put(status, "kind", mur_value_text("Status"));
    mur_value_put(status, "apiVersion", mur_value_text("v1"));
    mur_value_put(status, "metadata", mur_value_new(MUR_MAP));
    mur_value_put(status, "status", mur_value_text("Failure"));
    mur_value_put(status, "message", mur_value_text("%s", text ? text : ""));
    mur_value_put(status, "reason", mur_value_text("%s", reason));
    mur_value_put(status, "code", mur_value_integer(code));
    free(text);
    return status;
}
