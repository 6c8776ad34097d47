/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pod needs before it can start. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/node/node.h"

enum { PATIENCE = 30 }; /* seconds */

struct needs {
    const struct mur_cluster *cluster;
    const char *space;
    struct mur_store *store;
    char *missing;
};

static void need(struct needs *needs, const char *kind, const char *name, bool is_optional)
{
    const struct mur_resource *resource = mur_resource_of_kind(kind);
    char *path = mur_path(resource, NULL, needs->space, name, NULL);
    struct mur_answer answer;

    mur_call(needs->cluster, "GET", path, "", NULL, PATIENCE, &answer);
    if (answer.code == 200 && answer.body) {
        mur_store_put(needs->store, answer.body);
        answer.body = NULL;
    } else if (answer.code == 404) {
        mur_store_remove(needs->store, kind, name);
        if (!is_optional && !needs->missing)
            needs->missing = mur_alloc_text("%s \"%s\" not found", resource->singular, name);
    } else if (!needs->missing) {
        needs->missing = mur_alloc_text("%s \"%s\" cannot be read: %s", resource->singular, name,
                                        mur_value_string(answer.body, "message", answer.error));
    }
    mur_answer_free(&answer);
    free(path);
}

/* A reference has its name under "name", a volume of a Secret under "secretName". */
static void need_reference(struct needs *needs, const char *kind, const struct mur_value *reference)
{
    const char *name = mur_value_string(reference, "name", mur_value_string(reference, "secretName", NULL));

    if (name)
        need(needs, kind, name, mur_value_true(reference, "optional"));
}

char *mur_needs_fetch(const struct mur_cluster *cluster, const struct mur_value *pod, struct mur_store *store)
{
    struct needs needs = {cluster, mur_value_string(pod, "metadata.namespace", ""), store, NULL};
    const struct mur_value *volumes = mur_value_at(pod, "spec.volumes");
    const struct mur_value *container = mur_value_at(pod, "spec.containers")->members[0].value;
    const struct mur_value *env = mur_value_get(container, "env"), *from = mur_value_get(container, "envFrom");

    for (int i = 0; i < mur_value_count(volumes); i++) {
        need_reference(&needs, "ConfigMap", mur_value_get(volumes->members[i].value, "configMap"));
        need_reference(&needs, "Secret", mur_value_get(volumes->members[i].value, "secret"));
    }
    for (int i = 0; i < mur_value_count(env); i++) {
        need_reference(&needs, "ConfigMap", mur_value_at(env->members[i].value, "valueFrom.configMapKeyRef"));
        need_reference(&needs, "Secret", mur_value_at(env->members[i].value, "valueFrom.secretKeyRef"));
    }
    for (int i = 0; i < mur_value_count(from); i++) {
        need_reference(&needs, "ConfigMap", mur_value_get(from->members[i].value, "configMapRef"));
        need_reference(&needs, "Secret", mur_value_get(from->members[i].value, "secretRef"));
    }
    return needs.missing;
}
