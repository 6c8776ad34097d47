/* SPDX-License-Identifier: BSD-3-Clause */
/* MPIJobs of Kubeflow's operator: kubeflow.org/v2beta1 and v1. */
#include "mpijob/schema/schema.h"

#define NO_QUEUE "pods start as soon as they are made"
#define OBJECT_FIELDS                                                                                                  \
    {.name = "apiVersion", .type = MUR_TYPE_STRING, .is_required = true},                                              \
        {.name = "kind", .type = MUR_TYPE_STRING, .is_required = true},                                                \
        {.name = "metadata", .type = MUR_TYPE_OBJECT, .fields = mur_metadata_fields, .is_required = true},             \
    {                                                                                                                  \
        .name = "status", .type = MUR_TYPE_OBJECT, .use = MUR_USE_IDLE, .why = "it is written, not read"               \
    }

static const struct mur_field scheduling_fields[] = {
    {.name = "minAvailable", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {.name = "queue", .type = MUR_TYPE_STRING},
    {.name = "minResources", .type = MUR_TYPE_QUANTITY_MAP},
    {.name = "priorityClass", .type = MUR_TYPE_STRING},
    {.name = "scheduleTimeoutSeconds", .type = MUR_TYPE_INTEGER, .has_minimum = true},
    {0},
};

#define RUN_POLICY_FIELDS                                                                                              \
    {.name = "cleanPodPolicy", .type = MUR_TYPE_STRING, .words = "None|Running|All"},                                  \
        {.name = "ttlSecondsAfterFinished", .type = MUR_TYPE_INTEGER, .has_minimum = true},                            \
        {.name = "activeDeadlineSeconds", .type = MUR_TYPE_INTEGER, .has_minimum = true},                              \
        {.name = "backoffLimit", .type = MUR_TYPE_INTEGER, .has_minimum = true},                                       \
    {                                                                                                                  \
        .name = "schedulingPolicy", .type = MUR_TYPE_OBJECT, .fields = scheduling_fields, .use = MUR_USE_IDLE,         \
        .why = NO_QUEUE                                                                                                \
    }

static const struct mur_field run_policy_v2_fields[] = {
    RUN_POLICY_FIELDS,
    {.name = "suspend", .type = MUR_TYPE_BOOLEAN},
    {.name = "managedBy",
     .type = MUR_TYPE_STRING,
     .words = "kubeflow.org/mpi-operator|kueue.x-k8s.io/multikueue",
     .use = MUR_USE_IDLE,
     .why = "mpijob itself manages the job"},
    {0},
};
static const struct mur_field run_policy_v1_fields[] = {
    RUN_POLICY_FIELDS,
    {.name = "suspend", .type = MUR_TYPE_BOOLEAN},
    {0},
};

#define REPLICA_FIELDS                                                                                                 \
    {.name = "replicas", .type = MUR_TYPE_INTEGER, .has_minimum = true},                                               \
    {                                                                                                                  \
        .name = "template", .type = MUR_TYPE_OBJECT, .fields = mur_pod_template_fields, .is_required = true            \
    }

static const struct mur_field replica_v2_fields[] = {
    REPLICA_FIELDS,
    {.name = "restartPolicy", .type = MUR_TYPE_STRING, .words = "Never|OnFailure"},
    {0},
};
static const struct mur_field replica_v1_fields[] = {
    REPLICA_FIELDS,
    {.name = "restartPolicy", .type = MUR_TYPE_STRING, .words = "Always|OnFailure|Never|ExitCode"},
    {0},
};
static const struct mur_field roles_v2_fields[] = {
    {.name = "Launcher", .type = MUR_TYPE_OBJECT, .fields = replica_v2_fields, .is_required = true},
    {.name = "Worker", .type = MUR_TYPE_OBJECT, .fields = replica_v2_fields},
    {0},
};
static const struct mur_field roles_v1_fields[] = {
    {.name = "Launcher", .type = MUR_TYPE_OBJECT, .fields = replica_v1_fields, .is_required = true},
    {.name = "Worker", .type = MUR_TYPE_OBJECT, .fields = replica_v1_fields},
    {0},
};

static const struct mur_field spec_v2_fields[] = {
    {.name = "slotsPerWorker", .type = MUR_TYPE_INTEGER, .has_minimum = true, .minimum = 0, .maximum = 1000000},
    {.name = "mpiReplicaSpecs", .type = MUR_TYPE_OBJECT, .fields = roles_v2_fields, .is_required = true},
    {.name = "runPolicy", .type = MUR_TYPE_OBJECT, .fields = run_policy_v2_fields},
    {.name = "runLauncherAsWorker", .type = MUR_TYPE_BOOLEAN},
    {.name = "sshAuthMountPath", .type = MUR_TYPE_STRING},
    {.name = "launcherCreationPolicy", .type = MUR_TYPE_STRING, .words = "AtStartup|WaitForWorkersReady"},
    {.name = "mpiImplementation", .type = MUR_TYPE_STRING, .words = "OpenMPI|Intel|MPICH"},
    {0},
};
static const struct mur_field spec_v1_fields[] = {
    {.name = "slotsPerWorker", .type = MUR_TYPE_INTEGER, .has_minimum = true, .minimum = 1, .maximum = 1000000},
    {.name = "mpiReplicaSpecs", .type = MUR_TYPE_OBJECT, .fields = roles_v1_fields, .is_required = true},
    {.name = "runPolicy", .type = MUR_TYPE_OBJECT, .fields = run_policy_v1_fields},
    {.name = "cleanPodPolicy", .type = MUR_TYPE_STRING, .words = "None|Running|All"},
    {.name = "mainContainer", .type = MUR_TYPE_STRING, .use = MUR_USE_IDLE, .why = "a pod is one container here"},
    {0},
};

const struct mur_field mur_job_v2_fields[] = {
    OBJECT_FIELDS,
    {.name = "spec", .type = MUR_TYPE_OBJECT, .fields = spec_v2_fields, .is_required = true},
    {0},
};
const struct mur_field mur_job_v1_fields[] = {
    OBJECT_FIELDS,
    {.name = "spec", .type = MUR_TYPE_OBJECT, .fields = spec_v1_fields, .is_required = true},
    {0},
};
