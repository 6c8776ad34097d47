/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job's pods share: the Service, the ConfigMap with the list of hosts, the Secret. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/document/base64.h"
#include "mpijob/reconcile/inside.h"

struct mur_value *mur_make_object(const struct mur_facts *facts, const char *kind, const char *name)
{
    struct mur_value *object = mur_value_new(MUR_MAP), *labels = mur_value_new(MUR_MAP);
    struct mur_value *owners = mur_value_new(MUR_LIST), *owner = mur_value_new(MUR_MAP);

    mur_value_put(object, "apiVersion", mur_value_text("v1"));
    mur_value_put(object, "kind", mur_value_text("%s", kind));
    mur_value_set(object, "metadata.name", mur_value_text("%s", name));
    mur_value_set(object, "metadata.namespace", mur_value_text("%s", facts->space));
    mur_value_put(labels, MUR_LABEL_OPERATOR, mur_value_text("mpi-operator"));
    mur_value_put(labels, MUR_LABEL_JOB, mur_value_text("%s", facts->name));
    mur_value_set(object, "metadata.labels", labels);
    mur_value_put(owner, "apiVersion", mur_value_text("%s", mur_value_string(facts->job, "apiVersion", "")));
    mur_value_put(owner, "kind", mur_value_text("MPIJob"));
    mur_value_put(owner, "name", mur_value_text("%s", facts->name));
    mur_value_put(owner, "uid", mur_value_text("%s", mur_value_string(facts->job, "metadata.uid", "")));
    mur_value_put(owner, "controller", mur_value_bool(true));
    mur_value_put(owner, "blockOwnerDeletion", mur_value_bool(true));
    mur_value_add(owners, owner);
    mur_value_set(object, "metadata.ownerReferences", owners);
    return object;
}

struct mur_value *mur_make_service(const struct mur_facts *facts)
{
    struct mur_value *service = mur_make_object(facts, "Service", facts->name), *selector = mur_value_new(MUR_MAP);

    mur_value_set(service, "spec.clusterIP", mur_value_text("None"));
    mur_value_put(selector, MUR_LABEL_OPERATOR, mur_value_text("mpi-operator"));
    mur_value_put(selector, MUR_LABEL_JOB, mur_value_text("%s", facts->name));
    mur_value_set(service, "spec.selector", selector);
    if (facts->launcher_works)
        mur_value_set(service, "spec.publishNotReadyAddresses", mur_value_bool(true));
    return service;
}

/* v1 names pods; v2beta1 their names in the Service's domain. */
static void print_host(FILE *file, const struct mur_facts *facts, const char *pod)
{
    if (facts->is_v1)
        fputs(pod, file);
    else
        fprintf(file, "%s.%s.%s.svc", pod, facts->name, facts->space);
}

static void print_line(FILE *file, const struct mur_facts *facts, const char *pod)
{
    const char *implementation = mur_value_string(facts->job, "spec.mpiImplementation", "OpenMPI");

    print_host(file, facts, pod);
    if (facts->is_v1 || strcmp(implementation, "OpenMPI") == 0)
        fprintf(file, " slots=%lld\n", facts->slots);
    else
        fprintf(file, ":%lld\n", facts->slots);
}

static char *make_hostfile(const struct mur_facts *facts)
{
    char *text = NULL, *pod;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    if (facts->launcher_works) {
        pod = mur_alloc_text("%s-launcher", facts->name);
        print_line(file, facts, pod);
        free(pod);
    }
    for (long long i = 0; i < facts->worker_count; i++) {
        pod = mur_alloc_text("%s-worker-%lld", facts->name, i);
        print_line(file, facts, pod);
        free(pod);
    }
    fclose(file);
    return text;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(mur_value_string(*(const struct mur_value *const *)a, "metadata.name", ""),
                  mur_value_string(*(const struct mur_value *const *)b, "metadata.name", ""));
}

/* The workers that run now, and a launcher that is one, which elastic jobs ask for again and again. */
static char *make_discover_hosts(const struct mur_facts *facts)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    fputs("#!/bin/sh\n", file);
    if (facts->launcher_works) {
        char *pod = mur_alloc_text("%s-launcher", facts->name);

        fputs("echo ", file);
        print_host(file, facts, pod);
        fputc('\n', file);
        free(pod);
    }
    if (facts->workers.count)
        qsort(facts->workers.pods, (size_t)facts->workers.count, sizeof *facts->workers.pods, compare_names);
    for (int i = 0; i < facts->workers.count; i++) {
        const struct mur_value *pod = facts->workers.pods[i];

        if (strcmp(mur_value_string(pod, "status.phase", ""), "Running") != 0)
            continue;
        fputs("echo ", file);
        print_host(file, facts, mur_value_string(pod, "metadata.name", ""));
        if (facts->is_v1)
            fprintf(file, ":%lld", facts->slots);
        fputc('\n', file);
    }
    fclose(file);
    return text;
}

struct mur_value *mur_make_config(const struct mur_facts *facts)
{
    char *name = mur_alloc_text("%s-config", facts->name), *hostfile = make_hostfile(facts);
    char *discover = make_discover_hosts(facts);
    struct mur_value *config = mur_make_object(facts, "ConfigMap", name), *data = mur_value_new(MUR_MAP);

    mur_value_put(config, "data", data);
    mur_value_put(data, "hostfile", mur_value_text("%s", hostfile));
    mur_value_put(data, "discover_hosts.sh", mur_value_text("%s", discover));
    if (facts->is_v1)
        mur_value_put(
            data, "kubexec.sh",
            mur_value_text("#!/bin/sh\nPOD_NAME=$1\nshift\nexec %s ${POD_NAME} -- /bin/sh -c \"$*\" </dev/null\n",
                           facts->observed->agent ? facts->observed->agent : "/opt/kube/kubectl exec"));
    free(name);
    free(hostfile);
    free(discover);
    return config;
}

static void add_coded(struct mur_value *secret, const char *key, const char *text)
{
    char *coded = mur_base64_encode(text, strlen(text));
    struct mur_value *data = mur_value_get(secret, "data");

    if (!data)
        mur_value_put(secret, "data", data = mur_value_new(MUR_MAP));
    mur_value_put(data, key, mur_value_text("%s", coded));
    free(coded);
}

struct mur_value *mur_make_secret(const struct mur_facts *facts)
{
    char *name = mur_alloc_text("%s-ssh", facts->name);
    struct mur_value *secret = mur_make_object(facts, "Secret", name);

    mur_value_put(secret, "type", mur_value_text("kubernetes.io/ssh-auth"));
    add_coded(secret, "ssh-privatekey", facts->observed->private_key);
    add_coded(secret, "ssh-publickey", facts->observed->public_key);
    free(name);
    return secret;
}
