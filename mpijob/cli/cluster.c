/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about jobs of a cluster, which is any Kubernetes API: that of mpijob serve, too. */
#include "mpijob/cli/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/client/client.h"
#include "mpijob/reconcile/reconcile.h"

static struct mur_cluster cluster;

static const struct mur_resource *jobs(void)
{
    return mur_resource_of_kind("MPIJob");
}

/* A call that must go well. The answer is the caller's to free. */
static struct mur_value *ask(const char *method, const char *path, const char *type, const struct mur_value *body)
{
    struct mur_answer answer;
    struct mur_value *result;

    mur_call(&cluster, method, path, type, body, 60, &answer);
    if (!mur_answer_is_well(&answer) || !answer.body) {
        mur_answer_say(&answer, "mpijob");
        exit(MUR_EXIT_TROUBLE);
    }
    result = answer.body;
    free(answer.text);
    return result;
}

static struct mur_value *get(const struct mur_resource *resource, const char *space, const char *name,
                             const char *query)
{
    char *path = mur_path(resource, NULL, space, name, NULL), *full = mur_alloc_text("%s%s", path, query);
    struct mur_value *object = ask("GET", full, "", NULL);

    free(path);
    free(full);
    return object;
}

static void print_job(const struct mur_value *job)
{
    printf("mpijob/%-33s %-10s\n", mur_value_string(job, "metadata.name", ""), mur_conditions_state(job));
}

static void print_pods(const char *space, const char *name)
{
    char *query = mur_alloc_text("?labelSelector=training.kubeflow.org%%2Fjob-name%%3D%s", name);
    struct mur_value *list = get(mur_resource_of_kind("Pod"), space, NULL, query);
    const struct mur_value *items = mur_value_get(list, "items");

    for (int i = 0; i < mur_value_count(items); i++) {
        const struct mur_value *pod = items->members[i].value;
        const struct mur_value *states = mur_value_at(pod, "status.containerStatuses");

        printf("pod/%-36s %-10s %lld\n", mur_value_string(pod, "metadata.name", ""),
               mur_value_string(pod, "status.phase", ""),
               mur_value_count(states) ? mur_value_long(states->members[0].value, "restartCount", 0) : 0);
    }
    mur_value_free(list);
    free(query);
}

static void show(const char *space, const char *name)
{
    struct mur_value *object = get(jobs(), space, name, "");
    const struct mur_value *items = mur_value_get(object, "items");

    printf("%-40s %-10s %s\n", "NAME", "STATUS", "RESTARTS");
    for (int i = 0; i < mur_value_count(items); i++)
        print_job(items->members[i].value);
    if (name) {
        print_job(object);
        print_pods(space, name);
    }
    mur_value_free(object);
}

static void describe(const char *space, const char *name)
{
    struct mur_value *object = get(jobs(), space, name, ""), *list;
    char *query =
        mur_alloc_text("?fieldSelector=involvedObject.uid%%3D%s", mur_value_string(object, "metadata.uid", ""));
    const struct mur_value *items;

    mur_json_write(stdout, object);
    list = get(mur_resource_of_kind("Event"), space, NULL, query);
    items = mur_value_get(list, "items");
    for (int i = 0; i < mur_value_count(items); i++) {
        const struct mur_value *event = items->members[i].value;

        printf("%s  %-7s %-20s %s\n", mur_value_string(event, "lastTimestamp", ""), mur_value_string(event, "type", ""),
               mur_value_string(event, "reason", ""), mur_value_string(event, "message", ""));
    }
    mur_value_free(list);
    mur_value_free(object);
    free(query);
}

static int print_log(const char *space, const char *pod, bool follows)
{
    char *path = mur_path(mur_resource_of_kind("Pod"), NULL, space, pod, "log");
    char *full = mur_alloc_text("%s%s", path, follows ? "?follow=true" : "");
    struct mur_answer answer;

    mur_call_stream(&cluster, full, stdout, &answer);
    if (answer.code != 200)
        mur_answer_say(&answer, "mpijob");
    free(path);
    free(full);
    return answer.code == 200 ? 0 : MUR_EXIT_TROUBLE;
}

static void set_suspend(const char *space, const char *name, bool value)
{
    char *path = mur_path(jobs(), NULL, space, name, NULL);
    struct mur_value *old = ask("GET", path, "", NULL), *patch = mur_value_new(MUR_MAP);

    free(path); /* a job is changed in the version that it has */
    path = mur_path(jobs(), mur_value_string(old, "apiVersion", NULL), space, name, NULL);
    mur_value_set(patch, "spec.runPolicy.suspend", mur_value_bool(value));
    mur_value_free(ask("PATCH", path, "application/merge-patch+json", patch));
    mur_value_free(old);
    mur_value_free(patch);
    free(path);
}

static void delete_job(const char *space, const char *name)
{
    char *path = mur_path(jobs(), NULL, space, name, NULL);

    mur_value_free(ask("DELETE", path, "", NULL));
    printf("mpijob.kubeflow.org \"%s\" deleted\n", name);
    free(path);
}

int mur_cli_cluster(const struct mur_cluster_words *words)
{
    const char *space, *name = words->name;

    if (words->server)
        cluster = (struct mur_cluster){.server = (char *)words->server, .space = (char *)"default"};
    else
        mur_cluster_load(&cluster, words->kubeconfig);
    space = words->space ? words->space : cluster.space;
    if (!name && strcmp(words->command, "get") != 0)
        mur_quit(MUR_EXIT_USAGE, "%s needs the name of a %s", words->command,
                 strcmp(words->command, "logs") == 0 ? "pod" : "job");
    if (strcmp(words->command, "get") == 0)
        show(space, name);
    else if (strcmp(words->command, "describe") == 0)
        describe(space, name);
    else if (strcmp(words->command, "logs") == 0)
        return print_log(space, words->pod ? words->pod : name, words->follows);
    else if (strcmp(words->command, "delete") == 0)
        delete_job(space, name);
    else
        set_suspend(space, name, words->command[0] == 's');
    return 0;
}
