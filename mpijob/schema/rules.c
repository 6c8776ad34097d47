/* SPDX-License-Identifier: BSD-3-Clause */
/* What fields demand of each other: the rules that the operator and the API server check beyond types and ranges. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/schema/schema.h"

static int line_of(const struct mur_value *node, const struct mur_value *otherwise)
{
    return node ? node->line : otherwise->line;
}

/* A label of DNS that begins with a letter (RFC 1035). */
static bool is_label(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > 63 || !islower((unsigned char)name[0]) || name[length - 1] == '-')
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static void check_volume_sources(const struct mur_value *volumes, const char *path, struct mur_findings *findings)
{
    for (int i = 0; i < mur_value_count(volumes); i++) {
        const struct mur_value *volume = volumes->members[i].value;
        const char *name = mur_value_string(volume, "name", "");

        if (volume->count > 2)
            mur_finding(findings, MUR_SEVERITY_ERROR, volume->line,
                        "%s.volumes[%d]: Forbidden: may not specify more than 1 volume type", path, i);
        for (int j = 0; j < i; j++)
            if (strcmp(mur_value_string(volumes->members[j].value, "name", ""), name) == 0)
                mur_finding(findings, MUR_SEVERITY_ERROR, volume->line, "%s.volumes[%d].name: Duplicate value: \"%s\"",
                            path, i, name);
    }
}

static bool has_volume(const struct mur_value *volumes, const char *name)
{
    for (int i = 0; i < mur_value_count(volumes); i++)
        if (strcmp(mur_value_string(volumes->members[i].value, "name", ""), name) == 0)
            return true;
    return false;
}

static void check_mounts(const struct mur_value *container, const struct mur_value *volumes, const char *path,
                         struct mur_findings *findings)
{
    const struct mur_value *mounts = mur_value_get(container, "volumeMounts");

    for (int i = 0; i < mur_value_count(mounts); i++) {
        const struct mur_value *mount = mounts->members[i].value;
        const char *name = mur_value_string(mount, "name", ""), *where = mur_value_string(mount, "mountPath", "");

        if (!has_volume(volumes, name))
            mur_finding(findings, MUR_SEVERITY_ERROR, mount->line, "%s.volumeMounts[%d].name: Not found: \"%s\"", path,
                        i, name);
        if (where[0] != '/')
            mur_finding(findings, MUR_SEVERITY_REFUSED, mount->line,
                        "%s.volumeMounts[%d].mountPath: mpijob run mounts at absolute paths, not at \"%s\"", path, i,
                        where);
        if (strstr(mur_value_string(mount, "subPath", ""), ".."))
            mur_finding(findings, MUR_SEVERITY_ERROR, mount->line,
                        "%s.volumeMounts[%d].subPath: Invalid value: \"%s\": must not contain '..'", path, i,
                        mur_value_string(mount, "subPath", ""));
    }
}

static void check_resources(const struct mur_value *container, const char *path, struct mur_findings *findings)
{
    const struct mur_value *limits = mur_value_at(container, "resources.limits");
    const struct mur_value *requests = mur_value_at(container, "resources.requests");

    for (int i = 0; i < mur_value_count(requests); i++) {
        const struct mur_member *request = &requests->members[i];
        const struct mur_value *limit = mur_value_get(limits, request->name);

        if (limit && mur_quantity(request->value->text) > mur_quantity(limit->text))
            mur_finding(findings, MUR_SEVERITY_ERROR, request->line,
                        "%s.resources.requests: Invalid value: \"%s\": must be less than or equal to %s limit of %s",
                        path, request->value->text, request->name, limit->text);
    }
    for (int i = 0; i < mur_value_count(limits); i++) {
        const char *name = limits->members[i].name;

        if (strcmp(name, "cpu") != 0 && strcmp(name, "memory") != 0 && mur_quantity(limits->members[i].value->text) > 0)
            mur_finding(findings, MUR_SEVERITY_NOTE, limits->members[i].line,
                        "%s.resources.limits.%s: mpijob run limits cpu and memory alone", path, name);
    }
}

static void check_pod(const struct mur_value *template, const char *path, struct mur_findings *findings)
{
    const struct mur_value *spec = mur_value_get(template, "spec");
    const struct mur_value *containers = mur_value_get(spec, "containers"), *volumes = mur_value_get(spec, "volumes");

    if (mur_value_count(containers) == 0)
        mur_finding(findings, MUR_SEVERITY_ERROR, line_of(containers, template),
                    "%s.containers: Required value: must define at least one container", path);
    if (mur_value_count(containers) > 1)
        mur_finding(findings, MUR_SEVERITY_REFUSED, containers->members[1].value->line,
                    "%s.containers[1]: mpijob run does not run a job with it: a pod is one container here", path);
    check_volume_sources(volumes, path, findings);
    for (int i = 0; i < mur_value_count(containers); i++) {
        char *inner = mur_alloc_text("%s.containers[%d]", path, i);
        const struct mur_value *env = mur_value_get(containers->members[i].value, "env");

        check_mounts(containers->members[i].value, volumes, inner, findings);
        check_resources(containers->members[i].value, inner, findings);
        for (int j = 0; j < mur_value_count(env); j++)
            if (mur_value_get(env->members[j].value, "value") && mur_value_get(env->members[j].value, "valueFrom") &&
                mur_value_string(env->members[j].value, "value", "")[0])
                mur_finding(findings, MUR_SEVERITY_ERROR, env->members[j].value->line,
                            "%s.env[%d].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
                            inner, j);
        free(inner);
    }
}

