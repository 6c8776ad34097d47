/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects as rows of a table: what `kubectl get` prints. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "mpijob/reconcile/reconcile.h"
#include "mpijob/server/server.h"
#include "mpijob/store/store.h"

/* A column: its text for an object, which the caller frees. A column with a priority is for `-o wide`. */
struct column {
    const char *name, *type;
    int priority;
    char *(*text)(const struct mur_value *object);
};

static char *text_at(const struct mur_value *object, const char *path, const char *otherwise)
{
    return mur_alloc_text("%s", mur_value_string(object, path, otherwise));
}

static char *name_of(const struct mur_value *object)
{
    return text_at(object, "metadata.name", "");
}

/* As kubectl writes ages: 12s, 5m3s, 3h, 2d. */
static char *duration(double seconds)
{
    long long s = seconds < 0 ? 0 : (long long)seconds;

    if (s < 120)
        return mur_alloc_text("%llds", s);
    if (s < 600)
        return s % 60 ? mur_alloc_text("%lldm%llds", s / 60, s % 60) : mur_alloc_text("%lldm", s / 60);
    if (s < 3 * 3600)
        return mur_alloc_text("%lldm", s / 60);
    if (s < 48 * 3600)
        return mur_alloc_text("%lldh", s / 3600);
    return mur_alloc_text("%lldd", s / 86400);
}

static char *since(const struct mur_value *object, const char *path)
{
    double time_then = mur_time_read(mur_value_string(object, path, ""));

    return time_then > 0 ? duration((double)time(NULL) - time_then) : mur_alloc_text("<unknown>");
}

static char *age_of(const struct mur_value *object)
{
    return since(object, "metadata.creationTimestamp");
}

static char *job_state(const struct mur_value *object)
{
    return mur_alloc_text("%s", mur_conditions_state(object));
}

static char *job_workers(const struct mur_value *object)
{
    return mur_alloc_text("%lld/%lld", mur_value_long(object, "status.replicaStatuses.Worker.active", 0),
                          mur_value_long(object, "spec.mpiReplicaSpecs.Worker.replicas", 0));
}

static const struct mur_value *container_of(const struct mur_value *pod)
{
    const struct mur_value *list = mur_value_at(pod, "status.containerStatuses");

    return mur_value_count(list) ? list->members[0].value : NULL;
}

static char *pod_ready(const struct mur_value *pod)
{
    return mur_alloc_text("%d/%d", mur_value_true(container_of(pod), "ready"),
                          mur_value_count(mur_value_at(pod, "spec.containers")));
}

/* The reason why a container does not run, as far as there is one. */
static char *pod_status(const struct mur_value *pod)
{
    const char *phase = mur_value_string(pod, "status.phase", "Unknown");
    const char *why = mur_value_string(container_of(pod), "state.waiting.reason", NULL);

    if (mur_value_at(pod, "metadata.deletionTimestamp"))
        return mur_alloc_text("Terminating");
    if (!why)
        why = mur_value_string(container_of(pod), "state.terminated.reason", NULL);
    return mur_alloc_text("%s", mur_value_string(pod, "status.reason", why ? why : phase));
}

static char *pod_restarts(const struct mur_value *pod)
{
    return mur_alloc_text("%lld", mur_value_long(container_of(pod), "restartCount", 0));
}

static char *pod_address(const struct mur_value *pod)
{
    return text_at(pod, "status.podIP", "<none>");
}

static char *pod_node(const struct mur_value *pod)
{
    return text_at(pod, "spec.nodeName", "<none>");
}

static char *data_count(const struct mur_value *object)
{
    return mur_alloc_text("%d", mur_value_count(mur_value_get(object, "data")) +
                                    mur_value_count(mur_value_get(object, "binaryData")));
}

static char *secret_type(const struct mur_value *object)
{
    return text_at(object, "type", "");
}

static char *service_type(const struct mur_value *object)
{
    return text_at(object, "spec.type", "");
}

static char *service_address(const struct mur_value *object)
{
    return text_at(object, "spec.clusterIP", "<none>");
}

static char *service_outside(const struct mur_value *object)
{
    (void)object;
    return mur_alloc_text("<none>");
}

static char *service_ports(const struct mur_value *object)
{
    const struct mur_value *list = mur_value_at(object, "spec.ports");
    char *text = NULL;
    size_t length;
    FILE *file;

    if (!mur_value_count(list))
        return mur_alloc_text("<none>");
    file = open_memstream(&text, &length);
    for (int i = 0; i < list->count; i++)
        fprintf(file, "%s%lld/%s", i ? "," : "", mur_value_long(list->members[i].value, "port", 0),
                mur_value_string(list->members[i].value, "protocol", "TCP"));
    fclose(file);
    return text;
}

static char *event_seen(const struct mur_value *object)
{
    return since(object, "lastTimestamp");
}

static char *event_type(const struct mur_value *object)
{
    return text_at(object, "type", "");
}

static char *event_reason(const struct mur_value *object)
{
    return text_at(object, "reason", "");
}