static void check_mpijob(const struct mur_value *job, struct mur_findings *findings)
{
    const struct mur_value *launcher = mur_value_at(job, "spec.mpiReplicaSpecs.Launcher");
    const struct mur_value *worker = mur_value_at(job, "spec.mpiReplicaSpecs.Worker");
    const char *name = mur_value_string(job, "metadata.name", "");
    bool is_v1 = strcmp(mur_value_string(job, "apiVersion", ""), "kubeflow.org/v1") == 0;
    long long replicas = mur_value_long(launcher, "replicas", 1), workers = mur_value_long(worker, "replicas", is_v1);
    char *last = mur_alloc_text("%s-worker-%lld", name, workers > 0 ? workers - 1 : 0);

    if (name[0] && !is_label(last))
        mur_finding(findings, MUR_SEVERITY_ERROR, mur_value_at(job, "metadata.name")->line,
                    "metadata.name: Invalid value: \"%s\": will not be able to create pod and service names from it: "
                    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
                    "alphabetic character, end with an alphanumeric one, and \"%s\" must have at most 63 of them",
                    name, last);
    free(last);
    if (replicas != 1)
        mur_finding(findings, MUR_SEVERITY_ERROR, mur_value_get(launcher, "replicas")->line,
                    "spec.mpiReplicaSpecs.Launcher.replicas: Invalid value: %lld: must be 1", replicas);
    if (worker && workers < 1)
        mur_finding(findings, MUR_SEVERITY_ERROR, line_of(mur_value_get(worker, "replicas"), worker),
                    "spec.mpiReplicaSpecs.Worker.replicas: Invalid value: %lld: must be greater than or equal to 1",
                    workers);
    check_pod(mur_value_get(launcher, "template"), "spec.mpiReplicaSpecs.Launcher.template.spec", findings);
    if (worker)
        check_pod(mur_value_get(worker, "template"), "spec.mpiReplicaSpecs.Worker.template.spec", findings);
}

/* Of Volcano's webhook. */
static void check_volcano(const struct mur_value *job, struct mur_findings *findings)
{
    const struct mur_value *tasks = mur_value_at(job, "spec.tasks");
    long long sum = 0;

    if (mur_value_count(tasks) == 0)
        mur_finding(findings, MUR_SEVERITY_ERROR, job->line,
                    "spec.tasks: Required value: no task specified in job spec");
    for (int i = 0; i < mur_value_count(tasks); i++) {
        const struct mur_value *task = tasks->members[i].value;
        char *path = mur_alloc_text("spec.tasks[%d].template.spec", i);

        sum += mur_value_long(task, "replicas", 1);
        for (int j = 0; j < i; j++)
            if (strcmp(mur_value_string(task, "name", ""), mur_value_string(tasks->members[j].value, "name", "")) == 0)
                mur_finding(findings, MUR_SEVERITY_ERROR, task->line, "spec.tasks[%d].name: Duplicate value: \"%s\"", i,
                            mur_value_string(task, "name", ""));
        check_pod(mur_value_get(task, "template"), path, findings);
        free(path);
    }
    if (mur_value_long(job, "spec.minAvailable", 0) > sum)
        mur_finding(findings, MUR_SEVERITY_ERROR, mur_value_at(job, "spec.minAvailable")->line,
                    "spec.minAvailable: Invalid value: %lld: must not be greater than total replicas (%lld)",
                    mur_value_long(job, "spec.minAvailable", 0), sum);
}

void mur_rules_check(const struct mur_value *object, struct mur_findings *findings)
{
    const struct mur_schema *schema = mur_schema_of(object);

    if (!schema)
        return;
    if (!mur_value_string(object, "metadata.name", "")[0] && !mur_value_at(object, "metadata.generateName"))
        mur_finding(findings, MUR_SEVERITY_ERROR, line_of(mur_value_get(object, "metadata"), object),
                    "metadata.name: Required value: name or generateName is required");
    if (strcmp(schema->kind, "MPIJob") == 0)
        check_mpijob(object, findings);
    else if (strcmp(schema->kind, "Job") == 0)
        check_volcano(object, findings);
    else if (strcmp(schema->kind, "Pod") == 0)
        check_pod(object, "spec", findings);
}