static char *event_object(const struct mur_value *object)
{
    const struct mur_resource *resource = mur_resource_of_kind(mur_value_string(object, "involvedObject.kind", ""));

    return mur_alloc_text("%s/%s", resource ? resource->singular : mur_value_string(object, "involvedObject.kind", ""),
                          mur_value_string(object, "involvedObject.name", ""));
}

static char *event_message(const struct mur_value *object)
{
    return text_at(object, "message", "");
}

static char *space_status(const struct mur_value *object)
{
    return text_at(object, "status.phase", "");
}

static char *lease_holder(const struct mur_value *object)
{
    return text_at(object, "spec.holderIdentity", "");
}

#define NAME                                                                                                           \
    {                                                                                                                  \
        "Name", "string", 0, name_of                                                                                   \
    }
#define AGE                                                                                                            \
    {                                                                                                                  \
        "Age", "string", 0, age_of                                                                                     \
    }

static const struct kind_columns {
    const char *kind;
    struct column columns[9];
} tables[] = {
    {"MPIJob", {NAME, {"State", "string", 0, job_state}, {"Workers", "string", 0, job_workers}, AGE}},
    {"Pod",
     {NAME,
      {"Ready", "string", 0, pod_ready},
      {"Status", "string", 0, pod_status},
      {"Restarts", "integer", 0, pod_restarts},
      AGE,
      {"IP", "string", 1, pod_address},
      {"Node", "string", 1, pod_node}}},
    {"ConfigMap", {NAME, {"Data", "integer", 0, data_count}, AGE}},
    {"Secret", {NAME, {"Type", "string", 0, secret_type}, {"Data", "integer", 0, data_count}, AGE}},
    {"Service",
     {NAME,
      {"Type", "string", 0, service_type},
      {"Cluster-IP", "string", 0, service_address},
      {"External-IP", "string", 0, service_outside},
      {"Port(s)", "string", 0, service_ports},
      AGE}},
    {"Event",
     {{"Last Seen", "string", 0, event_seen},
      {"Type", "string", 0, event_type},
      {"Reason", "string", 0, event_reason},
      {"Object", "string", 0, event_object},
      {"Message", "string", 0, event_message}}},
    {"Namespace", {NAME, {"Status", "string", 0, space_status}, AGE}},
    {"Lease", {NAME, {"Holder", "string", 0, lease_holder}, AGE}},
};

bool mur_table_is_wanted(const char *accept)
{
    const char *table = strstr(accept, "as=Table"), *comma = strchr(accept, ',');

    return table && (!comma || table < comma); /* what comes first in the list is preferred */
}

static const struct column *columns_of(const struct mur_resource *resource)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].kind, resource->kind) == 0)
            return tables[i].columns;
    return tables[2].columns;
}

static struct mur_value *describe_columns(const struct column *columns)
{
    struct mur_value *list = mur_value_new(MUR_LIST);

    for (; columns->name; columns++) {
        struct mur_value *column = mur_value_new(MUR_MAP);

        mur_value_put(column, "name", mur_value_text("%s", columns->name));
        mur_value_put(column, "type", mur_value_text("%s", columns->type));
        mur_value_put(column, "format", mur_value_text("%s", columns->text == name_of ? "name" : ""));
        mur_value_put(column, "description", mur_value_text("%s", columns->name));
        mur_value_put(column, "priority", mur_value_integer(columns->priority));
        mur_value_add(list, column);
    }
    return list;
}

static struct mur_value *make_row(const struct column *columns, const struct mur_value *object)
{
    struct mur_value *row = mur_value_new(MUR_MAP), *cells = mur_value_new(MUR_LIST), *part = mur_value_new(MUR_MAP);

    for (; columns->name; columns++) {
        char *text = columns->text(object);

        mur_value_add(cells, strcmp(columns->type, "integer") == 0 ? mur_value_integer(strtoll(text, NULL, 10))
                                                                   : mur_value_text("%s", text));
        free(text);
    }
    mur_value_put(part, "kind", mur_value_text("PartialObjectMetadata"));
    mur_value_put(part, "apiVersion", mur_value_text("meta.k8s.io/v1"));
    mur_value_put(part, "metadata", mur_value_copy(mur_value_get(object, "metadata")));
    mur_value_put(row, "cells", cells);
    mur_value_put(row, "object", part);
    return row;
}

/* `items` is a list of objects. */
struct mur_value *mur_table_make(const struct mur_resource *resource, const struct mur_value *items,
                                 const char *version, bool has_columns)
{
    struct mur_value *table = mur_value_new(MUR_MAP), *rows = mur_value_new(MUR_LIST);
    const struct column *columns = columns_of(resource);

    mur_value_put(table, "kind", mur_value_text("Table"));
    mur_value_put(table, "apiVersion", mur_value_text("meta.k8s.io/v1"));
    mur_value_set(table, "metadata.resourceVersion", mur_value_text("%s", version));
    mur_value_put(table, "columnDefinitions", has_columns ? describe_columns(columns) : mur_value_new(MUR_LIST));
    for (int i = 0; i < items->count; i++)
        mur_value_add(rows, make_row(columns, items->members[i].value));
    mur_value_put(table, "rows", rows);
    return table;
}
